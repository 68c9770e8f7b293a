# Required packages, then optional ones. Each optional one sets AGORA_HAS_<NAME>,
# which reaches the code through the generated features.h and `agora version`.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)

# Kernels are compiled when a program needs them, so the toolkit's libraries are enough.
set(AGORA_HAS_CUDA 0)
if(AGORA_CUDA AND NOT AGORA_SANITIZE AND NOT AGORA_FUZZ)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::cudart_static AND EXISTS ${CUDAToolkit_INCLUDE_DIRS}/nvrtc.h)
    set(AGORA_HAS_CUDA 1)
  elseif(AGORA_CUDA STREQUAL "REQUIRED")
    message(FATAL_ERROR "AGORA_CUDA=REQUIRED: no CUDA toolkit with cudart_static and nvrtc.h was found")
  endif()
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
