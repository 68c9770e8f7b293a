# agora_registry(OUT FOLDERS NAMESPACE TYPE HEADER ACCESSOR)
# An entry is a file of one of FOLDERS (a list) that defines `TYPE entry_STEM()` in
# `namespace NAMESPACE::kind_STEM`, where `-` of the stem is `_`; other files of the folder are
# its helpers. Generates a source file with
# `const std::vector<TYPE>& ACCESSOR()`, which lists the entries in the order of their stems, and
# appends it and all the files to the variable OUT.
function(agora_registry out folders namespace type header accessor)
  set(files "")
  set(symbols "")
  foreach(folder IN LISTS folders)
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
    foreach(file IN LISTS found)
      get_filename_component(stem ${file} NAME_WE)
      string(REPLACE "-" "_" symbol ${stem})
      file(STRINGS ${file} entry REGEX "^${type} entry_${symbol}\\(\\)")
      if(entry)
        file(STRINGS ${file} own REGEX "^namespace ${namespace}::kind_${symbol} {")
        if(NOT own)
          message(FATAL_ERROR "${file}: ${entry} is not in namespace ${namespace}::kind_${symbol}")
        endif()
        list(APPEND symbols ${symbol})
      endif()
    endforeach()
    list(APPEND files ${found})
  endforeach()
  list(SORT symbols)
  set(declarations "")
  set(calls "")
  foreach(symbol IN LISTS symbols)
    string(APPEND declarations "namespace kind_${symbol} {\n${type} entry_${symbol}();\n}\n")
    string(APPEND calls "      kind_${symbol}::entry_${symbol}(),\n")
  endforeach()
  set(generated ${PROJECT_BINARY_DIR}/generated/registry_${accessor}.cpp)
  file(CONFIGURE OUTPUT ${generated} CONTENT "// Generated from the files of a folder.
#include \"${header}\"

#include <vector>

namespace ${namespace} {
${declarations}
const std::vector<${type}>& ${accessor}() {
  static const std::vector<${type}> all{
${calls}  };
  return all;
}
}  // namespace ${namespace}
")
  set(${out} ${${out}} ${files} ${generated} PARENT_SCOPE)
endfunction()
