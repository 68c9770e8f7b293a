// Trainings on a GPU beside the same on the CPU. Where there is no GPU a thread of the host runs
// the kernels of a small network for a few iterations.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "auctions/audit/audit.h"
#include "auctions/mechanism.h"
#include "auctions/setting.h"
#include "compute/backend.h"
#include "support/emulated_gpu.h"
#include "trained.h"

namespace agora::auctions {
namespace {

using compute::Device;

class DeviceTrainings : public ::testing::TestWithParam<std::string> {
 protected:
  DeviceTrainings() {
    if (!compute::cuda_available()) emulated_.emplace(compute::EmulatedGpu::backend());
  }
  ~DeviceTrainings() override { compute::set_default_device(Device::kCpu); }

  bool has_gpu() const { return !emulated_.has_value(); }

  std::unique_ptr<ResumableTrainer> train(Device device, const Recipe& how, int64_t iterations) {
    compute::set_default_device(device);
    auto trainer = resumable_trainer(GetParam(), setting("2x2 uniform(0,1)"), how, 3);
    trainer->advance(iterations);
    return trainer;
  }
  Recipe small() const {
    Recipe how = recipe(GetParam(), setting("2x2 uniform(0,1)"));
    how.hidden = 2;
    how.width = has_gpu() ? 40 : 6;
    how.batch = has_gpu() ? 128 : 20;
    how.samples = 0;
    how.misreport_steps = has_gpu() ? 10 : 3;
    how.iterations = 1000;
    return how;
  }

  std::optional<compute::InsteadOfCuda> emulated_;
};

TEST_P(DeviceTrainings, OnTheGpuGoWhereThoseOnTheCpuGo) {
  const int64_t iterations = has_gpu() ? 100 : 2;
  const Recipe how = small();
  const auto there = train(Device::kCuda, how, iterations);
  const auto here = train(Device::kCpu, how, iterations);
  const auto found = there->mechanism()->parameters().tensors;
  double difference = 0, size = 0;
  for (const auto& [name, expected] : here->mechanism()->parameters().tensors) {
    ASSERT_EQ(found.at(name).values.size(), expected.values.size()) << name;
    for (size_t k = 0; k < expected.values.size(); ++k) {
      difference += std::pow(found.at(name).values[k] - expected.values[k], 2);
      size += std::pow(expected.values[k], 2);
    }
  }
  // Rounding differs, and Adam's first steps have the size of the rate whatever the gradient.
  EXPECT_LT(std::sqrt(difference / size), has_gpu() ? 1e-2 : 1e-3) << GetParam();
  if (here->iteration_flops() > 0) {  // else slopes are found here and the device only adds
    EXPECT_GT(difference, 0) << "one of them ran on the other's device";
  }
  const TrainingNumbers a = there->numbers(), b = here->numbers();
  EXPECT_NEAR(a.revenue, b.revenue, 1e-3 * b.revenue);
  EXPECT_NEAR(a.regret, b.regret, 1e-2 * b.regret + 1e-6);
}

TEST_P(DeviceTrainings, GiveTheSameBitsOnTheSameGpu) {
  const Recipe how = small();
  const int64_t iterations = has_gpu() ? 20 : 1;
  const auto first = train(Device::kCuda, how, iterations);
  const auto second = train(Device::kCuda, how, iterations);
  const auto again = second->mechanism()->parameters().tensors;
  for (const auto& [name, tensor] : first->mechanism()->parameters().tensors) {
    EXPECT_EQ(tensor.values, again.at(name).values) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeviceTrainings, ::testing::ValuesIn(trained()));

class DeviceAudits : public ::testing::Test {
 protected:
  DeviceAudits() {
    if (!compute::cuda_available()) emulated_.emplace(compute::EmulatedGpu::backend());
    Recipe how = recipe("regretnet", where_);
    how.hidden = 1;
    how.width = 5;
    how.batch = 16;
    how.misreport_steps = 2;
    auto trainer = resumable_trainer("regretnet", where_, how, 3);
    trainer->advance(3);
    learned_ = trainer->mechanism()->parameters();
  }
  ~DeviceAudits() override { compute::set_default_device(Device::kCpu); }

  std::unique_ptr<Mechanism> made(Device device) const {
    compute::set_default_device(device);
    return make_mechanism(mechanism_kind("regretnet"), learned_);
  }

  Setting where_ = setting("2x1 uniform(0,1)");
  Parameters learned_;

 private:
  std::optional<compute::InsteadOfCuda> emulated_;
};

TEST_F(DeviceAudits, FindWhatThoseOnTheCpuFind) {
  const AuditOptions how{.regret_profiles = 12, .starts = 6, .steps = 12};
  const auto here = made(Device::kCpu), there = made(Device::kCuda);
  EXPECT_GT(there->profiles_at_once(), here->profiles_at_once());
  const RegretTests expected = regret_tests(*here, where_, how),
                    found = regret_tests(*there, where_, how);
  ASSERT_GT(expected.strong->mean, 1e-3);
  for (size_t k = 0; k < expected.strong->gains.size(); ++k) {
    EXPECT_NEAR(found.thesis->gains[k], expected.thesis->gains[k], 1e-4);
    EXPECT_NEAR(found.strong->gains[k], expected.strong->gains[k], 1e-4);
  }
  const EvaluationOptions plain{.profiles = 2000};
  EXPECT_NEAR(evaluate(*there, where_, plain).revenue, evaluate(*here, where_, plain).revenue,
              1e-6);
}

// Says that it is fastest on many profiles, as those on a GPU do.
class Wide : public Mechanism {
 public:
  explicit Wide(const Mechanism& it) : it_(it) {}
  const std::string& name() const override { return it_.name(); }
  int bidders() const override { return it_.bidders(); }
  int items() const override { return it_.items(); }
  int64_t profiles_at_once() const override { return 8192; }
  void run(int64_t profiles, int n, int m, const double* bids, double* allocation,
           double* payments) const override {
    it_.run(profiles, n, m, bids, allocation, payments);
  }
  bool has_gradients() const override { return true; }
  void utility_gradient(int64_t profiles, int n, int m, int bidder, const double* values,
                        const double* bids, double* utility, double* gradient) const override {
    it_.utility_gradient(profiles, n, m, bidder, values, bids, utility, gradient);
  }
  Parameters parameters() const override { return it_.parameters(); }

 private:
  const Mechanism& it_;
};

TEST_F(DeviceAudits, FindTheSameInManyProfilesAtOnce) {
  const AuditOptions how{.regret_profiles = 320, .starts = 6, .steps = 12};
  const auto few = made(Device::kCpu);
  const Wide many(*few);
  const RegretTests expected = regret_tests(*few, where_, how),
                    found = regret_tests(many, where_, how);
  EXPECT_EQ(found.thesis->gains, expected.thesis->gains);
  EXPECT_EQ(found.strong->gains, expected.strong->gains);
  EXPECT_EQ(found.strong->worst_bid, expected.strong->worst_bid);
}

}  // namespace
}  // namespace agora::auctions
