#include "compute/cuda/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <utility>

#include "compute/cuda/calls.h"
#include "compute/cuda/compiler.h"

namespace agora::compute::cuda {
namespace {

// Calls of a thread go through one stream, so that they happen in their order: the common one, or
// that of the lane it is in.
thread_local cudaStream_t lane_stream = nullptr;
// Where starts go that are recorded in this thread, and others.
thread_local cudaStream_t recording = nullptr;
// While a thread records: a stream beside that one, whether it has starts that are not waited for,
// and what waiting needs.
thread_local cudaStream_t beside = nullptr;
thread_local bool is_aside = false;
thread_local cudaEvent_t mark = nullptr;

// What `later` gets from now on waits for what `earlier` has.
void wait_for(cudaStream_t later, cudaStream_t earlier) {
  require(cudaEventRecord(mark, earlier), "recording kernels");
  require(cudaStreamWaitEvent(later, mark, 0), "recording kernels");
}

// Memory of the host that a copy to it need not wait for, of each thread; null where there is none.
constexpr int64_t kFewBytes = 4096;
void* few_bytes() {
  static const auto free = [](void* it) { cudaFreeHost(it); };
  thread_local const std::unique_ptr<void, void (*)(void*)> it(
      [] {
        void* made = nullptr;
        if (cudaHostAlloc(&made, kFewBytes, cudaHostAllocPortable) == cudaSuccess) return made;
        cudaGetLastError();
        return static_cast<void*>(nullptr);
      }(),
      free);
  return it.get();
}

class GpuMemory final : public DeviceMemory {
 public:
  GpuMemory(int64_t bytes, const char* purpose) {
    const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    if (const cudaError_t status = cudaMalloc(&data_, size); status != cudaSuccess) {
      require(status, fmt::format("{} bytes for {}", bytes, purpose).c_str());
    }
    require(cudaMemsetAsync(data_, 0, size, lane_stream), "clearing memory");
  }
  ~GpuMemory() override { cudaFree(data_); }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  void write(const void* from, int64_t bytes, int64_t at) override {
    require(cudaMemcpyAsync(as<char>() + at, from, static_cast<size_t>(bytes),
                            cudaMemcpyHostToDevice, lane_stream),
            "copying to the GPU");
  }
  void read(void* to, int64_t bytes, int64_t at) const override {
    if (void* const pinned = bytes <= kFewBytes ? few_bytes() : nullptr; pinned != nullptr) {
      require(cudaMemcpyAsync(pinned, as<char>() + at, static_cast<size_t>(bytes),
                              cudaMemcpyDeviceToHost, lane_stream),
              "copying from the GPU");
      require(cudaStreamSynchronize(lane_stream), "running a kernel");
      std::memcpy(to, pinned, static_cast<size_t>(bytes));
      return;
    }
    // A copy to the host's own memory that has to wait keeps other threads from copying.
    require(cudaStreamSynchronize(lane_stream), "running a kernel");
    require(cudaMemcpyAsync(to, as<char>() + at, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost,
                            lane_stream),
            "copying from the GPU");
    require(cudaStreamSynchronize(lane_stream), "running a kernel");
  }
  void copy(const DeviceMemory& from, int64_t bytes) override {
    require(cudaMemcpyAsync(data_, from.as<void>(), static_cast<size_t>(bytes),
                            cudaMemcpyDeviceToDevice, lane_stream),
            "copying on the GPU");
  }
};

// Of the host, where kernels write: it is there once the stream is done.
class NearMemory final : public DeviceMemory {
 public:
  NearMemory(int64_t bytes, const char* purpose) {
    const size_t size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    if (const cudaError_t status = cudaHostAlloc(&data_, size, cudaHostAllocDefault);
        status != cudaSuccess) {
      require(status, fmt::format("{} bytes of pinned memory for {}", bytes, purpose).c_str());
    }
    std::memset(data_, 0, size);
  }
  ~NearMemory() override { cudaFreeHost(data_); }
  NearMemory(const NearMemory&) = delete;
  NearMemory& operator=(const NearMemory&) = delete;

  void write(const void* from, int64_t bytes, int64_t at) override {
    wait();
    std::memcpy(as<char>() + at, from, static_cast<size_t>(bytes));
  }
  void read(void* to, int64_t bytes, int64_t at) const override {
    wait();
    std::memcpy(to, as<char>() + at, static_cast<size_t>(bytes));
  }
  void copy(const DeviceMemory& from, int64_t bytes) override {
    require(cudaMemcpyAsync(data_, from.as<void>(), static_cast<size_t>(bytes), cudaMemcpyDefault,
                            lane_stream),
            "copying from the GPU");
  }

 private:
  static void wait() { require(cudaStreamSynchronize(lane_stream), "running a kernel"); }
};

using Code = std::shared_future<std::string>;  // compilers run side by side

class GpuKernel final : public kernel::Kernel {
 public:
  GpuKernel(Code code, int64_t threads, int64_t fast_bytes, bool meet)
      : code_(std::move(code)),
        threads_(threads),
        fast_bytes_(static_cast<size_t>(fast_bytes)),
        meet_(meet) {}
  ~GpuKernel() override {
    code_.wait();  // the compiler's library may not end before its work does
    if (library_ != nullptr) cudaLibraryUnload(library_);
  }
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  void start(int64_t blocks, std::span<const uint64_t> arguments) override {
    if (kernel_ == nullptr) load();
    void* all = const_cast<uint64_t*>(arguments.data());
    const dim3 grid(static_cast<unsigned>(blocks)), block(static_cast<unsigned>(threads_));
    const cudaStream_t stream = recording != nullptr ? recording : lane_stream;
    require(meet_ ? cudaLaunchCooperativeKernel(kernel_, grid, block, &all, fast_bytes_, stream)
                  : cudaLaunchKernel(kernel_, grid, block, &all, fast_bytes_, stream),
            "starting a kernel");
  }

