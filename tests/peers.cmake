# Tests against Python packages: tests/peers/NAME_peer.cpp is our side, a script of tests/scripts
# the other; where the program itself is enough, there is only the script. scripts/peers installs
# the packages of peers.txt; they are skipped (77) where the package is absent.
find_package(Python3 COMPONENTS Interpreter)
set(python ${CMAKE_CURRENT_SOURCE_DIR}/scripts/python)
function(agora_peer_script name script program)
  if(Python3_FOUND)
    add_test(NAME peers.${name} COMMAND ${python}
             ${CMAKE_CURRENT_SOURCE_DIR}/scripts/${script} $<TARGET_FILE:${program}>)
    set_tests_properties(peers.${name} PROPERTIES LABELS peers SKIP_RETURN_CODE 77 TIMEOUT 300)
  endif()
endfunction()
function(agora_peer_test name script peer)
  add_executable(${peer} ${CMAKE_CURRENT_SOURCE_DIR}/peers/${peer}.cpp)
  target_include_directories(${peer} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${peer} PRIVATE agora_internal)
  add_dependencies(agora_tests ${peer})
  agora_peer_script(${name} ${script} ${peer})
endfunction()

agora_peer_test(safetensors safetensors_roundtrip.py safetensors_peer)
agora_peer_test(tensorboard read_events.py tensorboard_peer)
agora_peer_test(png read_png.py png_peer)
agora_peer_test(films read_films.py films_peer)
agora_peer_test(optimisers compare_optimisers.py optimisers_peer)
agora_peer_test(layers compare_layers.py layers_peer)
agora_peer_test(ppo compare_ppo.py ppo_peer)
agora_peer_script(gymnasium gymnasium_tables.py agora_cli)
agora_peer_script(storm storm_drn.py agora_cli)

# The program under mpirun; skipped where PETSc and MPI are absent.
if(Python3_FOUND AND NOT AGORA_SANITIZE)
  add_test(NAME mpi.plan_solve COMMAND ${python}
           ${CMAKE_CURRENT_SOURCE_DIR}/scripts/mpi_solve.py $<TARGET_FILE:agora_cli>)
  set_tests_properties(mpi.plan_solve PROPERTIES LABELS mpi SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()
