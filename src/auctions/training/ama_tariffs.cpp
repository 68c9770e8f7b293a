// Tariffs on an affine maximiser: its boosts are learned first, then what the others' bids make of
// fees and markups, by revenue alone. Which tariff and how many items a bidder takes is smoothed.
#include <cmath>

#include "auctions/exact/tariff_choice.h"
#include "auctions/tariff.h"
#include "auctions/training/boost_slopes.h"
#include "auctions/training/common.h"
#include "base/thread_pool.h"
#include "compute/gradients.h"

namespace agora::auctions {

using namespace compute;

namespace {

constexpr int kLanes = TariffChoice::kLanes;
constexpr int64_t kProfilesPerPart = 64;
constexpr double kReach = 12;                  // temperatures, as in boost_slopes.cpp
constexpr double kMargin = 0.02, kPull = 1.0;  // offers so far below 0 feel a pull
constexpr double kFirstOffer = 0.02;           // of the unit of money
constexpr int64_t kPolishProfiles = 20'000;
const std::string kBase = "base.";

Tensor pull(Tensor offers) { return mean(square(relu(-offers - kMargin))); }

void put_base(Parameters& to, const Parameters& base) {
  for (const char* name : {"weights", "terms", "boosts"}) {
    to.tensors[name] = base.tensors.at(name);
  }
}

// All that the network offers, times a factor: what is not negative is linear in these.
void scale_offers(Parameters& parameters, double factor) {
  for (const char* name : {"fee.weight", "fee.bias", "markup.weight", "markup.bias", "share"}) {
    for (double& value : parameters.tensors.at(name).values) value *= factor;
  }
}

class AmaTariffTrainer : public CommonTrainer {
 public:
  AmaTariffTrainer(const MechanismKind& kind, const Setting& setting, const Recipe& recipe,
                   uint64_t seed)
      : CommonTrainer(kind, setting, recipe, seed),
        start_(fresh_ama_tariffs(
            kind, setting, tariff_size_for(setting, recipe.hidden, recipe.width, recipe.tariffs),
            seed)),
        views_(start_),
        before_((recipe.iterations + 1) / 2) {
    Recipe first = recipe;
    first.iterations = before_;
    first.averaging = std::max(0.0, 1 - 5.0 / static_cast<double>(before_));
    base_ = resumable_trainer("learned-ama", setting, first, seed);
    const int64_t n = setting.bidders(), m = setting.items(), features = views_.features();
    const int64_t tariffs = recipe.tariffs, rows = recipe.batch * n;
    const TariffNet net(graph_, n, m, features, tariff_size(start_));
    weights_ = graph_.parameters();
    const TariffNet::Offers raw = net(TariffNet::declare(graph_, m, features));
    const Tensor temperature = graph_.input("temperature", {});
    const auto positive = [&](Tensor x) { return temperature * softplus(x / temperature); };
    const Tensor fees = positive(raw.fees), markups = positive(raw.markups);
    const Tensor slope = sum(fees * graph_.input("fee.slopes", {kRows, tariffs}), {1}) +
                         sum(markups * graph_.input("markup.slopes", {kRows, m, tariffs}), {1, 2});
    const Tensor loss = (mean(slope) + kPull * (pull(raw.fees) + pull(raw.markups))).named("loss");
    nn::Updates updates =
        adam(graph_, recipe.weight_decay)("adam", weights_, gradients(loss, weights_));
    average_weights(graph_, weights_, recipe.averaging, updates);
    variables_.emplace(graph_);
    variables_->initialize(seed, kWeightStream);
    for (const Tensor& weight : weights_) {
      const std::string& name = weight.node().name;
      variables_->set(name, std::span<const double>(start_.tensors.at(name).values));
    }
    offer_.emplace(graph_, *variables_, Computation{{{"fees", fees}, {"markups", markups}}, {}},
                   CompileOptions{.rows = rows});
    descend_.emplace(graph_, *variables_, Computation{{{"loss", loss}}, updates},
                     CompileOptions{.rows = rows});
    const auto cells = static_cast<size_t>(rows * m);
    others_.resize(cells * static_cast<size_t>(features));
    reserve_.resize(cells);
    fees_.resize(rows * tariffs);
    fee_slopes_.resize(fees_.size());
    markups_.resize(cells * tariffs);
    markup_slopes_.resize(markups_.size());
    std::vector<int32_t> bidder;
    for (int64_t row = 0; row < rows; ++row) bidder.push_back(static_cast<int32_t>(row % n));
    offer_->set("bidder", std::span<const int32_t>(bidder));
    descend_->set("bidder", std::span<const int32_t>(bidder));
  }

  void advance(int64_t iterations) override {
    for (int64_t k = 0; k < iterations; ++k) {
      if (iteration_ < before_) {
        base_->advance(1);
        const TrainingNumbers seen = base_->numbers();
        const float none = 0;
        note(seen.revenue, {&none, 1}, seen.loss);
      } else {
        learn_offers();
      }
      ++iteration_;
    }
  }