 private:
  void load() {
    const std::string& code = code_.get();
    require(cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
            "loading a kernel");
    cudaKernel_t found = nullptr;
    require(cudaLibraryGetKernel(&found, library_, "program"), "loading a kernel");
    require(cudaFuncSetAttribute(found, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(fast_bytes_)),
            "fast memory of a kernel");
    kernel_ = found;
  }

  Code code_;
  int64_t threads_;
  size_t fast_bytes_;
  bool meet_;
  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
};

class GpuRecording final : public kernel::Recording {
 public:
  explicit GpuRecording(const std::function<void()>& starts) {
    cudaStream_t stream = nullptr, other = nullptr;
    using Owner = std::unique_ptr<CUstream_st, decltype(&cudaStreamDestroy)>;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "recording kernels");
    const Owner owner(stream, cudaStreamDestroy);
    require(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "recording kernels");
    const Owner other_owner(other, cudaStreamDestroy);
    cudaEvent_t event = nullptr;
    require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "recording kernels");
    const std::unique_ptr<CUevent_st, decltype(&cudaEventDestroy)> event_owner(event,
                                                                               cudaEventDestroy);
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording kernels");
    recording = stream;
    beside = other;
    mark = event;
    is_aside = false;
    try {
      starts();
    } catch (...) {
      recording = nullptr;
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      throw;
    }
    recording = nullptr;
    require(cudaStreamEndCapture(stream, &graph), "recording kernels");
    const cudaError_t status = cudaGraphInstantiate(&ready_, graph, 0);
    cudaGraphDestroy(graph);
    require(status, "recording kernels");
  }
  ~GpuRecording() override {
    if (ready_ != nullptr) cudaGraphExecDestroy(ready_);
  }
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;

  void start() override { require(cudaGraphLaunch(ready_, lane_stream), "starting kernels"); }

 private:
  cudaGraphExec_t ready_ = nullptr;
};

class Gpu final : public kernel::Machine {
 public:
  Gpu() {
    // Threads that wait leave their core to others: players have environments to step.
    require(cudaSetDeviceFlags(cudaDeviceScheduleYield), "the GPU");
    require(cudaSetDevice(0), "the GPU");
    require(cudaGetDeviceProperties(&properties_, 0), "the GPU");
    architecture_ = fmt::format("sm_{}{}", properties_.major, properties_.minor);
  }
  std::unique_ptr<DeviceMemory> allocate(int64_t bytes, const char* purpose) override {
    return std::make_unique<GpuMemory>(bytes, purpose);
  }
  std::unique_ptr<DeviceMemory> allocate_near(int64_t bytes, const char* purpose) override {
    return std::make_unique<NearMemory>(bytes, purpose);
  }
  std::unique_ptr<kernel::Kernel> compile(const std::string& text, int64_t threads,
                                          int64_t fast_bytes, bool meet) override {
    return std::make_unique<GpuKernel>(code_of(text), threads, fast_bytes, meet);
  }
  std::unique_ptr<kernel::Recording> record(const std::function<void()>& starts) override {
    return std::make_unique<GpuRecording>(starts);
  }
  void aside(const std::function<void()>& starts) override {
    if (recording == nullptr) return starts();
    wait_for(beside, recording);
    is_aside = true;
    std::swap(recording, beside);
    try {
      starts();
    } catch (...) {
      std::swap(recording, beside);
      throw;
    }
    std::swap(recording, beside);
  }
  void meet_again() override {
    if (recording == nullptr || !is_aside) return;
    wait_for(recording, beside);
    is_aside = false;
  }
  int64_t blocks() const override { return properties_.multiProcessorCount; }
  int64_t fast_bytes() const override {
    return static_cast<int64_t>(properties_.sharedMemPerBlockOptin);
  }

 private:
  // Programs of equal text share the code.
  Code code_of(const std::string& text) {
    const std::lock_guard lock(mutex_);
    Code& code = codes_[text];
    if (!code.valid()) {
      code = std::async(std::launch::async, [text, architecture = architecture_] {
               return cuda::compile(text, architecture);
             }).share();
    }
    return code;
  }

  cudaDeviceProp properties_{};
  std::string architecture_;
  std::mutex mutex_;
  std::map<std::string, Code> codes_;
};

}  // namespace

kernel::Machine& gpu() {
  static Gpu it;
  return it;
}

namespace {

class GpuLane final : public Lane {
 public:
  GpuLane() {
    int lowest = 0, highest = 0;
    require(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "a stream");
    require(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, highest), "a stream");
    require(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "a stream");
  }
  ~GpuLane() override {
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
  }
  GpuLane(const GpuLane&) = delete;
  GpuLane& operator=(const GpuLane&) = delete;

  void enter() override {
    require(cudaEventRecord(event_, nullptr), "a stream");
    require(cudaStreamWaitEvent(stream_, event_, 0), "a stream");
    lane_stream = stream_;
  }
  void leave() override {
    cudaStreamSynchronize(stream_);  // what failed is told by the next call
    lane_stream = nullptr;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

}  // namespace

std::unique_ptr<Lane> make_lane() { return std::make_unique<GpuLane>(); }

std::shared_ptr<void> pin(const void* memory, int64_t bytes) {
  void* const own = const_cast<void*>(memory);
  if (cudaHostRegister(own, static_cast<size_t>(bytes), cudaHostRegisterDefault) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return {own, [](void* it) { cudaHostUnregister(it); }};
}

}  // namespace agora::compute::cuda
