#include "report/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace agora::report {
namespace {

constexpr double kLargest = 1e300;

std::string with_minus(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

std::string superscript(int exponent) {
  constexpr std::string_view kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string result;
  for (const char c : std::to_string(exponent))
    result += c == '-' ? std::string_view("⁻") : kDigits[c - '0'];
  return result;
}

std::vector<Tick> linear_ticks(const AxisScale& scale, int wanted) {
  const double span = scale.high() - scale.low();
  const double rough = span / std::max(wanted, 1);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  if (scale.whole()) step = std::max(step, 1.0);
  std::vector<double> values;
  const double first = std::ceil(scale.low() / step - 1e-9);
  for (int i = 0; i < 100; ++i) {
    const double value = (first + i) * step;
    if (value > scale.high() + step * 1e-9) break;
    values.push_back(value);
  }
  const double largest = std::max(std::abs(scale.low()), std::abs(scale.high()));
  // One unit for all labels, so that they can be compared at a glance.
  double unit = 1;
  std::string_view suffix = "";
  bool scientific = false;
  if (largest >= 1e13 || largest < 1e-3) {
    scientific = true;
  } else if (largest >= 1e4) {
    constexpr std::pair<double, std::string_view> kUnits[] = {
        {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    for (const auto& [size, name] : kUnits)
      if (largest >= size) {
        unit = size;
        suffix = name;
        break;
      }
  }
  const int decimals =
      std::clamp(static_cast<int>(-std::floor(std::log10(step / unit) + 1e-9)), 0, 12);
  std::vector<Tick> result;
  for (const double value : values) {
    std::string label;
    if (std::abs(value) < step * 1e-6)
      label = "0";
    else if (scientific)
      label = with_minus(fmt::format("{:.3g}", value));
    else
      label = with_minus(fmt::format("{:.{}f}", value / unit, decimals)) + std::string(suffix);
    result.push_back({scale(value), label});
  }
  return result;
}

std::vector<Tick> log_ticks(const AxisScale& scale, int wanted) {
  const double low = std::log10(scale.low()), high = std::log10(scale.high());
  const int first = static_cast<int>(std::ceil(low - 1e-9));
  const int last = static_cast<int>(std::floor(high + 1e-9));
  std::vector<Tick> result;
  if (last - first < 1) {  // less than two powers of ten in sight
    std::vector<double> steps = {1, 2, 5};
    if (high - low < 0.5) steps = {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9};
    for (int exponent = first - 1; exponent <= last + 1; ++exponent)
      for (const double factor : steps) {
        const double value = factor * std::pow(10.0, exponent);
        if (scale.whole() && std::abs(value - std::round(value)) > 1e-9 * value) continue;
        if (value >= scale.low() * (1 - 1e-9) && value <= scale.high() * (1 + 1e-9))
          result.push_back({scale(value), fmt::format("{:.4g}", value)});
      }
    return result;
  }
  int stride = 1;
  for (const int step : {1, 2, 3, 5, 10, 20, 30, 50, 100, 200})
    if (stride = step; (last - first) / step < wanted) break;
  for (int exponent = first; exponent <= last; ++exponent) {
    if (exponent % stride != 0) continue;
    const bool plain = exponent >= -2 && exponent <= 3;
    const double value = std::pow(10.0, exponent);
    result.push_back(
        {scale(value), plain ? fmt::format("{:g}", value) : "10" + superscript(exponent)});
  }
  return result;
}

}  // namespace

bool drawable(double value, bool log) {
  return std::isfinite(value) && std::abs(value) <= kLargest && (!log || value >= 1 / kLargest);
}

void Extent::add(double value, bool log) {
  if (!drawable(value, log)) return;
  low = empty ? value : std::min(low, value);
  high = empty ? value : std::max(high, value);
  empty = false;
  whole = whole && value == std::trunc(value);
}

void Extent::add(const std::vector<double>& values, bool log) {
  for (const double value : values) add(value, log);
}

AxisScale::AxisScale(const Axis& axis, const Extent& data, double padding)
    : log_(axis.log), whole_(data.whole && !data.empty) {
  const bool low_given = axis.low && drawable(*axis.low, log_);
  const bool high_given = axis.high && drawable(*axis.high, log_);
  const auto map = [&](double value) { return log_ ? std::log10(value) : value; };
  double low = map(low_given ? *axis.low : data.empty ? (log_ ? 0.1 : 0.0) : data.low);
  double high = map(high_given ? *axis.high : data.empty ? (log_ ? 10.0 : 1.0) : data.high);
  if (low > high) std::swap(low, high);
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= 1e-9 * size || high == low) {
    const double half = log_ ? 0.5 : size > 1e-290 ? 0.1 * size : 0.5;
    low -= half;
    high += half;
  } else {
    const double margin = padding * (high - low);
    // Data that never crosses zero keeps the axis on its side of it.
    const bool keep_sign = !log_ && low >= 0 && low < margin;
    if (!low_given) low = keep_sign ? 0 : low - margin;
    if (!high_given) high += margin;
  }
  low_ = log_ ? std::pow(10.0, low) : low;
  high_ = log_ ? std::pow(10.0, high) : high;
}

double AxisScale::operator()(double value) const {
  if (log_) return (std::log10(value) - std::log10(low_)) / (std::log10(high_) - std::log10(low_));
  return (value - low_) / (high_ - low_);
}

std::vector<Tick> ticks(const AxisScale& scale, int wanted) {
  return scale.log() ? log_ticks(scale, wanted) : linear_ticks(scale, wanted);
}

}  // namespace agora::report