  std::unique_ptr<Mechanism> mechanism() const override {
    Parameters parameters = start_;
    write_weights(parameters);
    put_base(parameters, base_->mechanism()->parameters());
    return make_mechanism(kind_, polished(parameters));
  }

  std::vector<StoredTensor> state() const override {
    std::vector<StoredTensor> all = CommonTrainer::state();
    for (StoredTensor& each : base_->state()) {
      each.name = kBase + each.name;
      all.push_back(std::move(each));
    }
    return all;
  }

  void restore(const TensorFile& file) override {
    TensorFile own = file, base = file;
    own.tensors.clear();
    base.tensors.clear();
    for (const StoredTensor& each : file.tensors) {
      if (!each.name.starts_with(kBase)) {
        own.tensors.push_back(each);
        continue;
      }
      base.tensors.push_back(each);
      base.tensors.back().name = each.name.substr(kBase.size());
    }
    CommonTrainer::restore(own);
    base_->restore(base);
    hard_ = nullptr;
  }

  double iteration_flops() const override {
    return iteration_ < before_ ? 0 : descend_->matmul_flops();
  }

 private:
  double share() const {
    return static_cast<double>(iteration_ - before_) /
           static_cast<double>(std::max<int64_t>(1, recipe_.iterations - before_));
  }

  void learn_offers() {
    if (!hard_) hard_ = std::make_unique<SizeMaximiser>(base_->mechanism()->parameters());
    const double warmth =
        recipe_.final_temperature * std::pow(kFirstOffer / recipe_.final_temperature, 1 - share());
    const std::span<const float> values = draw_values();
    look(values);
    for (Program* program : {&*offer_, &*descend_}) {
      program->set("others", std::span<const float>(others_));
      program->set("reserve", std::span<const float>(reserve_));
      program->set("temperature", warmth);
    }
    offer_->run();
    offer_->read("fees", std::span<float>(fees_));
    offer_->read("markups", std::span<float>(markups_));
    const double revenue = find_slopes(values, warmth);
    descend_->set("fee.slopes", std::span<const float>(fee_slopes_));
    descend_->set("markup.slopes", std::span<const float>(markup_slopes_));
    descend_->set("rate", nn::cosine_rate(kOfferRate, 0.01 * kOfferRate, 1).at(share()));
    descend_->run();
    const float none = 0;
    note(revenue * views_.unit(), {&none, 1}, -revenue);
  }

  void look(std::span<const float> values) {
    const int64_t size = profile_size();
    parts([&](int64_t begin, int64_t end, int64_t) {
      std::vector<double> bids(static_cast<size_t>(size)), thresholds(bids.size());
      std::vector<uint8_t> wins(bids.size());
      for (int64_t k = begin; k < end; ++k) {
        std::copy_n(values.begin() + k * size, size, bids.begin());
        views_.look(bids.data(), thresholds.data(), wins.data(),
                    others_.data() + k * size * views_.features(), reserve_.data() + k * size);
      }
    });
  }

  template <typename Work>
  void parts(Work work) const {
    const int64_t batch = recipe_.batch;
    default_pool().run((batch + kProfilesPerPart - 1) / kProfilesPerPart, [&](int64_t part) {
      work(part * kProfilesPerPart, std::min(batch, (part + 1) * kProfilesPerPart), part);
    });
  }

  // Slopes of the loss in all that is offered; the mean revenue in units of money.
  double find_slopes(std::span<const float> values, double temperature) {
    std::fill(fee_slopes_.begin(), fee_slopes_.end(), 0.0f);
    std::fill(markup_slopes_.begin(), markup_slopes_.end(), 0.0f);
    const int64_t batch = recipe_.batch, size = profile_size();
    std::vector<double> sums((batch + kProfilesPerPart - 1) / kProfilesPerPart, 0.0);
    parts([&](int64_t begin, int64_t end, int64_t part) {
      TariffChoice choice(*hard_);
      std::vector<double> bids(kLanes * size);
      for (int64_t k = begin; k < end; k += kLanes) {
        const int lanes = static_cast<int>(std::min<int64_t>(kLanes, end - k));
        for (int64_t e = 0; e < lanes * size; ++e) bids[e] = values[k * size + e];
        choice.look(lanes, bids.data());
        for (int i = 0; i < setting_.bidders(); ++i) {
          sums[part] += slopes_of(choice, i, k, lanes, bids.data(), temperature);
        }
      }
    });
    double revenue = 0.0;
    for (const double sum : sums) revenue += sum;
    return revenue / static_cast<double>(batch);
  }

  struct Option {
    int64_t tariff;
    double gain, worth;  // after the fee, and what the items are worth
    std::vector<int> items;
  };

