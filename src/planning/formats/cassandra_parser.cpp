#include "planning/formats/cassandra_parser.h"

#include <agora/planning/builder.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "planning/model/text.h"

namespace agora::planning {
namespace {

constexpr int32_t kAny = CassandraRewards::kAny;
// The format is dense by nature; beyond these sizes CSV or DRN are the formats to use.
constexpr int64_t kMostRows = 20'000'000;
constexpr int64_t kMostEntries = 200'000'000;

bool is_word(std::string_view text) { return text != ":" && text != "*"; }

}  // namespace

Model CassandraParser::parse() {
  if (empty()) fail(1, "the file is empty, expected 'discount:' or 'states:'");
  read_preamble();
  make_tables();
  while (!at_end()) {
    const Word word = take();
    if (word.text == "start") {
      const bool plain = peek().text == ":";
      const std::string form = plain ? "" : std::string(take().text);
      if (!form.empty() && form != "include" && form != "exclude") {
        fail(word.line, fmt::format("expected 'start:', 'start include:' or 'start exclude:', "
                                    "found 'start {}'",
                                    form));
      }
      expect_colon("start");
      read_start(form, word.line);
    } else if (word.text == "T") {
      read_table(transitions_, states_, "T:");
    } else if (word.text == "O") {
      if (observations_.count == 0) fail(word.line, "O: without 'observations:'");
      read_table(seen_, observations_, "O:");
    } else if (word.text == "R") {
      read_rewards();
    } else {
      fail(word.line, fmt::format("expected T:, R:, O: or start:, found '{}'", word.text));
    }
  }
  return build();
}

void CassandraParser::read_preamble() {
  while (!at_end()) {
    const Word word = peek();
    if (word.text == "T" || word.text == "R" || word.text == "O" || word.text == "start") break;
    take();
    if (word.text != "discount" && word.text != "values" && word.text != "states" &&
        word.text != "actions" && word.text != "observations") {
      fail(word.line, fmt::format("expected discount:, values:, states:, actions: or "
                                  "observations:, found '{}'",
                                  word.text));
    }
    expect_colon(std::string(word.text).c_str());
    if (word.text == "discount") {
      discount_ = read_number("a discount");
      if (!(discount_ >= 0 && discount_ <= 1)) {
        fail(word.line, fmt::format("the discount is {}, expected 0 to 1", discount_));
      }
    } else if (word.text == "values") {
      const Word kind = take();
      if (kind.text != "reward" && kind.text != "cost") {
        fail(kind.line, fmt::format("expected 'reward' or 'cost', found '{}'", kind.text));
      }
      sign_ = kind.text == "cost" ? -1.0 : 1.0;
    } else {
      read_names(word.text == "states"    ? states_
                 : word.text == "actions" ? actions_
                                          : observations_);
    }
  }
  const int64_t line = next_line();
  if (states_.count == 0) fail(line, "the model is empty: no 'states:' before this line");
  if (actions_.count == 0) fail(line, "the model is empty: no 'actions:' before this line");
}

// A count, or names until the next rule.
void CassandraParser::read_names(Names& names) {
  const int64_t line = next_line();
  if (names.count != 0) fail(line, fmt::format("{}s are given twice", names.what));
  std::vector<Word> given;
  while (!at_keyword()) given.push_back(take());
  if (given.empty()) fail(line, fmt::format("expected a number or names of {}s", names.what));
  if (given.size() == 1 && to_number(given[0].text)) {
    const auto count = to_index(given[0].text);
    if (!count || *count == 0) {
      fail(given[0].line,
           fmt::format("expected a number of {}s, found '{}'", names.what, given[0].text));
    }
    names.count = *count;
    return;
  }
  for (const Word& word : given) {
    if (!is_word(word.text)) {
      fail(word.line, fmt::format("expected the name of a {}, found '{}'", names.what, word.text));
    }
    if (!names.index.emplace(word.text, names.count++).second) {
      fail(word.line, fmt::format("the {} '{}' is named twice", names.what, word.text));
    }
    names.names.emplace_back(word.text);
  }
}

void CassandraParser::make_tables() {
  const int64_t rows = int64_t{states_.count} * actions_.count;
  if (rows > kMostRows) {
    fail(1, fmt::format("{} states and {} actions are too many for this format (use CSV or DRN)",
                        states_.count, actions_.count));
  }
  for (Table* table : {&transitions_, &seen_}) {
    if (table == &seen_ && observations_.count == 0) continue;
    table->rows.resize(static_cast<size_t>(rows));
    table->lines.resize(static_cast<size_t>(rows));
  }
}

int32_t CassandraParser::resolve(const Names& names, const Word& word) const {
  if (const auto found = names.index.find(word.text); found != names.index.end()) {
    return found->second;
  }
  if (const auto number = to_index(word.text)) {
    if (*number < names.count) return *number;
    fail(word.line,
         fmt::format("{} {} does not exist, there are {}", names.what, *number, names.count));
  }
  fail(word.line,
       fmt::format("unknown {} '{}'{}", names.what, word.text, suggestion(word.text, names.names)));
}

int32_t CassandraParser::read_reference(const Names& names) {
  const Word word = take();
  return word.text == "*" ? kAny : resolve(names, word);
}

double CassandraParser::read_number(const char* what) {
  const Word word = take();
  const auto value = to_number(word.text);
  if (!value) fail(word.line, fmt::format("expected {}, found '{}'", what, word.text));
  if (!std::isfinite(*value)) {
    fail(word.line, fmt::format("expected {}, found {}: not a finite number", what, word.text));
  }
  return *value;
}

double CassandraParser::read_probability() {
  const int64_t line = next_line();
  const double value = read_number("a probability");
  if (value < 0 || value > 1) fail(line, fmt::format("{} is not a probability", value));
  return value;
}

void CassandraParser::read_start(const std::string& form, int64_t line) {
  std::vector<Word> given;
  while (!at_keyword()) given.push_back(take());
  if (given.empty()) fail(line, "expected states or probabilities after 'start'");
  const size_t count = static_cast<size_t>(states_.count);
  start_.assign(count, form == "exclude" ? 1.0 : 0.0);
  if (!form.empty()) {
    for (const Word& word : given) {
      start_[static_cast<size_t>(resolve(states_, word))] = form == "exclude" ? 0.0 : 1.0;
    }
  } else if (given.size() == 1 && given[0].text == "uniform") {
    start_.assign(count, 1.0);
  } else if (given.size() == 1 && (count > 1 || !to_number(given[0].text))) {
    start_[static_cast<size_t>(resolve(states_, given[0]))] = 1.0;
  } else {
    if (given.size() != count) {
      fail(line, fmt::format("{} starting probabilities for {} states", given.size(), count));
    }
    for (size_t s = 0; s < count; ++s) {
      const auto value = to_number(given[s].text);
      if (!value || !(*value >= 0 && *value <= 1)) {
        fail(given[s].line, fmt::format("expected a probability, found '{}'", given[s].text));
      }
      start_[s] = *value;
    }
  }
  double sum = 0;
  for (const double p : start_) sum += p;
  if (sum == 0) fail(line, "no state is left to start in");
  const bool distribution = form.empty() && given.size() == count && count > 1;
  if (distribution && std::abs(sum - 1) > 1e-5) {
    fail(line, fmt::format("the starting probabilities sum to {}, expected 1", sum));
  }
  for (double& p : start_) p /= sum;
}

template <typename Body>
void CassandraParser::for_each(int32_t reference, int32_t count, Body body) const {
  if (reference != kAny) return body(reference);
  for (int32_t i = 0; i < count; ++i) body(i);
}

void CassandraParser::set_row(Table& table, int32_t action, int32_t state, SparseRow row,
                              int64_t line) {
  const size_t at =
      static_cast<size_t>(action) * static_cast<size_t>(states_.count) + static_cast<size_t>(state);
  table.entries += static_cast<int64_t>(row.size()) - static_cast<int64_t>(table.rows[at].size());
  if (table.entries > kMostEntries) fail(line, "too many probabilities (use CSV or DRN)");
  table.rows[at] = std::move(row);
  table.lines[at] = line;
}

void CassandraParser::set(Table& table, int32_t action, int32_t state, int32_t column,
                          double probability, int64_t line) {
  const size_t at =
      static_cast<size_t>(action) * static_cast<size_t>(states_.count) + static_cast<size_t>(state);
  SparseRow& row = table.rows[at];
  table.lines[at] = line;
  const auto place = std::lower_bound(row.begin(), row.end(), column,
                                      [](const auto& entry, int32_t c) { return entry.first < c; });
  if (place != row.end() && place->first == column) {
    place->second = probability;
  } else if (probability > 0) {
    row.insert(place, {column, probability});
    if (++table.entries > kMostEntries) fail(line, "too many probabilities (use CSV or DRN)");
  }
}

// T: and O: with one, two or three parts before the numbers.
void CassandraParser::read_table(Table& table, const Names& columns, const char* what) {
  expect_colon(what);
  const int64_t line = next_line();
  const int32_t action = read_reference(actions_);
  const auto for_rows = [&](int32_t state, auto body) {
    for_each(action, actions_.count,
             [&](int32_t a) { for_each(state, states_.count, [&](int32_t s) { body(a, s); }); });
  };
  const auto read_row = [&] {
    SparseRow row;
    for (int32_t column = 0; column < columns.count; ++column) {
      if (const double p = read_probability(); p > 0) row.emplace_back(column, p);
    }
    return row;
  };
  const auto uniform_row = [&] {
    SparseRow row;
    for (int32_t column = 0; column < columns.count; ++column) {
      row.emplace_back(column, 1.0 / columns.count);
    }
    return row;
  };
  if (peek().text != ":") {  // a matrix
    const std::string_view word = peek().text;
    if (word == "identity") {
      if (columns.count != states_.count) {
        fail(peek().line, "identity needs as many observations as states");
      }
      take();
      for_rows(kAny, [&](int32_t a, int32_t s) { set_row(table, a, s, {{s, 1.0}}, line); });
    } else if (word == "uniform") {
      take();
      const SparseRow row = uniform_row();
      for_rows(kAny, [&](int32_t a, int32_t s) { set_row(table, a, s, row, line); });
    } else {
      for (int32_t s = 0; s < states_.count; ++s) {
        const int64_t row_line = next_line();
        const SparseRow row = read_row();
        for_each(action, actions_.count, [&](int32_t a) { set_row(table, a, s, row, row_line); });
      }
    }
    return;
  }
  take();
  const int32_t state = read_reference(states_);
  if (peek().text != ":") {  // a row
    SparseRow row;
    if (peek().text == "uniform") {
      take();
      row = uniform_row();
    } else if (peek().text == "reset" && &table == &transitions_) {
      if (start_.empty()) fail(peek().line, "reset needs a 'start:' before it");
      take();
      for (int32_t s = 0; s < states_.count; ++s) {
        if (start_[static_cast<size_t>(s)] > 0) row.emplace_back(s, start_[static_cast<size_t>(s)]);
      }
    } else {
      row = read_row();
    }
    for_rows(state, [&](int32_t a, int32_t s) { set_row(table, a, s, row, line); });
    return;
  }
  take();
  const int32_t column = read_reference(columns);
  const double probability = read_probability();
  for_rows(state, [&](int32_t a, int32_t s) {
    for_each(column, columns.count, [&](int32_t c) { set(table, a, s, c, probability, line); });
  });
}

// R: action : state : next : observation; the parts left out come as rows and matrices.
// Without observations the last part does not exist.
void CassandraParser::read_rewards() {
  expect_colon("R:");
  const bool observed = observations_.count > 0;
  const size_t parts = observed ? 4 : 3;
  std::vector<int32_t> given{read_reference(actions_)};
  while (given.size() < parts && peek().text == ":") {
    take();
    given.push_back(read_reference(given.size() < 3 ? states_ : observations_));
  }
  if (peek().text == ":") fail(peek().line, fmt::format("R: takes at most {} parts", parts));
  const size_t missing = parts - given.size();
  if (missing > 2) fail(peek().line, "R: needs at least an action and a state before its numbers");
  given.resize(4, kAny);
  const int32_t last_count = observed ? observations_.count : states_.count;
  const int32_t before_count = missing == 2 ? states_.count : 1;
  for (int32_t i = 0; i < before_count; ++i) {
    if (missing == 2) given[parts - 2] = i;
    for (int32_t j = 0; j < (missing > 0 ? last_count : 1); ++j) {
      if (missing > 0) given[parts - 1] = j;
      const double reward = sign_ * read_number("a reward");
      rewards_.add(given[0], given[1], given[2], given[3], reward);
    }
  }
}

std::string CassandraParser::name(const Names& names, int32_t index) const {
  return names.names.empty() ? std::to_string(index) : names.names[static_cast<size_t>(index)];
}

Model CassandraParser::build() {
  ModelBuilder builder;
  builder.reserve(states_.count, actions_.count);
  builder.discount(discount_);
  builder.absorbing_as_terminal();
  for (int32_t s = 0; s < states_.count; ++s) {
    for (int32_t a = 0; a < actions_.count; ++a) {
      const size_t row =
          static_cast<size_t>(a) * static_cast<size_t>(states_.count) + static_cast<size_t>(s);
      const int64_t line = transitions_.lines[row];
      if (line == 0) {
        fail(last_line(), fmt::format("no T: gives the action '{}' in the state '{}'",
                                      name(actions_, a), name(states_, s)));
      }
      double sum = 0;
      for (const auto& [next, probability] : transitions_.rows[row]) sum += probability;
      if (std::abs(sum - 1) > 1e-5) {
        fail(line, fmt::format("the probabilities of the action '{}' in the state '{}' sum to {}, "
                               "expected 1",
                               name(actions_, a), name(states_, s), sum));
      }
      for (const auto& [next, probability] : transitions_.rows[row]) {
        if (probability == 0) continue;
        SparseRow nothing_seen;
        const SparseRow& seen =
            rewards_.by_observation()
                ? seen_.rows[static_cast<size_t>(a) * static_cast<size_t>(states_.count) +
                             static_cast<size_t>(next)]
                : nothing_seen;
        builder.add(s, a, next, probability, rewards_.reward(a, s, next, seen), line);
      }
    }
  }
  if (start_.empty()) {  // nothing said means uniform
    start_.assign(static_cast<size_t>(states_.count), 1.0 / states_.count);
  }
  for (int32_t s = 0; s < states_.count; ++s) {
    if (start_[static_cast<size_t>(s)] > 0) builder.start(s, start_[static_cast<size_t>(s)]);
  }
  Model model = builder.build();
  if (!states_.names.empty()) model.set_state_names(states_.names);
  if (!actions_.names.empty()) model.set_action_names(actions_.names);
  return model;
}

}  // namespace agora::planning
