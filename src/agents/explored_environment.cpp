#include "agents/explored_environment.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "agents/novelty.h"
#include "agents/traces.h"
#include "agents/worlds.h"
#include "base/thread_pool.h"

namespace agora::agents {
namespace {

constexpr int64_t kRowsOfAThread = 8;

class Explored final : public Environment {
 public:
  Explored(std::unique_ptr<Environment> played, int64_t neighbours)
      : played_(std::move(played)),
        space_(played_->space()),
        bytes_(static_cast<size_t>(space_.observation.bytes())) {
    const auto n = static_cast<size_t>(played_->count());
    traces_.assign(n, Trace(space_.observation));
    novelties_.assign(n, Novelty(space_.observation, neighbours));
    space_.observation = with_trace(space_.observation);
    space_.least = space_.most = 0;
    wide_ = static_cast<size_t>(space_.observation.bytes());
    observations_.resize(n * wide_);
    last_observations_.resize(n * wide_);
    rewards_.resize(n);
    ends_.resize(n);
    for (size_t row = 0; row < n; ++row) begin(row);
  }

  int64_t count() const override { return played_->count(); }
  const Space& space() const override { return space_; }
  std::span<const std::byte> observations() const override { return observations_; }
  std::span<const float> rewards() const override { return rewards_; }
  std::span<const End> ends() const override { return ends_; }
  std::span<const int64_t> ended_levels() const override { return played_->ended_levels(); }
  std::span<const std::byte> last_observations() const override { return last_observations_; }
  bool shows_ends() const override { return played_->shows_ends(); }
  std::span<const int64_t> levels() const override { return played_->levels(); }
  void prefer(std::span<const double> chances) override { played_->prefer(chances); }
  std::span<const uint8_t> masks() const override { return played_->masks(); }
  Picture picture(int64_t environment) const override { return played_->picture(environment); }

  void step(std::span<const int32_t> actions) override { step_part(actions, 0); }
  bool has_parts() const override { return played_->has_parts(); }
  void step_part(std::span<const int32_t> actions, int64_t first) override {
    played_->step_part(actions, first);
    const int64_t total = std::ssize(actions);
    const int64_t parts = (total + kRowsOfAThread - 1) / kRowsOfAThread;
    default_pool().run(parts, [&](int64_t part) {
      const Range range = part_range(total, part, parts);
      for (int64_t row = range.begin; row < range.end; ++row) {
        settle(static_cast<size_t>(first + row));
      }
    });
  }

  std::vector<StoredTensor> save(const std::string& prefix) const override;
  void restore(const TensorFile& saved, const std::string& prefix) override;

 private:
  std::span<const std::byte> seen(size_t row) const {
    return played_->observations().subspan(row * bytes_, bytes_);
  }
  std::span<std::byte> view(size_t row) {
    return std::span(observations_).subspan(row * wide_, wide_);
  }

  void begin(size_t row) {
    traces_[row].clear();
    traces_[row].see(seen(row), view(row));
    novelties_[row].clear();
    novelties_[row].see(seen(row));
  }

  void settle(size_t row) {
    ends_[row] = played_->ends()[row];
    if (ends_[row] == End::kNone) {
      traces_[row].see(seen(row), view(row));
      rewards_[row] = static_cast<float>(novelties_[row].see(seen(row)));
      return;
    }
    rewards_[row] = 0;
    if (ends_[row] == End::kCutOff || shows_ends()) {
      const auto last = played_->last_observations().subspan(row * bytes_, bytes_);
      traces_[row].see(last, std::span(last_observations_).subspan(row * wide_, wide_));
      rewards_[row] = static_cast<float>(novelties_[row].see(last));
      ends_[row] = End::kCutOff;
    }
    begin(row);
  }

