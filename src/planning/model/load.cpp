#include <agora/planning/load.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "base/error.h"
#include "planning/formats/format.h"
#include "planning/model/text.h"
#include "planning/models/builtin.h"

namespace agora::planning {
namespace {

std::string listing() {
  std::string all;
  for (const Format& format : formats()) {
    all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", format.name,
                       fmt::join(format.extensions, " "));
  }
  return all;
}

State named_state(const Model& model, const std::string& name) {
  const State s = model.find_state(name);
  if (s != kNone) return s;
  if (!model.grid().empty()) {
    throw user_error(
        "start: unknown state '{}'; a cell is ROW,COLUMN from 0,0 to {},{} and no wall", name,
        model.grid().rows - 1, model.grid().cols - 1);
  }
  std::vector<std::string> names;
  for (State i = 0; i < std::min(model.states(), 1000); ++i) names.push_back(model.state_name(i));
  throw user_error("start: unknown state '{}'{}; the first one is '{}'", name,
                   suggestion(name, names), names[0]);
}

// "NAME", "uniform" (over the states that do not end), or "NAME:P NAME:P ...".
std::vector<Start> parse_start(const Model& model, const std::string& text) {
  if (model.find_state(text) != kNone) return {{model.find_state(text), 1.0}};
  std::vector<Start> starts;
  if (text == "uniform") {
    for (State s = 0; s < model.states(); ++s) {
      if (!model.terminal(s)) starts.push_back({s, 1.0});
    }
    if (starts.empty()) throw user_error("start: every state is terminal");
    for (Start& start : starts) start.probability /= static_cast<double>(starts.size());
    return starts;
  }
  const std::vector<std::string_view> parts = words(text);
  if (parts.size() < 2 && text.find(':') == text.npos) return {{named_state(model, text), 1.0}};
  double sum = 0;
  for (const std::string_view part : parts) {
    const size_t colon = part.rfind(':');
    const auto p = colon == part.npos ? std::nullopt : to_number(part.substr(colon + 1));
    if (!p || !(*p >= 0 && *p <= 1)) {
      throw user_error("start: expected NAME:PROBABILITY, found '{}'", part);
    }
    starts.push_back({named_state(model, std::string(part.substr(0, colon))), *p});
    sum += *p;
  }
  if (!(std::abs(sum - 1) <= 1e-5)) {
    throw user_error("start: the probabilities sum to {}, expected 1", sum);
  }
  return starts;
}

}  // namespace

bool looks_like_file(const std::string& source) {
  std::error_code ignored;
  if (std::filesystem::exists(source, ignored)) return true;
  if (source.find('(') != source.npos) return false;
  return source.find('/') != source.npos || source.find('.') != source.npos;
}

const Format& find_format(const std::string& name, const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  std::vector<std::string> names;
  for (const Format& format : formats()) {
    names.push_back(format.name);
    if (name.empty() ? std::find(format.extensions.begin(), format.extensions.end(), extension) !=
                           format.extensions.end()
                     : format.name == name) {
      return format;
    }
  }
  if (!name.empty()) {
    throw user_error("unknown format '{}'{}; the formats are {}", name, suggestion(name, names),
                     listing());
  }
  throw user_error("{}: no format has the extension '{}'; name one of the formats: {}",
                   file.string(), extension, listing());
}

UserError at_line(const std::filesystem::path& file, const ModelError& error) {
  const std::string place =
      error.line() == 0 ? file.string() : fmt::format("{}:{}", file.string(), error.line());
  const std::string other =
      error.other_line() == 0 ? "" : fmt::format(" (the other in line {})", error.other_line());
  return user_error("{}: {}{}", place, error.what(), other);
}

void refuse_map_rules(const std::string& source, const LoadOptions& options) {
  if (options.grid == GridRules{}) return;
  if (looks_like_file(source) && find_format(options.format, source).name == "map") return;
  throw user_error(
      "{}: rewards of steps, goals and pits and the slip are rules of map files; this is none",
      source);
}

Model load(const std::string& source, const LoadOptions& options) {
  refuse_map_rules(source, options);
  const auto read = [&] {
    if (!looks_like_file(source)) return make_builtin(source);
    try {
      return find_format(options.format, source).read(source, options);
    } catch (const std::bad_alloc&) {
      throw user_error("{}: the model does not fit into this machine's memory", source);
    }
  };
  Model model = read();
  if (options.discount) model.set_discount(*options.discount);
  if (!options.start.empty()) model.set_start(parse_start(model, options.start));
  return model;
}

std::vector<std::string> save(const Model& model, const std::filesystem::path& file,
                              const std::string& format) {
  const Format& chosen = find_format(format, file);
  if (!chosen.write) {
    throw user_error("{}: models cannot be written as {}; use csv or drn", file.string(),
                     chosen.name);
  }
  return chosen.write(model, file);
}

}  // namespace agora::planning
