# agora_join(TARGET): compiles the files of a folder together as far as the names they keep to
# themselves allow (join.awk), since most of a build's time goes into reading headers. With
# AGORA_JOIN off each file is compiled by itself, which is quicker after a small change and finds
# missing includes.
function(agora_join target)
  if(NOT AGORA_JOIN)
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  list(FILTER files INCLUDE REGEX "\\.cpp$")
  list(FILTER files EXCLUDE REGEX "/cpu/kernels/|^\\$|^${PROJECT_BINARY_DIR}")
  execute_process(COMMAND awk -v lines=3000 -f ${PROJECT_SOURCE_DIR}/cmake/join.awk ${files}
                  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
                  OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "\n" ";" groups "${groups}")
  foreach(line IN LISTS groups)
    # A file of several targets is by itself in all but one.
    if(line MATCHES "^(.*) ([0-9]+)$")
      set_source_files_properties(${CMAKE_MATCH_1} PROPERTIES UNITY_GROUP ${target}_${CMAKE_MATCH_2})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/join.awk)
endfunction()
