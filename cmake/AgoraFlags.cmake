# Language level, warnings and code generation: the one place that decides them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(AGORA_CCACHE ccache)
if(AGORA_CCACHE)
  # The sloppiness is what ccache asks for to cache what uses precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${AGORA_CCACHE})
endif()

# agora_precompile(TARGET HEADER...): headers of others only, so that nothing of ours is hidden.
function(agora_precompile target)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>" OUTPUT_VARIABLE headers)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()

# agora_precompile_as(TARGET OTHER): the headers of a target with the same options, precompiled once.
function(agora_precompile_as target other)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
  target_precompile_headers(${target} REUSE_FROM ${other})
endfunction()

# A target with the property AGORA_MARCH is compiled for those processors.
set(own_march $<TARGET_PROPERTY:AGORA_MARCH>)
set(march $<IF:$<BOOL:${own_march}>,${own_march},$<IF:$<BOOL:${AGORA_NATIVE}>,native,x86-64-v3>>)
add_library(agora_flags INTERFACE)
target_compile_options(agora_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual>
  # g++ 12 sees these, falsely, inside std::string.
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread>
  # Nor does it know what AVX-512's own header leaves undefined; builds without it still look.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:${AGORA_NATIVE}>>:-Wno-maybe-uninitialized>
  # A shared library whose functions may still be inlined into each other.
  $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>
  $<$<COMPILE_LANGUAGE:CXX>:-march=${march}>)
if(AGORA_WERROR)
  target_compile_options(agora_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(AGORA_SANITIZE)
  # What a sanitizer finds ends the program: a line on stderr alone would fail nothing.
  target_compile_options(agora_flags INTERFACE
    -fsanitize=${AGORA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(agora_flags INTERFACE -fsanitize=${AGORA_SANITIZE})
endif()
