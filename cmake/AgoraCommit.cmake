# The commit is looked up at every build, so that `agora version` never lies.
add_custom_target(agora_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}
          -DOUTPUT=${PROJECT_BINARY_DIR}/generated/base/commit_text.h
          -P ${PROJECT_SOURCE_DIR}/cmake/WriteCommit.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/base/commit_text.h
  COMMENT "")
