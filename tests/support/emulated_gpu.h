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
    return std::make_unique<HostKernel>(code_of(text));
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
  const std::string& latest() const { return latest_; }  // text

 private:
  using Function = void (*)(const void*);
  class HostKernel final : public kernel::Kernel {
   public:
    explicit HostKernel(std::shared_future<Function> function) : function_(std::move(function)) {}
    void start(int64_t, std::span<const uint64_t> arguments) override {
      static std::mutex one_at_a_time;  // fast memory is that of the code
      const std::lock_guard lock(one_at_a_time);
      function_.get()(arguments.data());
    }

   private:
    std::shared_future<Function> function_;
  };

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
    // Later standards read three times as much for <cmath>.
    const std::string command = "c++ -std=c++14 -O0 -w -shared -fPIC -o '" +
                                (folder / "kernel.so").string() + "' '" +
                                (folder / "kernel.cpp").string() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << text;
    void* const library = dlopen((folder / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << dlerror();
    return reinterpret_cast<Function>(dlsym(library, "program"));
  }

  Scratch scratch_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Function>> kernels_;
  int64_t fast_bytes_ = 200 << 10;
  std::string latest_;
};

}  // namespace agora::compute
