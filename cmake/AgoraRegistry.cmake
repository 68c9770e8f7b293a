# agora_registry(OUT FOLDER NAMESPACE TYPE HEADER ACCESSOR)
# Every FOLDER/*.cpp is one entry: stem `a-b` defines `TYPE entry_a_b()` in NAMESPACE.
# Generates a source file with `const std::vector<TYPE>& ACCESSOR()`, which lists them
# all in the order of their names, and appends it and the entries to the variable OUT.
function(agora_registry out folder namespace type header accessor)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.cpp)
  list(SORT files)
  set(declarations "")
  set(calls "")
  foreach(file IN LISTS files)
    get_filename_component(stem ${file} NAME_WE)
    string(REPLACE "-" "_" symbol ${stem})
    string(APPEND declarations "${type} entry_${symbol}();\n")
    string(APPEND calls "      entry_${symbol}(),\n")
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
