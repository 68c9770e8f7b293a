#pragma once
#include <agora/planning/model.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "planning/formats/cassandra_rewards.h"
#include "planning/formats/cassandra_words.h"

namespace agora::planning {

// Tony Cassandra's .mdp and .pomdp files, from the first word to the last. Rules given later
// replace earlier ones. Observations only matter where a reward depends on them.
class CassandraParser : private CassandraWords {
 public:
  explicit CassandraParser(const std::filesystem::path& file) : CassandraWords(file) {}
  Model parse();

 private:
  // states, actions or observations
  struct Names {
    const char* what;  // "state", for messages
    int32_t count = 0;
    std::vector<std::string> names = {};  // empty: only numbers
    std::unordered_map<std::string_view, int32_t> index = {};
  };
  using SparseRow = std::vector<std::pair<int32_t, double>>;  // ascending columns
  // One row of probabilities per (action, state).
  struct Table {
    std::vector<SparseRow> rows = {};  // (actions * states)
    std::vector<int64_t> lines = {};   // where each row was given last; 0: nowhere
    int64_t entries = 0;
  };

  void read_preamble();
  void read_names(Names& names);
  void read_start(const std::string& form, int64_t line);
  void read_table(Table& table, const Names& columns, const char* what);
  void read_rewards();
  void make_tables();

  int32_t read_reference(const Names& names);
  int32_t resolve(const Names& names, const Word& word) const;
  double read_number(const char* what);
  double read_probability();
  void set(Table& table, int32_t action, int32_t state, int32_t column, double probability,
           int64_t line);
  void set_row(Table& table, int32_t action, int32_t state, SparseRow row, int64_t line);
  template <typename Body>
  void for_each(int32_t reference, int32_t count, Body body) const;
  std::string name(const Names& names, int32_t index) const;
  Model build();

  Names states_{"state"}, actions_{"action"}, observations_{"observation"};
  double discount_ = 1.0;
  double sign_ = 1.0;  // -1 for values: cost
  std::vector<double> start_;
  Table transitions_, seen_;
  CassandraRewards rewards_;
};

}  // namespace agora::planning