  // Of one bidder of some profiles; what they pay in units of money.
  double slopes_of(TariffChoice& choice, int i, int64_t profile, int lanes, const double* bids,
                   double temperature) {
    const int n = setting_.bidders(), m = setting_.items();
    const int64_t tariffs = recipe_.tariffs;
    const double unit = views_.unit();
    std::vector<Option> options[kLanes];
    std::vector<double> markups(static_cast<size_t>(m) * kLanes);
    const auto row = [&](int l) { return (profile + l) * n + i; };
    for (int64_t k = 0; k < tariffs; ++k) {
      for (int l = 0; choice.markups() && l < lanes; ++l) {
        for (int j = 0; j < m; ++j) {
          markups[j * kLanes + l] = unit * markups_[(row(l) * m + j) * tariffs + k];
        }
      }
      choice.consider(i, markups.data());
      for (int l = 0; l < lanes; ++l) {
        const int best = choice.best_number(l);
        for (int own = 1; own <= m; ++own) {
          if (own != best && !choice.markups()) continue;
          const double gain = choice.gain(own, l) / unit - fees_[row(l) * tariffs + k];
          if (gain <
              choice.gain(best, l) / unit - fees_[row(l) * tariffs + k] - kReach * temperature) {
            continue;
          }
          Option option{k, gain, 0.0, {}};
          choice.each_item(own, l, [&](int j) {
            option.worth += bids[(int64_t{l} * n + i) * m + j] / unit;
            option.items.push_back(j);
          });
          options[l].push_back(std::move(option));
        }
      }
    }
    double paid = 0.0;
    for (int l = 0; l < lanes; ++l) paid += choose(options[l], row(l), temperature);
    return paid;
  }

  // Nothing is an option too, and gains nothing.
  double choose(const std::vector<Option>& options, int64_t row, double temperature) {
    const int64_t tariffs = recipe_.tariffs, m = setting_.items();
    double most = 0.0, sum = 0.0, mean = 0.0;
    for (const Option& option : options) most = std::max(most, option.gain);
    std::vector<double> chances;
    for (const Option& option : options) {
      chances.push_back(std::exp((option.gain - most) / temperature));
      sum += chances.back();
    }
    sum += std::exp(-most / temperature);
    for (size_t o = 0; o < options.size(); ++o) {
      chances[o] /= sum;
      mean += chances[o] * (options[o].worth - options[o].gain);
    }
    for (size_t o = 0; o < options.size(); ++o) {
      const double pay = options[o].worth - options[o].gain;
      // Fees and markups lower the gain by as much: of the revenue, and of the loss.
      const auto slope = static_cast<float>(chances[o] * ((pay - mean) / temperature - 1));
      fee_slopes_[row * tariffs + options[o].tariff] += slope;
      for (const int j : options[o].items) {
        markup_slopes_[(row * m + j) * tariffs + options[o].tariff] += slope;
      }
    }
    return mean;
  }

  // As much of the offers as earns most without smoothing, perhaps nothing.
  Parameters polished(const Parameters& parameters) const {
    const std::vector<double> values = design_values(setting_, seed_, kPolishProfiles);
    Parameters best = parameters;
    double most = -1.0;
    for (const double factor : {0.0, 0.5, 0.75, 1.0, 1.25}) {
      Parameters trial = parameters;
      scale_offers(trial, factor);
      const auto made = make_mechanism(kind_, trial);
      Outcome outcome = run(*made, values);
      double earned = 0.0;
      for (const double payment : outcome.payments) earned += payment;
      if (earned > most) most = earned, best = std::move(trial);
    }
    return best;
  }

  static constexpr double kOfferRate = 4e-3;

  Parameters start_;
  TariffViews views_;
  int64_t before_;  // iterations of the base
  std::unique_ptr<ResumableTrainer> base_;
  std::unique_ptr<SizeMaximiser> hard_;  // the base, once learned
  std::optional<Program> offer_, descend_;
  std::vector<float> others_, reserve_;
  std::vector<float> fees_, fee_slopes_, markups_, markup_slopes_;
};

}  // namespace

Parameters fresh_ama_tariffs(const MechanismKind& kind, const Setting& setting, TariffSize size,
                             uint64_t seed) {
  size.levels = size.fees_of_items = false;
  Parameters parameters = fresh_tariffs(kind, setting, size, seed);
  const BoostShape shape(setting);
  put_base(parameters, shape.parameters(kind.name, setting, shape.start(setting)));
  const auto set = [&](const char* name, double first, double last) {
    std::vector<double>& values = parameters.tensors.at(name).values;
    const double steps = std::max<double>(1.0, static_cast<double>(values.size()) - 1.0);
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = first + (last - first) * static_cast<double>(k) / steps;
    }
  };
  set("fee.bias", kFirstOffer, 0.0);
  set("markup.bias", 0.0, kFirstOffer);
  for (const char* head : {"share", "fee.weight", "markup.weight"}) set(head, 0.0, 0.0);
  return parameters;
}

std::unique_ptr<ResumableTrainer> ama_tariff_trainer(const MechanismKind& kind,
                                                     const Setting& setting, const Recipe& recipe,
                                                     uint64_t seed) {
  return std::make_unique<AmaTariffTrainer>(kind, setting, recipe, seed);
}

}  // namespace agora::auctions
