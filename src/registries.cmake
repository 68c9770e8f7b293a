# agora_registry(OUT FOLDERS NAMESPACE TYPE HEADER ACCESSOR), one line per registry of the library.
set(planning ${CMAKE_CURRENT_SOURCE_DIR}/planning)
agora_registry(registries "${planning}/z;${planning}/optimum" agora::planning Solver
               planning/solver.h solvers)
agora_registry(registries ${planning}/formats agora::planning Format planning/formats/format.h formats)
agora_registry(registries ${planning}/models agora::planning BuiltIn planning/models/builtin.h builtins)
agora_registry(registries ${planning}/learning agora::planning Learner planning/learning/learner.h
               learners)
if("auctions" IN_LIST AGORA_ROOMS)
  agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/auctions/mechanisms agora::auctions MechanismKind
                 auctions/mechanism.h mechanisms)
endif()
if("agents" IN_LIST AGORA_ROOMS)
  agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/agents/envs agora::agents EnvironmentKind
                 agents/environment.h environments)
  agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/agents/algorithms agora::agents Algorithm
                 agents/algorithm.h algorithms)
  agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/agents/epistemic/problems
                 agora::agents::epistemic ProblemKind agents/epistemic/problem_kind.h problem_kinds)
endif()
