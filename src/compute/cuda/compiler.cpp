#include "compute/cuda/compiler.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nvrtc.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/features.h"
#include "base/files.h"

namespace agora::compute::cuda {
namespace {

// The functions of the library, which comes with the CUDA toolkit.
class Library {
 public:
  Library() {
    const std::string versions[] = {fmt::format("libnvrtc.so.{}", CUDART_VERSION / 1000),
                                    "libnvrtc.so"};
    const std::string folders[] = {"", fmt::format("{}/", AGORA_CUDA_LIBRARIES),
                                   "/usr/local/cuda/lib64/"};
    for (const std::string& folder : folders) {
      for (const std::string& version : versions) {
        if (handle_ == nullptr) handle_ = dlopen((folder + version).c_str(), RTLD_NOW);
      }
    }
    if (handle_ == nullptr) {
      throw user_error(
          "device cuda: {} of the CUDA toolkit was not found; install the toolkit, or name its "
          "folder in LD_LIBRARY_PATH",
          versions[0]);
    }
    find(create, "nvrtcCreateProgram");
    find(destroy, "nvrtcDestroyProgram");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    find(message, "nvrtcGetErrorString");
  }

  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;
  decltype(&nvrtcGetErrorString) message;

 private:
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw user_error("device cuda: libnvrtc has no {}", name);
  }
  void* handle_ = nullptr;
};

// A number that no two texts share, for all that matters.
std::string digest(const std::string& text) {
  uint64_t one = 0xcbf29ce484222325, two = 0x9ae16a3b2f90404f;
  for (const char c : text) {
    one = (one ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    two = (two + static_cast<uint8_t>(c)) * 0xff51afd7ed558ccd;
    two ^= two >> 32;
  }
  return fmt::format("{:016x}{:016x}", one, two);
}

// Where code is kept; empty where the user has no home.
std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "agora/kernels";
  }
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".cache/agora/kernels";
}

std::string kept_code(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A cache that cannot be written is no reason to stop.
void keep_code(const std::filesystem::path& file, const std::string& code) {
  std::error_code ignored;
  std::filesystem::create_directories(file.parent_path(), ignored);
  try {
    write_atomically(file, code);
  } catch (const UserError&) {
  }
}

}  // namespace

std::string compile(const std::string& text, const std::string& architecture) {
  const std::filesystem::path folder = cache_folder();
  const std::string name =
      digest(fmt::format("{} {} {}", architecture, CUDART_VERSION, text)) + ".cubin";
  if (!folder.empty()) {
    if (std::string code = kept_code(folder / name); !code.empty()) return code;
  }
  std::string code = compile_now(text, architecture);
  if (!folder.empty()) keep_code(folder / name, code);
  return code;
}

std::string compile_now(const std::string& text, const std::string& architecture) {
  static const Library library;
  nvrtcProgram program = nullptr;
  const auto require = [&](nvrtcResult status, const char* what) {
    if (status == NVRTC_SUCCESS) return;
    std::string log;
    size_t size = 0;
    if (program != nullptr && library.log_size(program, &size) == NVRTC_SUCCESS && size > 1) {
      log.resize(size);
      library.log(program, log.data());
      if (const size_t error = log.find("error"); error != std::string::npos) log.erase(0, error);
      log = log.substr(0, log.find('\n'));
    }
    library.destroy(&program);
    throw user_error("device cuda: {}: {} {}", what, library.message(status), log);
  };
  require(library.create(&program, text.c_str(), "program.cu", 0, nullptr, nullptr),
          "a kernel cannot be compiled");
  const std::string target = "--gpu-architecture=" + architecture;
  const char* const options[] = {target.c_str(), "-std=c++17", "--extra-device-vectorization"};
  require(library.compile(program, std::size(options), options), "a kernel does not compile");
  size_t size = 0;
  require(library.cubin_size(program, &size), "a kernel has no machine code");
  std::string code(size, '\0');
  require(library.cubin(program, code.data()), "a kernel has no machine code");
  library.destroy(&program);
  return code;
}

}  // namespace agora::compute::cuda
