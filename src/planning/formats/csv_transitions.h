#pragma once
#include <string_view>
#include <vector>

#include "base/csv.h"

namespace agora::planning {

inline const std::vector<std::string>& transition_columns() {
  static const std::vector<std::string> columns{"state", "action", "next_state", "probability",
                                                "reward"};
  return columns;
}

// The rows of a transition table: transition(state, action, next state, probability, reward), and
// end(state, reward) for a terminal state's. Stops when one of them returns false. False: no rows.
template <typename Transition, typename End>
bool read_transitions(CsvReader& reader, Transition&& transition, End&& end) {
  const std::vector<size_t> at = reader.require(transition_columns());
  reader.allow_only(transition_columns());
  bool any = false;
  while (reader.next()) {
    any = true;
    if (reader.empty(at[0])) throw reader.expected(at[0], "the name of a state");
    if (reader.empty(at[1]) && reader.empty(at[2])) {
      if (!end(reader.text(at[0]), reader.number(at[4]))) break;
      continue;
    }
    if (reader.empty(at[1])) throw reader.expected(at[1], "the name of an action");
    if (reader.empty(at[2])) throw reader.expected(at[2], "the name of a state");
    if (!transition(reader.text(at[0]), reader.text(at[1]), reader.text(at[2]),
                    reader.number(at[3]), reader.number(at[4]))) {
      break;
    }
  }
  return any;
}

}  // namespace agora::planning
