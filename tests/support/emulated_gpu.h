#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <map>
#include <mutex>

#include "compute/kernel/machine.h"
#include "compute/kernel/prelude_text.h"
#include "support/emulated_warps.h"
#include "support/scratch.h"

// Runs generated kernels on a thread of the host, compiled by the C++ compiler: what they compute
// can be tested where there is no GPU.
namespace agora::compute {

class EmulatedGpu final : public kernel::Machine {
 public:
  std::unique_ptr<DeviceMemory> allocate(int64_t bytes, const char* purpose) override {
    return cpu_backend().allocate(bytes, purpose);
  }
  std::unique_ptr<kernel::Kernel> compile(const std::string& text, int64_t, int64_t,
                                          bool) override {
    const bool warps = has_warps_ && text.find("IMAGE_KERNEL program") != std::string::npos;
    return std::make_unique<HostKernel>(code_of(warps ? with_warps(text) : text), warps);
  }
  int64_t blocks() const override { return 1; }
  int64_t fast_bytes() const override { return fast_bytes_; }

  static EmulatedGpu& instance() {
    static EmulatedGpu it;
    return it;
  }
  static const Backend& backend() {
    static const Backend it{
        .limits = kernel::plan_limits(instance()),
        .allocate = [](int64_t bytes,
                       const char* purpose) { return instance().allocate(bytes, purpose); },
        .make_executor =
            [](const Plan& plan, Variables& variables, const ExecutorOptions& options) {
              return kernel::make_executor(instance(), plan, variables, options);
            }};
    return it;
  }
  void set_fast_bytes(int64_t bytes) { fast_bytes_ = bytes; }
  // Whether kernels of images run as on a GPU, by threads and warps, from now on.
  void set_warps(bool on) { has_warps_ = on; }
  const std::string& latest() const { return latest_; }  // text

 private:
  using Function = void (*)(const void*, int64_t blocks);
  class HostKernel final : public kernel::Kernel {
   public:
    HostKernel(std::shared_future<Function> function, bool warps)
        : function_(std::move(function)), warps_(warps) {}
    void start(int64_t blocks, std::span<const uint64_t> arguments) override {
      static std::mutex one_at_a_time;  // fast memory is that of the code
      const std::lock_guard lock(one_at_a_time);
      function_.get()(arguments.data(), warps_ ? blocks : 1);
    }

   private:
    std::shared_future<Function> function_;
    bool warps_;
  };

  static std::string with_warps(const std::string& text) {
    const size_t at = text.find(kernel::kTensorCores);
    EXPECT_NE(at, std::string::npos);
    return kWarpsBefore + text.substr(0, at) + kEmulatedCores +
           text.substr(at + std::strlen(kernel::kTensorCores)) + kWarpsAfter;
  }

  // Compilers run side by side; kernels of equal text share the code.
  std::shared_future<Function> code_of(const std::string& text) {
    const std::lock_guard lock(mutex_);
    latest_ = text;
    std::shared_future<Function>& code = kernels_[text];
    if (!code.valid()) {
      code =
          std::async(std::launch::async, loaded, text, scratch_ / std::to_string(kernels_.size()))
              .share();
    }
    return code;
  }
  static Function loaded(const std::string& text, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "kernel.cpp") << text;
    const bool warps = text.starts_with(kWarpsBefore);
    // Later standards read three times as much for <cmath>.
    const std::string command = std::string("c++ ") +
                                (warps ? "-std=c++17 -O1" : "-std=c++14 -O0") +
                                " -w -shared -fPIC -o '" + (folder / "kernel.so").string() + "' '" +
                                (folder / "kernel.cpp").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << text;
    void* const library = dlopen((folder / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    return reinterpret_cast<Function>(dlsym(library, warps ? "run" : "program"));
  }

  Scratch scratch_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Function>> kernels_;
  int64_t fast_bytes_ = 200 << 10;
  bool has_warps_ = false;
  std::string latest_;
};

}  // namespace agora::compute
