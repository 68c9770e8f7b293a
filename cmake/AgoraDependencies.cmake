# Required packages, then optional ones. Each optional one sets AGORA_HAS_<NAME>,
# which reaches the code through the generated features.h and `agora version`.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)

set(AGORA_HAS_CUDA 0)
if(AGORA_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures")
  enable_language(CUDA)
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  set(CMAKE_CUDA_STANDARD 20)
  find_package(CUDAToolkit REQUIRED)
  set(AGORA_HAS_CUDA 1)
endif()

pkg_check_modules(CLP IMPORTED_TARGET clp)
set(AGORA_HAS_CLP 0)
if(CLP_FOUND)
  set(AGORA_HAS_CLP 1)
endif()

# Packed files of images.
find_package(ZLIB)
set(AGORA_HAS_ZLIB 0)
if(ZLIB_FOUND)
  set(AGORA_HAS_ZLIB 1)
endif()

# Models shared by several machines.
set(AGORA_HAS_PETSC 0)
if(AGORA_PETSC AND NOT AGORA_SANITIZE)
  pkg_check_modules(PETSC PETSc)
  find_package(MPI COMPONENTS CXX)
  if(PETSC_FOUND AND MPI_CXX_FOUND)
    set(AGORA_HAS_PETSC 1)
  endif()
endif()

# Looked up when a report is written; scripts/bootstrap puts it there.
set(AGORA_PLOTLY_JS ${PROJECT_SOURCE_DIR}/build/assets/plotly.min.js CACHE FILEPATH
    "plotly.js for interactive reports")
# Looked up when a game of Procgen is made; scripts/get-procgen puts it there.
set(AGORA_PROCGEN_FOLDER ${PROJECT_SOURCE_DIR}/build/assets/procgen CACHE PATH
    "libenv.so and assets of Procgen")
# Looked up by `agora reproduce`.
set(AGORA_RESULTS_FOLDER ${PROJECT_SOURCE_DIR}/experiments/results CACHE PATH
    "Results of experiments that were made elsewhere")
