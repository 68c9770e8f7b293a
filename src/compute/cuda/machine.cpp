#include "compute/cuda/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "compute/cuda/calls.h"
#include "compute/cuda/compiler.h"

namespace agora::compute::cuda {
namespace {

// Everything goes through one stream, so that calls happen in their order.
constexpr cudaStream_t kStream = nullptr;

class GpuMemory final : public DeviceMemory {
 public:
  GpuMemory(int64_t bytes, const char* purpose) {
    const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    if (const cudaError_t status = cudaMalloc(&data_, size); status != cudaSuccess) {
      require(status, fmt::format("{} bytes for {}", bytes, purpose).c_str());
    }
    require(cudaMemsetAsync(data_, 0, size, kStream), "clearing memory");
  }
  ~GpuMemory() override { cudaFree(data_); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  void write(const void* from, int64_t bytes, int64_t at) override {
    require(cudaMemcpyAsync(as<char>() + at, from, static_cast<size_t>(bytes),
                            cudaMemcpyHostToDevice, kStream),
            "copying to the GPU");
  }
  void read(void* to, int64_t bytes, int64_t at) const override {
    require(cudaMemcpyAsync(to, as<char>() + at, static_cast<size_t>(bytes),
                            cudaMemcpyDeviceToHost, kStream),
            "copying from the GPU");
    require(cudaStreamSynchronize(kStream), "running a kernel");
  }
  void copy(const DeviceMemory& from, int64_t bytes) override {
    require(cudaMemcpyAsync(data_, from.as<void>(), static_cast<size_t>(bytes),
                            cudaMemcpyDeviceToDevice, kStream),
            "copying on the GPU");
  }
};

class GpuKernel final : public kernel::Kernel {
 public:
  GpuKernel(cudaKernel_t kernel, int64_t threads, int64_t fast_bytes)
      : kernel_(kernel), threads_(threads), fast_bytes_(static_cast<size_t>(fast_bytes)) {
    require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(fast_bytes)),
            "fast memory of a kernel");
  }
  void start(int64_t blocks, std::span<const uint64_t> arguments) override {
    void* all = const_cast<uint64_t*>(arguments.data());
    require(cudaLaunchCooperativeKernel(kernel_, dim3(static_cast<unsigned>(blocks)),
                                        dim3(static_cast<unsigned>(threads_)), &all, fast_bytes_,
                                        kStream),
            "starting a kernel");
  }

 private:
  cudaKernel_t kernel_;
  int64_t threads_;
  size_t fast_bytes_;
};

class Gpu final : public kernel::Machine {
 public:
  Gpu() {
    require(cudaSetDevice(0), "the GPU");
    require(cudaGetDeviceProperties(&properties_, 0), "the GPU");
    architecture_ = fmt::format("sm_{}{}", properties_.major, properties_.minor);
  }
  std::unique_ptr<DeviceMemory> allocate(int64_t bytes, const char* purpose) override {
    return std::make_unique<GpuMemory>(bytes, purpose);
  }
  std::unique_ptr<kernel::Kernel> compile(const std::string& text, int64_t threads,
                                          int64_t fast_bytes) override {
    return std::make_unique<GpuKernel>(loaded(text), threads, fast_bytes);
  }
  int64_t blocks() const override { return properties_.multiProcessorCount; }
  int64_t fast_bytes() const override {
    return static_cast<int64_t>(properties_.sharedMemPerBlockOptin);
  }

 private:
  // Programs of equal text share a kernel, which stays loaded.
  cudaKernel_t loaded(const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto known = kernels_.find(text);
    if (known != kernels_.end()) return known->second;
    const std::string code = cuda::compile(text, architecture_);
    cudaLibrary_t library = nullptr;
    require(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "loading a kernel");
    cudaKernel_t kernel = nullptr;
    require(cudaLibraryGetKernel(&kernel, library, "program"), "loading a kernel");
    return kernels_.emplace(text, kernel).first->second;
  }

  cudaDeviceProp properties_{};
  std::string architecture_;
  std::mutex mutex_;
  std::map<std::string, cudaKernel_t> kernels_;
};

}  // namespace

kernel::Machine& gpu() {
  static Gpu it;
  return it;
}

}  // namespace agora::compute::cuda