  std::unique_ptr<Environment> played_;
  Space space_;
  size_t bytes_, wide_ = 0;  // of an observation, without and with its trace
  std::vector<Trace> traces_;
  std::vector<Novelty> novelties_;
  std::vector<std::byte> observations_, last_observations_;
  std::vector<float> rewards_;
  std::vector<End> ends_;
};

std::vector<StoredTensor> Explored::save(const std::string& prefix) const {
  using worlds::as_bytes, worlds::tensor;
  std::vector<StoredTensor> all = played_->save(prefix + "played.");
  const int64_t n = count();
  std::vector<std::byte> firsts, planes;
  std::vector<int64_t> seen;
  int64_t bytes = 0;
  for (size_t row = 0; row < traces_.size(); ++row) {
    const auto first = traces_[row].first(), plane = traces_[row].plane();
    firsts.insert(firsts.end(), first.begin(), first.end());
    planes.insert(planes.end(), plane.begin(), plane.end());
    seen.push_back(novelties_[row].seen());
    bytes += novelties_[row].size() * novelties_[row].kept();
  }
  std::vector<uint8_t> frames(static_cast<size_t>(bytes));
  std::span<uint8_t> rest = frames;
  for (const Novelty& each : novelties_) {
    each.save(rest);
    rest = rest.subspan(static_cast<size_t>(each.size() * each.kept()));
  }
  const auto put = [&](const char* name, int64_t width, const auto& values) {
    all.push_back(StoredTensor::of<uint8_t>(prefix + name, {n, width}, as_bytes(values)));
  };
  put("firsts", std::ssize(firsts) / n, firsts);
  put("traces", std::ssize(planes) / n, planes);
  put("last_observations", static_cast<int64_t>(wide_), last_observations_);
  put("ends", 1, ends_);
  all.push_back(tensor(prefix + "seen", {n}, seen));
  all.push_back(tensor(prefix + "frames", {bytes}, frames));
  all.push_back(tensor(prefix + "rewards", {n}, rewards_));
  return all;
}

void Explored::restore(const TensorFile& saved, const std::string& prefix) {
  using worlds::impossible, worlds::stored;
  const int64_t n = count();
  const auto taken = [&](const char* name, size_t width) {
    return stored<uint8_t>(saved, prefix + name, {n, static_cast<int64_t>(width)});
  };
  const size_t pixels = traces_[0].plane().size();
  const auto firsts = taken("firsts", bytes_), planes = taken("traces", pixels);
  const auto last = taken("last_observations", wide_), ends = taken("ends", 1);
  const auto seen = stored<int64_t>(saved, prefix + "seen", {n});
  const auto rewards = stored<float>(saved, prefix + "rewards", {n});
  int64_t bytes = 0;
  for (size_t row = 0; row < traces_.size(); ++row) {
    if (seen[row] < 1 || ends[row] > 2) throw impossible(saved, prefix);
    bytes += novelties_[row].size() * std::min(seen[row], Novelty::kMost);
  }
  const auto frames = stored<uint8_t>(saved, prefix + "frames", {bytes});
  played_->restore(saved, prefix + "played.");

  std::copy(rewards.begin(), rewards.end(), rewards_.begin());
  std::memcpy(last_observations_.data(), last.data(), last.size());
  std::memcpy(ends_.data(), ends.data(), ends.size());
  std::span<const uint8_t> rest = frames;
  for (size_t row = 0; row < traces_.size(); ++row) {
    traces_[row].restore(std::as_bytes(std::span(firsts).subspan(row * bytes_, bytes_)),
                         std::as_bytes(std::span(planes).subspan(row * pixels, pixels)));
    traces_[row].extend(this->seen(row), view(row));
    novelties_[row].restore(seen[row], rest);
    rest = rest.subspan(static_cast<size_t>(novelties_[row].size() * novelties_[row].kept()));
  }
}

}  // namespace

std::unique_ptr<Environment> for_explorer(std::unique_ptr<Environment> played, int64_t neighbours) {
  with_trace(played->space().observation);  // refuses what has none
  return std::make_unique<Explored>(std::move(played), neighbours);
}

}  // namespace agora::agents
