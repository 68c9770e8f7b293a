#include "compute/kernel/scalars.h"

#include <fmt/format.h>

#include <cstring>

#include "compute/kernel/prelude_text.h"

namespace agora::compute::kernel {
namespace {

constexpr size_t kFaults = 3;

std::string text_of(const std::vector<int64_t>& places) {
  std::string text =
      "using Real = float; constexpr int kLanes = 8, kBlockThreads = 32; constexpr bool kShort = "
      "false;\n";
  text += kPrelude;
  text +=
      "struct Arguments { const int *shared, *faults; int* to; };\n"
      "#ifdef __CUDACC__\nKERNEL program(const __grid_constant__ Arguments a) {\n"
      "#else\nKERNEL program(const Arguments& a) {\n#endif\nif (thread_index() > 0) return;\n";
  for (size_t k = 0; k < places.size(); ++k) {
    text += fmt::format("a.to[{}] = a.shared[{}];\n", k, places[k]);
  }
  text += fmt::format("for (int k = 0; k < {}; ++k) a.to[{} + k] = a.faults[k]; }}\n", kFaults,
                      places.size());
  return text;
}

}  // namespace

Scalars::Scalars(Machine& machine, const std::vector<int64_t>& places)
    : kernel_(machine.compile(text_of(places), 32, 0, false)), here_(places.size() + kFaults) {
  there_ = machine.allocate_near(std::ssize(here_) * 4, "scalars");
}

void Scalars::start(const DeviceMemory& shared, const DeviceMemory& faults) {
  const auto address = [](const DeviceMemory& it) {
    return reinterpret_cast<uint64_t>(it.as<void>());
  };
  const uint64_t arguments[] = {address(shared), address(faults), address(*there_)};
  kernel_->start(1, arguments);
}

const std::vector<float>& Scalars::values() const {
  if (!is_here_) there_->read(here_.data(), std::ssize(here_) * 4);
  is_here_ = true;
  return here_;
}

std::vector<int32_t> Scalars::faults() const {
  std::vector<int32_t> found(kFaults);
  std::memcpy(found.data(), values().data() + here_.size() - kFaults, kFaults * 4);
  return found;
}

}  // namespace agora::compute::kernel
