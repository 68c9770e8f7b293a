// Laws made of points, of tables or of other laws.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "auctions/distribution.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

class Discrete : public Distribution {
 public:
  Discrete(std::vector<Atom> atoms, std::string text)
      : atoms_(std::move(atoms)), text_(std::move(text)) {
    double sum = 0.0;
    for (const Atom& atom : atoms_) cumulative_.push_back(sum += atom.probability);
    for (double& share : cumulative_) share /= sum;
    for (Atom& atom : atoms_) atom.probability /= sum;
  }
  std::string text() const override { return text_; }
  Interval support() const override { return {atoms_.front().value, atoms_.back().value}; }
  double mean() const override {
    double sum = 0.0;
    for (const Atom& atom : atoms_) sum += atom.value * atom.probability;
    return sum;
  }
  double cdf(double x) const override {
    const auto after = std::upper_bound(atoms_.begin(), atoms_.end(), x,
                                        [](double y, const Atom& atom) { return y < atom.value; });
    return after == atoms_.begin() ? 0.0 : cumulative_[after - atoms_.begin() - 1];
  }
  double density(double) const override { return 0.0; }
  double quantile(double q) const override {
    const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end(), q);
    return atoms_[std::min<size_t>(found - cumulative_.begin(), atoms_.size() - 1)].value;
  }
  double sample(Rng& rng) const override {  // uniform() < cumulative_.back() always
    const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), rng.uniform());
    return atoms_[std::min<size_t>(found - cumulative_.begin(), atoms_.size() - 1)].value;
  }
  const std::vector<Atom>& atoms() const override { return atoms_; }

 private:
  std::vector<Atom> atoms_;
  std::vector<double> cumulative_;
  std::string text_;
};

std::vector<Atom> merged(std::vector<Atom> atoms) {
  std::sort(atoms.begin(), atoms.end(),
            [](const Atom& a, const Atom& b) { return a.value < b.value; });
  std::vector<Atom> result;
  for (const Atom& atom : atoms) {
    if (!result.empty() && result.back().value == atom.value) {
      result.back().probability += atom.probability;
    } else {
      result.push_back(atom);
    }
  }
  return result;
}

class Mixture : public Distribution {
 public:
  explicit Mixture(std::vector<std::pair<double, Law>> parts) : parts_(std::move(parts)) {
    double total = 0.0;
    for (const auto& [weight, law] : parts_) total += weight;
    for (auto& [weight, law] : parts_) weight /= total;
    bool all_discrete = true;
    for (const auto& [weight, law] : parts_) {
      all_discrete = all_discrete && !law->atoms().empty();
      for (const Atom& atom : law->atoms()) {
        atoms_.push_back({atom.value, weight * atom.probability});
      }
    }
    atoms_ = merged(std::move(atoms_));
    if (!all_discrete && !atoms_.empty()) {
      throw user_error("mix: cannot mix discrete and continuous laws");
    }
  }
  std::string text() const override {
    std::string result = "mix(";
    for (const auto& [weight, law] : parts_) {
      result += fmt::format("{}{} {}", result.size() > 4 ? "," : "", weight, law->text());
    }
    return result + ")";
  }
  Interval support() const override {
    Interval all = parts_[0].second->support();
    for (size_t k = 1; k < parts_.size(); ++k) {  // each once: mixtures may hold mixtures
      const Interval own = parts_[k].second->support();
      all = {std::min(all.low, own.low), std::max(all.high, own.high)};
    }
    return all;
  }
  double mean() const override {
    return sum([](const Distribution& law) { return law.mean(); });
  }
  double cdf(double x) const override {
    return sum([x](const Distribution& law) { return law.cdf(x); });
  }
  double density(double x) const override {
    return sum([x](const Distribution& law) { return law.density(x); });
  }
  double sample(Rng& rng) const override {
    double left = rng.uniform();
    for (const auto& [weight, law] : parts_) {
      if ((left -= weight) < 0.0) return law->sample(rng);
    }
    return parts_.back().second->sample(rng);
  }
  const std::vector<Atom>& atoms() const override { return atoms_; }
  std::vector<double> breakpoints() const override {
    std::vector<double> points;
    for (const auto& [weight, law] : parts_) {
      for (double point : law->breakpoints()) points.push_back(point);
      points.push_back(law->support().low);
      if (std::isfinite(law->support().high)) points.push_back(law->support().high);
    }
    return points;
  }
  Law at(double time) const override {
    std::vector<std::pair<double, Law>> parts = parts_;
    bool changed = false;
    for (auto& [weight, law] : parts) {
      if (Law moved = law->at(time)) changed = true, law = moved;
    }
    return changed ? std::make_shared<Mixture>(parts) : nullptr;
  }

