#include "planning/petsc/reading.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "base/thread_pool.h"
#include "planning/csv_transitions.h"
#include "planning/drn_parser.h"
#include "planning/file_part.h"
#include "planning/format.h"
#include "planning/text.h"

namespace agora::planning {
namespace {

namespace fs = std::filesystem;

struct Row {
  State state, next;  // next is kNone: a terminal state's reward
  Action action;
  double probability, reward;
  int64_t line;
};

// What one rank has read of a file; numbers of actions and, until they are shared, of states are
// its own.
struct Piece {
  std::vector<Row> rows;
  std::vector<std::string> actions, names;
  std::unordered_map<std::string, Action> action_index;
  std::unordered_map<std::string, State> name_index;

  Action action(std::string_view name) { return index_of(name, action_index, actions); }
  State named(std::string_view name) { return index_of(name, name_index, names); }

 private:
  static int32_t index_of(std::string_view name, std::unordered_map<std::string, int32_t>& index,
                          std::vector<std::string>& names) {
    const auto [found, is_new] =
        index.try_emplace(std::string(name), static_cast<int32_t>(names.size()));
    if (is_new) names.emplace_back(name);
    return found->second;
  }
};

FilePart own_part(const Ranks& ranks, const fs::path& file, std::string_view prefix) {
  FilePart part;
  int64_t lines = 0;
  ranks.together([&] {
    part = file_part(file, ranks.rank(), ranks.size(), prefix);
    lines = lines_of(file, part);
  });
  part.lines_before = ranks.before(lines);
  return part;
}

// Numbers for the actions that all ranks agree on: in the order of the file.
std::vector<std::string> share_actions(const Ranks& ranks, Piece& piece) {
  Piece all;
  for (const std::string& name : ranks.gathered(piece.actions)) all.action(name);
  for (Row& row : piece.rows) {
    if (row.next != kNone) row.action = all.action(piece.actions[static_cast<size_t>(row.action)]);
  }
  return all.actions;
}

// A number for every name, given by the rank that its hash tells; returns the names of the own
// states.
std::vector<std::string> share_names(const Ranks& ranks, Piece& piece, State& first) {
  const size_t size = static_cast<size_t>(ranks.size());
  std::vector<std::vector<char>> text(size);
  std::vector<std::vector<State>> asked(size);  // by rank: local numbers of the names sent there
  for (size_t i = 0; i < piece.names.size(); ++i) {
    const std::string& name = piece.names[i];
    const size_t rank = std::hash<std::string>()(name) % size;
    text[rank].insert(text[rank].end(), name.begin(), name.end());
    text[rank].push_back('\0');
    asked[rank].push_back(static_cast<State>(i));
  }
  std::vector<int> bytes;
  const std::vector<char> came = ranks.exchanged(text, &bytes);
  Piece own;
  std::vector<std::vector<State>> answers(size);
  size_t at = 0;
  for (size_t rank = 0; rank < size; ++rank) {
    for (const size_t end = at + static_cast<size_t>(bytes[rank]); at < end;) {
      const std::string name(came.data() + at);
      answers[rank].push_back(own.named(name));
      at += name.size() + 1;
    }
  }
  first = static_cast<State>(ranks.before(static_cast<int64_t>(own.names.size())));
  for (auto& answer : answers) {
    for (State& number : answer) number += first;
  }
  const std::vector<State> numbers = ranks.exchanged(answers);
  std::vector<State> number_of(piece.names.size());
  size_t k = 0;
  for (const auto& names : asked) {
    for (const State i : names) number_of[static_cast<size_t>(i)] = numbers[k++];
  }
  for (Row& row : piece.rows) {
    row.state = number_of[static_cast<size_t>(row.state)];
    if (row.next != kNone) row.next = number_of[static_cast<size_t>(row.next)];
  }
  return own.names;
}

// Sends every row to the rank of its state, which checks them and keeps them.
ModelPart share_rows(const Ranks& ranks, const fs::path& file, Piece piece, State first, State own,
                     const std::vector<std::string>& names) {
  const std::vector<std::string> actions = share_actions(ranks, piece);
  const std::vector<State> firsts = ranks.gathered(std::vector<State>{first});
  const State total = static_cast<State>(ranks.sum(own));
  std::vector<std::vector<Row>> to(firsts.size());
  for (const Row& row : piece.rows) {
    // Ranks without states share their first one with the rank after them.
    const auto after = std::upper_bound(firsts.begin(), firsts.end(), row.state);
    to[static_cast<size_t>(after - firsts.begin()) - 1].push_back(row);
  }
  piece = {};
  const std::vector<Row> rows = ranks.exchanged(to);
  to = {};

  ModelPart part = make_part(first, own, total, 1, std::vector<State>(static_cast<size_t>(own)),
                             Rewards(0.0), {});
  for (const Row& row : rows) {
    if (row.next != kNone && (row.next < first || row.next >= first + own)) {
      part.ghosts.push_back(row.next);
    }
  }
  std::sort(part.ghosts.begin(), part.ghosts.end());
  part.ghosts.erase(std::unique(part.ghosts.begin(), part.ghosts.end()), part.ghosts.end());
  if (!names.empty()) part.name = [names](State s) { return names[static_cast<size_t>(s)]; };
  bool stochastic = false;
  ranks.together([&] {
    if (own == 0) return;
    ModelBuilder builder;
    builder.reserve(own + static_cast<State>(part.ghosts.size()), 1);
    builder.call_states([&](State s) {
      return s < own ? part.name_of(s)
                     : fmt::format("state {}", part.ghosts[static_cast<size_t>(s - own)]);
    });
    for (const std::string& action : actions) builder.action(action);
    try {
      for (const Row& row : rows) {
        if (row.next == kNone) {
          builder.terminal_reward(row.state - first, row.reward, row.line);
        } else {
          builder.add(row.state - first, row.action, part.local(row.next), row.probability,
                      row.reward, row.line);
        }
      }
      part.model = builder.build();
    } catch (const ModelError& error) {
      throw at_line(file, error);
    }
    stochastic = !part.model.is_deterministic();
  });
  if (ranks.any(stochastic)) {
    throw user_error("several processes share deterministic models only; this one is stochastic");
  }
  return part;
}

// States called 0 ... n-1 keep their numbers. False: they are not called so.
bool read_numbered(const Ranks& ranks, const fs::path& file, const FilePart& bytes, Piece& piece,
                   State& total) {
  std::vector<uint64_t> seen;
  bool numbered = true;
  State last = -1;
  ranks.together([&] {
    // A row takes at least ten bytes and names two states, which bounds their number.
    const int64_t most = static_cast<int64_t>(fs::file_size(file) / 5 + 2);
    CsvReader reader(file, bytes.begin, bytes.end, bytes.lines_before);
    const auto state = [&](std::string_view text) -> State {
      const auto number = to_index(text);
      if (!number || *number > most) {
        numbered = false;
        return kNone;
      }
      last = std::max(last, *number);
      const size_t word = static_cast<size_t>(*number) / 64;
      if (word >= seen.size()) seen.resize(std::max(word + 1, 2 * seen.size()));
      seen[word] |= uint64_t{1} << (*number % 64);
      return *number;
    };
    read_transitions(
        reader,
        [&](std::string_view from, std::string_view by, std::string_view to, double probability,
            double reward) {
          const State s = state(from), next = numbered ? state(to) : kNone;
          if (!numbered) return false;
          piece.rows.push_back({s, next, piece.action(by), probability, reward, reader.line()});
          return true;
        },
        [&](std::string_view end, double reward) {
          const State s = state(end);
          if (numbered) piece.rows.push_back({s, kNone, 0, 1.0, reward, reader.line()});
          return numbered;
        });
  });
  if (ranks.any(!numbered)) return false;
  total = static_cast<State>(ranks.largest(last)) + 1;
  // One bit per state tells whether somebody named it.
  seen.resize(static_cast<size_t>(total) / 64 + 1);
  MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(seen.size()), MPI_UINT64_T, MPI_BOR,
                PETSC_COMM_WORLD);
  int64_t count = 0;
  for (const uint64_t word : seen) count += __builtin_popcountll(word);
  return count == total;
}

Piece read_named(const Ranks& ranks, const fs::path& file, const FilePart& bytes) {
  Piece piece;
  ranks.together([&] {
    CsvReader reader(file, bytes.begin, bytes.end, bytes.lines_before);
    read_transitions(
        reader,
        [&](std::string_view from, std::string_view by, std::string_view to, double probability,
            double reward) {
          const State s = piece.named(from), next = piece.named(to);
          piece.rows.push_back({s, next, piece.action(by), probability, reward, reader.line()});
          return true;
        },
        [&](std::string_view end, double reward) {
          piece.rows.push_back({piece.named(end), kNone, 0, 1.0, reward, reader.line()});
          return true;
        });
  });
  return piece;
}

ModelPart read_csv_part(const Ranks& ranks, const fs::path& file) {
  const FilePart bytes = own_part(ranks, file, {});
  Piece piece;
  State total = 0, first = 0;
  std::vector<std::string> names;
  const bool numbered = read_numbered(ranks, file, bytes, piece, total);
  if (!numbered) piece = read_named(ranks, file, bytes);
  if (!ranks.any(!piece.rows.empty())) {
    throw user_error("{}: the model is empty: no transitions", file.string());
  }
  Range own{};
  if (numbered) {
    own = part_range(total, ranks.rank(), ranks.size());
    first = static_cast<State>(own.begin);
  } else {
    names = share_names(ranks, piece, first);
    own = {first, first + static_cast<int64_t>(names.size())};
  }
  // The first state named is the start.
  const std::vector<State> first_named = ranks.gathered(
      piece.rows.empty() ? std::vector<State>() : std::vector<State>{piece.rows[0].state});
  ModelPart part = share_rows(ranks, file, std::move(piece), first,
                              static_cast<State>(own.end - own.begin), names);
  part.start = {{numbered ? 0 : first_named[0], 1.0}};
  return part;
}

ModelPart read_drn_part(const Ranks& ranks, const fs::path& file) {
  const FilePart bytes = own_part(ranks, file, "state ");
  Piece piece;
  std::vector<State> starts;
  DrnParser::Found found{};
  ranks.together([&] {
    found = DrnParser(file).parse_part(
        bytes,
        {.add =
             [&](State s, const std::string& action, State next, double probability, double reward,
                 int64_t line) {
               piece.rows.push_back({s, next, piece.action(action), probability, reward, line});
             },
         .terminal_reward =
             [&](State s, double reward, int64_t line) {
               piece.rows.push_back({s, kNone, 0, 1.0, reward, line});
             },
         .init = [&](State s) { starts.push_back(s); }});
  });
  const int64_t before = ranks.before(found.count);
  const double count = ranks.sum(found.count);
  ranks.together([&] {
    if (found.count > 0 && found.first != before) {
      throw user_error("{}: expected state {}, found state {}", file.string(), before, found.first);
    }
    if (count != found.declared) {
      throw user_error("{}: the file ends after {} states, @nr_states says {}", file.string(),
                       count, found.declared);
    }
  });
  const State total = found.declared - (ranks.any(found.has_end) ? 1 : 0);
  const Range own = part_range(total, ranks.rank(), ranks.size());
  ModelPart part = share_rows(ranks, file, std::move(piece), static_cast<State>(own.begin),
                              static_cast<State>(own.end - own.begin), {});
  starts = ranks.gathered(starts);
  if (starts.empty()) starts.push_back(0);
  for (const State s : starts) part.start.push_back({s, 1.0 / static_cast<double>(starts.size())});
  return part;
}

// --start NAME: the rank that knows the name tells its number.
void set_start(const Ranks& ranks, const std::string& name, ModelPart& part) {
  double found = -1.0;
  for (State s = 0; s < part.own; ++s) {
    if (part.name_of(s) == name) found = part.first + s;
  }
  found = ranks.largest(found);
  if (found < 0.0) {
    throw user_error("--start: unknown state '{}'; several processes take the name of one state",
                     name);
  }
  part.start = {{static_cast<State>(found), 1.0}};
}

}  // namespace

ModelPart read_part(const Ranks& ranks, const std::string& source, const LoadOptions& load) {
  const auto read = [&]() -> ModelPart {
    if (looks_like_file(source)) {
      const std::string format = find_format(load.format, source).name;
      if (format == "csv") return read_csv_part(ranks, source);
      if (format == "drn") return read_drn_part(ranks, source);
      return cut_part(planning::load(source, load), ranks.rank(), ranks.size());
    }
    return builtin_part(source, ranks.rank(), ranks.size());
  };
  ModelPart part = read();
  if (!load.start.empty()) set_start(ranks, load.start, part);
  return part;
}

}  // namespace agora::planning
