#include "auctions/training/common.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"

namespace agora::auctions {

using namespace compute;

namespace {

const std::string kAverage = "average.";

// Every fourth candidate is a far-out bid.
bool is_far_out(int64_t candidate) { return candidate % 4 == 3; }
int64_t far_out(int64_t candidates) { return candidates / 4; }

}  // namespace

nn::Adam adam(Graph& graph, double weight_decay) {
  return {.rate = nn::fed_rate(graph.input("rate", {})), .weight_decay = weight_decay};
}

MechanismStep mechanism_step(Graph& graph, const Network& network,
                             const Architecture& architecture) {
  const int64_t n = architecture.bidders, m = architecture.items;
  const Tensor values = graph.input("values", {kRows, n, m});
  const Tensor misreports = graph.input("misreports", {kRows, n, m});
  const Decision decision = network(values);
  const Tensor paid = payments(decision, values);                         // (rows, n)
  const Tensor utility = sum(decision.allocation * values, {-1}) - paid;  // (rows, n)
  const Tensor gain = misreport_utilities(network, values, misreports) - utility;
  return {mean(sum(paid, {-1})).named("revenue"), mean(relu(gain), {0}).named("regret")};
}

void average_weights(Graph& graph, const Tensors& parameters, double decay, nn::Updates& updates) {
  if (decay <= 0) return;
  for (const Tensor& parameter : parameters) {
    const Tensor average = graph.variable(kAverage + parameter.node().name, parameter.shape());
    updates.push_back({average, decay * average + (1 - decay) * parameter});
  }
}

CommonTrainer::CommonTrainer(const MechanismKind& kind, const Setting& setting,
                             const Recipe& recipe, uint64_t seed)
    : kind_(kind),
      setting_(setting),
      recipe_(recipe),
      seed_(seed),
      architecture_(architecture_for(*kind.network, setting, recipe.hidden, recipe.width)),
      values_(recipe.batch * profile_size()),
      fetched_(static_cast<size_t>(recipe.batch * profile_size())) {
  sample_.resize(static_cast<size_t>(recipe.samples * profile_size()));
  order_.resize(static_cast<size_t>(recipe.samples));
  if (recipe.samples > 0) setting.sample(seed, kTrainingStream, 0, recipe.samples, sample_.data());
}

std::span<const float> CommonTrainer::draw_values() {
  const int64_t batch = recipe_.batch, size = profile_size();
  if (recipe_.samples == 0) {
    setting_.sample(seed_, kTrainingStream, iteration_ * batch, batch, fetched_.data());
  }
  for (int64_t k = 0; recipe_.samples > 0 && k < batch; ++k) {
    std::copy_n(sample_.begin() + place(k) * size, size, fetched_.begin() + k * size);
  }
  return fetched_;
}

void CommonTrainer::fetch_values() { values_.set(draw_values()); }

int64_t CommonTrainer::place(int64_t k) {
  const int64_t at = iteration_ * recipe_.batch + k, epoch = at / recipe_.samples;
  if (epoch != shuffled_) {
    std::iota(order_.begin(), order_.end(), int64_t{0});
    Rng rng(seed_, kOrderStream, static_cast<uint32_t>(epoch));
    rng.shuffle(order_);
    shuffled_ = epoch;
  }
  return order_[static_cast<size_t>(at % recipe_.samples)];
}

double CommonTrainer::rate() const {
  return nn::cosine_rate(recipe_.rate, recipe_.final_rate, static_cast<double>(recipe_.iterations))
      .at(static_cast<double>(iteration_));
}

double CommonTrainer::temperature() const {
  const double share = static_cast<double>(iteration_) / static_cast<double>(recipe_.iterations);
  return recipe_.temperature *
         std::pow(recipe_.final_temperature / recipe_.temperature, std::min(share, 1.0));
}

AscentPlan CommonTrainer::ascent_plan() const {
  AscentPlan plan{.steps = recipe_.misreport_steps,
                  .rate = recipe_.misreport_rate,
                  .final_rate = recipe_.misreport_final_rate,
                  .keep_best = recipe_.best_misreport,
                  .low = {},
                  .high = {},
                  .range = {}};
  for (int i = 0; i < setting_.bidders(); ++i) {
    for (int j = 0; j < setting_.items(); ++j) {
      const Interval domain = setting_.search_domain(i, j);
      const size_t k = plan.low.size();
      plan.low.push_back(domain.low);
      plan.high.push_back(domain.high);
      plan.range.push_back(architecture_.range.size() == 1 ? architecture_.range[0]
                                                           : architecture_.range[k]);
    }
  }
  return plan;
}

void CommonTrainer::note(double revenue, std::span<const float> regret, double loss) {
  double mean = 0;
  for (const float each : regret) mean += each / static_cast<double>(regret.size());
  const double values[] = {revenue, mean, loss, 1.0};
  for (size_t k = 0; k < sums_.size(); ++k) sums_[k] += values[k];
}

TrainingNumbers CommonTrainer::numbers() {
  const double count = std::max(sums_[3], 1.0);
  const TrainingNumbers result{sums_[0] / count, sums_[1] / count, sums_[2] / count};
  sums_.assign(4, 0.0);
  return result;
}

Tensor CommonTrainer::record_search(const Network& network, const AscentPlan& plan) {
  const int64_t n = setting_.bidders(), m = setting_.items(), batch = recipe_.batch;
  const int64_t candidates = recipe_.candidates, far = far_out(candidates);
  const Tensor values = graph_.input("batch", {batch, n, m});
  const Tensor profiles = gather(values, graph_.index_input("profile", {kRows}));
  Tensors starts{reshape(graph_.input("reports", {kRows, m}), {kRows, 1, m})};
  if (candidates > 0) {
    const Tensor others = gather(reshape(values, {batch * n, m}),
                                 graph_.index_input("others", {kRows, candidates - far}));
    const Tensor ends = far > 0 ? graph_.input("far", {kRows, far, m}) : others;
    for (int64_t k = 0; k < candidates; ++k) {
      const int64_t before = far_out(k);
      starts.push_back(is_far_out(k) ? slice(ends, 1, before, before + 1)
                                     : slice(others, 1, k - before, k - before + 1));
    }
  }
  return ascend(network, profiles, graph_.input("own", {kRows, n}), concat(starts, 1), plan);
}

void CommonTrainer::prepare_search(Program& search) {
  const int64_t n = setting_.bidders(), rows = recipe_.batch * n;
  std::vector<int32_t> profile(static_cast<size_t>(rows));
  std::vector<float> own(static_cast<size_t>(rows * n));
  for (int64_t row = 0; row < rows; ++row) {
    profile[static_cast<size_t>(row)] = static_cast<int32_t>(row / n);
    own[static_cast<size_t>(row * n + row % n)] = 1;
  }
  search.bind("batch", values_);
  search.set("profile", std::span<const int32_t>(profile));
  search.set("own", std::span<const float>(own));
}

void CommonTrainer::draw_starts(Program& search) {
  if (recipe_.candidates == 0) return;
  const int64_t n = setting_.bidders(), m = setting_.items(), rows = recipe_.batch * n;
  const AscentPlan plan = ascent_plan();
  Rng rng(seed_, kCandidateStream, static_cast<uint32_t>(iteration_));
  others_.clear();
  far_.clear();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < recipe_.candidates; ++k) {
      if (!is_far_out(k)) {
        others_.push_back(static_cast<int32_t>((row + n * rng.below(recipe_.batch)) % rows));
        continue;
      }
      for (int64_t j = 0; j < m; ++j) {  // an end of the domain, or anywhere in it
        const int64_t cell = row % n * m + j;
        const double at = std::clamp(2 * rng.uniform() - 0.5, 0.0, 1.0);
        far_.push_back(
            static_cast<float>(plan.low[cell] + at * (plan.high[cell] - plan.low[cell])));
      }
    }
  }
  search.set("others", std::span<const int32_t>(others_));
  if (!far_.empty()) search.set("far", std::span<const float>(far_));
}