 private:
  template <typename Value>
  double sum(Value value) const {
    double total = 0.0;
    for (const auto& [weight, law] : parts_) total += weight * value(*law);
    return total;
  }
  std::vector<std::pair<double, Law>> parts_;
  std::vector<Atom> atoms_;
};

class Tabulated : public Distribution {
 public:
  Tabulated(std::vector<double> points, std::vector<double> cdf, std::string text)
      : points_(std::move(points)), cdf_(std::move(cdf)), text_(std::move(text)) {
    CHECK(points_.size() == cdf_.size() && points_.size() >= 2, "{} points", points_.size());
    for (double& share : cdf_) share = std::clamp(share / cdf_.back(), 0.0, 1.0);
  }
  std::string text() const override { return text_; }
  Interval support() const override { return {points_.front(), points_.back()}; }
  double mean() const override {
    double sum = 0.0;
    for (size_t k = 1; k < points_.size(); ++k) {
      sum += (cdf_[k] - cdf_[k - 1]) * 0.5 * (points_[k] + points_[k - 1]);
    }
    return sum;
  }
  double cdf(double x) const override {
    if (x <= points_.front()) return 0.0;
    if (x >= points_.back()) return 1.0;
    const size_t k = cell(x);
    return cdf_[k] + (cdf_[k + 1] - cdf_[k]) * (x - points_[k]) / (points_[k + 1] - points_[k]);
  }
  double density(double x) const override {
    if (x < points_.front() || x >= points_.back()) return 0.0;
    const size_t k = cell(x);
    return (cdf_[k + 1] - cdf_[k]) / (points_[k + 1] - points_[k]);
  }
  double quantile(double q) const override {
    size_t k = std::lower_bound(cdf_.begin(), cdf_.end(), q) - cdf_.begin();
    if (k == 0) return points_[0];
    k = std::min(k, points_.size() - 1);
    const double share = (q - cdf_[k - 1]) / (cdf_[k] - cdf_[k - 1]);
    return points_[k - 1] + share * (points_[k] - points_[k - 1]);
  }

 private:
  size_t cell(double x) const {
    return std::upper_bound(points_.begin(), points_.end(), x) - points_.begin() - 1;
  }
  std::vector<double> points_, cdf_;
  std::string text_;
};

}  // namespace

Law discrete(std::vector<Atom> atoms) {
  if (atoms.empty()) throw user_error("discrete: expected at least one value");
  std::string text = "discrete(";
  double sum = 0.0;
  for (const Atom& atom : atoms) {
    if (!(atom.value >= 0.0) || std::isinf(atom.value)) {
      throw user_error("discrete: expected values of at least 0, found {}", atom.value);
    }
    if (!(atom.probability > 0.0) || std::isinf(atom.probability)) {
      throw user_error("discrete: expected positive probabilities, found {}", atom.probability);
    }
    sum += atom.probability;
  }
  if (std::abs(sum - 1.0) > 1e-6) {
    throw user_error("discrete: expected probabilities that add up to 1, found {}", sum);
  }
  atoms = merged(std::move(atoms));
  for (const Atom& atom : atoms) {
    text += fmt::format("{}{}:{}", text.size() > 9 ? "," : "", atom.value, atom.probability);
  }
  return std::make_shared<Discrete>(std::move(atoms), text + ")");
}

Law empirical(std::vector<double> values, std::string text) {
  CHECK(!values.empty(), "no values");
  std::vector<Atom> atoms;
  for (double value : values) atoms.push_back({value, 1.0 / static_cast<double>(values.size())});
  return std::make_shared<Discrete>(merged(std::move(atoms)), std::move(text));
}

Law mixture(std::vector<std::pair<double, Law>> parts) {
  if (parts.empty()) throw user_error("mix: expected at least one law");
  for (const auto& [weight, law] : parts) {
    if (!(weight > 0.0) || std::isinf(weight)) {
      throw user_error("mix: expected positive weights, found {}", weight);
    }
  }
  return std::make_shared<Mixture>(std::move(parts));
}

Law tabulated(std::vector<double> points, std::vector<double> cdf, std::string text) {
  return std::make_shared<Tabulated>(std::move(points), std::move(cdf), std::move(text));
}

}  // namespace agora::auctions
