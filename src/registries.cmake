# agora_registry(OUT FOLDER NAMESPACE TYPE HEADER ACCESSOR), one line per registry of the library.
agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/planning/solvers agora::planning Solver
               planning/solver.h solvers)
agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/planning/formats agora::planning Format
               planning/format.h formats)
agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/planning/models agora::planning BuiltIn
               planning/builtin.h builtins)
agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/planning/learning agora::planning Learner
               planning/learner.h learners)
if("auctions" IN_LIST AGORA_ROOMS)
  agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/auctions/mechanisms agora::auctions MechanismKind
                 auctions/mechanism.h mechanisms)
endif()