std::unique_ptr<Mechanism> CommonTrainer::mechanism() const {
  Parameters parameters = network_parameters(kind_.name, setting_, architecture_);
  write_weights(parameters);
  return make_mechanism(kind_, std::move(parameters));
}

void CommonTrainer::write_weights(Parameters& parameters) const {
  const bool averaged = recipe_.averaging > 0 && iteration_ > 0;
  const double weight = averaged ? 1 - std::pow(recipe_.averaging, iteration_) : 1.0;
  for (const Tensor& tensor : weights_) {
    const std::string& name = tensor.node().name;
    std::vector<double> values = variables_->get(averaged ? kAverage + name : name);
    for (double& value : values) value /= weight;
    parameters.tensors[name] = {{tensor.shape().begin(), tensor.shape().end()}, std::move(values)};
  }
  parameters.notes["iterations"] = std::to_string(iteration_);
  parameters.notes["seed"] = std::to_string(seed_);
}

void CommonTrainer::move_to(const Setting& setting) {
  CHECK(setting.bidders() == setting_.bidders() && setting.items() == setting_.items(),
        "a training of {} cannot move to {}", setting_.text(), setting.text());
  setting_ = setting;
}

std::vector<StoredTensor> CommonTrainer::state() const {
  std::vector<StoredTensor> result = variables_->stored();
  auto& self = const_cast<CommonTrainer&>(*this);
  for (const auto& [name, buffer] : self.buffers()) {
    result.push_back(
        StoredTensor::of<float>("buffer." + name, {static_cast<int64_t>(buffer->size())}, *buffer));
  }
  for (const auto& [name, values] : self.numbers_kept()) {
    result.push_back(StoredTensor::of<double>("numbers." + name,
                                              {static_cast<int64_t>(values->size())}, *values));
  }
  result.push_back(StoredTensor::of<double>("numbers.sums", {4}, sums_));
  const std::vector<int64_t> at{iteration_};
  result.push_back(StoredTensor::of<int64_t>("iteration", {1}, at));
  return result;
}

