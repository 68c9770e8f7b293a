#include "reproduce/stages.h"

#include <algorithm>
#include <cmath>

#include "auctions/training/trainer.h"
#include "base/error.h"
#include "base/signals.h"

namespace agora::reproduce {

using namespace auctions;

Stages::Stages(Task& task) : task_(task), under_way_(task.folder.latest()) {
  if (!under_way_) return;
  step_ = under_way_->step;
  done_ = under_way_->extra.at("done");
  if (under_way_->extra.at("active").get<std::string>().empty()) under_way_.reset();
}

void Stages::save(std::vector<StoredTensor> tensors, const Json& seen) {
  task_.folder.save(++step_, std::move(tensors),
                    {{"done", done_}, {"active", active_}, {"seen", seen}});
}

Json Stages::stage(const std::string& name, const std::function<Json()>& compute) {
  if (done_.contains(name)) return done_[name];
  active_ = name;
  Json result = compute();
  active_.clear();
  under_way_.reset();
  done_[name] = result;
  save({}, nullptr);
  throw_if_stopped();
  return result;
}

Stages::Trained Stages::train(const Training& training, const Watch& watch) {
  CHECK(!active_.empty(), "a training outside a stage");
  const auto trainer =
      resumable_trainer(training.mechanism, training.setting, training.recipe, training.seed);
  Trained result;
  if (under_way_ && under_way_->extra.at("active") == active_) {
    trainer->restore(under_way_->tensors);
    result.seen = under_way_->extra.at("seen");
  }
  const int64_t end = training.recipe.iterations;
  const int64_t every = watch.points > 0 ? (end + watch.points - 1) / watch.points : end;
  while (trainer->iteration() < end) {
    const int64_t from = trainer->iteration();
    const int64_t pause = std::min(end, (from / every + 1) * every);
    if (watch.before) watch.before(from / every * every, *trainer);
    try {
      trainer->advance(1);
    } catch (const Interrupted&) {
      save(trainer->state(), result.seen);
      throw_if_stopped();
    }
    if (trainer->iteration() == pause && watch.look) {
      result.seen.push_back(watch.look(pause, *trainer->mechanism(), trainer->numbers()));
    }
    if (task_.folder.save_is_due()) save(trainer->state(), result.seen);
    throw_if_stopped();
  }
  result.mechanism = trainer->mechanism();
  return result;
}

Recipe with_iterations(Recipe recipe, int64_t iterations) {
  const double share = static_cast<double>(iterations) / static_cast<double>(recipe.iterations);
  const auto scaled = [&](int64_t count) {
    return std::max<int64_t>(1, std::llround(share * static_cast<double>(count)));
  };
  recipe.iterations = iterations;
  recipe.penalty_every = scaled(recipe.penalty_every);
  recipe.multiplier_every = std::max<int64_t>(10, scaled(recipe.multiplier_every));
  if (recipe.restart_every > 0) recipe.restart_every = scaled(recipe.restart_every);
  recipe.restart_until = scaled(recipe.restart_until);
  if (recipe.averaging > 0) recipe.averaging = std::max(0.0, 1 - (1 - recipe.averaging) / share);
  return recipe;
}

Recipe recipe_for(const Task& task, std::string_view mechanism, const Setting& setting,
                  int64_t quick_iterations) {
  const Recipe shipped = recipe(mechanism, setting);
  return task.quick() ? with_iterations(shipped, quick_iterations) : shipped;
}

Json measured(const Mechanism& mechanism, const Setting& setting, const AuditOptions& options) {
  const Audit found = audit(mechanism, setting, options);
  Json result{{"revenue", found.truth.revenue}, {"se", found.truth.revenue_error}};
  if (found.thesis) result["regret"] = found.thesis->mean;
  if (found.strong) {
    result["strong"] = found.strong->mean;
    result["p_star"] = p_star(found.truth.revenue, setting.bidders() * found.strong->mean);
  }
  return result;
}

AuditOptions audit_for(const Task& task) {
  AuditOptions options{.symmetry_profiles = 0, .seed = task.seed};
  if (!task.quick()) {
    options.profiles = 1'000'000;  // rules are thinner than the error of 10,000
    return options;
  }
  options.regret_profiles = 100;
  options.starts = 20;
  return options;
}

std::vector<double> numbers_at(const std::vector<Json>& results, const Json::json_pointer& path) {
  std::vector<double> all;
  all.reserve(results.size());
  for (const Json& result : results) all.push_back(result.at(path).get<double>());
  return all;
}

double mean_at(const std::vector<Json>& results, const Json::json_pointer& path) {
  double sum = 0;
  for (const double value : numbers_at(results, path)) sum += value;
  return sum / static_cast<double>(results.size());
}

report::Series seen_curve(std::string name, const std::vector<Json>& results,
                          const std::string& stage, const std::string& x, const std::string& y) {
  report::Series curve{.name = std::move(name), .x = {}, .y = {}};
  const size_t points = results.front().at(stage).at("seen").size();
  for (size_t k = 0; k < points; ++k) {
    const Json::json_pointer at = Json::json_pointer("/" + stage + "/seen") / k;
    curve.x.push_back(mean_at(results, at / x));
    curve.y.push_back(mean_at(results, at / y));
  }
  return curve;
}

}  // namespace agora::reproduce
