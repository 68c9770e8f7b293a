# agora_registry(OUT FOLDER NAMESPACE TYPE HEADER ACCESSOR), one line per registry of the library.
agora_registry(registries ${CMAKE_CURRENT_SOURCE_DIR}/planning/solvers agora::planning Solver
               planning/solver.h solvers)