void CommonTrainer::restore(const TensorFile& file) {
  TensorFile variables;
  variables.path = file.path;
  for (const StoredTensor& tensor : file.tensors) {
    const std::vector<double> values = tensor.values<double>();
    if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
      throw user_error("{}: tensor '{}' holds numbers that are not finite", file.path, tensor.name);
    }
    const bool own = tensor.name.starts_with("buffer.") || tensor.name.starts_with("numbers.") ||
                     tensor.name == "iteration";
    if (!own) variables.tensors.push_back(tensor);
  }
  variables_->load(variables);
  for (const auto& [name, buffer] : buffers()) {
    *buffer = file.at("buffer." + name, {static_cast<int64_t>(buffer->size())}).values<float>();
  }
  for (const auto& [name, values] : numbers_kept()) {
    *values = file.at("numbers." + name, {static_cast<int64_t>(values->size())}).values<double>();
  }
  sums_ = file.at("numbers.sums", {4}).values<double>();
  iteration_ = file.at("iteration", {1}).values<int64_t>()[0];
  if (iteration_ < 0) throw user_error("{}: expected an iteration of at least 0", file.path);
}

std::vector<RecipeParameter> learning_parameters() {
  return {
      recipe_parameter("iterations", &Recipe::iterations, 1, "updates of the mechanism"),
      recipe_parameter("batch", &Recipe::batch, 1, "profiles per update"),
      recipe_parameter("samples", &Recipe::samples, 0,
                       "train on this many fixed profiles, with remembered misreports; 0: fresh "
                       "ones, online"),
      recipe_parameter("hidden", &Recipe::hidden, 1, "hidden layers"),
      recipe_parameter("width", &Recipe::width, 1, "width of a hidden layer, or channels"),
      recipe_parameter("rate", &Recipe::rate, 0, "learning rate at the start"),
      recipe_parameter("final-rate", &Recipe::final_rate, 0, "learning rate at the end"),
      recipe_parameter("weight-decay", &Recipe::weight_decay, 0, "AdamW's decay"),
      recipe_parameter("averaging", &Recipe::averaging, 0,
                       "decay of the running average of the weights; 0: none", kBelowOne)};
}

std::vector<RecipeParameter> temperature_parameters() {
  return {recipe_parameter("temperature", &Recipe::temperature, kAboveZero,
                           "smoothing of choices at the start, in units of the highest value"),
          recipe_parameter("final-temperature", &Recipe::final_temperature, kAboveZero,
                           "smoothing of choices at the end")};
}

std::vector<RecipeParameter> training_parameters() {
  return both(learning_parameters(),
              {recipe_parameter("misreport-steps", &Recipe::misreport_steps, 1,
                                "steps of the search for lies per iteration"),
               recipe_parameter("candidates", &Recipe::candidates, 0,
                                "other bids where that search may start"),
               recipe_parameter("misreport-rate", &Recipe::misreport_rate, kAboveZero,
                                "first step of the search for lies"),
               recipe_parameter("misreport-final-rate", &Recipe::misreport_final_rate, kAboveZero,
                                "its last step")});
}

const TrainingKind& training_of(const MechanismKind& kind) {
  if (!kind.network) throw user_error("{} is computed, not trained: use auction exact", kind.name);
  CHECK(kind.network->training, "{} does not say how it is trained", kind.name);
  return *kind.network->training;
}

std::unique_ptr<ResumableTrainer> resumable_trainer(const MechanismKind& kind,
                                                    const Setting& setting, const Recipe& recipe,
                                                    uint64_t seed) {
  const TrainingKind& training = training_of(kind);
  check_setting(kind, setting);
  check_members(kind.name, training.parameters, recipe);
  return training.trainer(kind, setting, recipe, seed);
}

std::unique_ptr<ResumableTrainer> resumable_trainer(std::string_view mechanism,
                                                    const Setting& setting, const Recipe& recipe,
                                                    uint64_t seed) {
  return resumable_trainer(mechanism_kind(mechanism), setting, recipe, seed);
}

std::unique_ptr<Trainer> trainer(std::string_view mechanism, const Setting& setting,
                                 const Recipe& recipe, uint64_t seed) {
  return resumable_trainer(mechanism, setting, recipe, seed);
}

}  // namespace agora::auctions
