#include "planning/distributed/petsc/reading.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "base/thread_pool.h"
#include "planning/formats/csv_transitions.h"
#include "planning/formats/drn_parser.h"
#include "planning/formats/format.h"
#include "planning/model/text.h"

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

// Numbers for the actions that all ranks agree on: in the order of the file.
std::vector<std::string> share_actions(const Ranks& ranks, Piece& piece) {
  Piece all;
  for (const std::string& name : ranks.gathered(piece.actions)) all.action(name);
  for (Row& row : piece.rows) {
    if (row.next != kNone) row.action = all.action(piece.actions[static_cast<size_t>(row.action)]);
  }
  return all.actions;
}

std::vector<std::string> words_of(const std::vector<char>& text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size(); at += words.back().size() + 1) {
    words.emplace_back(text.data() + at);
  }
  return words;
}

void append(std::vector<char>& text, const std::string& word) {
  text.insert(text.end(), word.begin(), word.end());
  text.push_back('\0');
}

// Numbers for the names in the order of the file, as one process gives them: the rank that a
// name's hash tells finds out who has it first, and tells the others the number given there.
// Returns the names of the own states.
std::vector<std::string> share_names(const Ranks& ranks, Piece& piece, Range& own) {
  const size_t size = static_cast<size_t>(ranks.size());
  std::vector<std::vector<char>> text(size);
  std::vector<std::vector<State>> asked(size);  // by rank: local numbers of the names sent there
  for (size_t i = 0; i < piece.names.size(); ++i) {
    const size_t rank = std::hash<std::string>()(piece.names[i]) % size;
    append(text[rank], piece.names[i]);
    asked[rank].push_back(static_cast<State>(i));
  }
  std::vector<int> bytes;
  const std::vector<char> came = ranks.exchanged(text, &bytes);
  Piece known;
  std::vector<std::vector<State>> who(size);   // by rank: what it named
  std::vector<std::vector<char>> first(size);  // ... and whether nobody did before
  for (size_t rank = 0, at = 0; rank < size; at += static_cast<size_t>(bytes[rank++])) {
    for (const std::string& name : words_of({came.data() + at, came.data() + at + bytes[rank]})) {
      const size_t before = known.names.size();
      who[rank].push_back(known.named(name));
      first[rank].push_back(known.names.size() > before);
    }
  }
  const std::vector<char> is_first = ranks.exchanged(first);
  std::vector<char> mine(piece.names.size());
  size_t k = 0;
  for (const auto& names : asked) {
    for (const State i : names) mine[static_cast<size_t>(i)] = is_first[k++];
  }
  const int64_t count = std::count(mine.begin(), mine.end(), 1), begin = ranks.before(count);
  const int64_t total = static_cast<int64_t>(ranks.sum(static_cast<double>(count)));
  own = part_range(total, ranks.rank(), ranks.size());
  std::vector<State> number_of(piece.names.size(), kNone);
  std::vector<std::vector<char>> names_to(size);
  size_t owner = 0;
  for (size_t i = 0, next = static_cast<size_t>(begin); i < mine.size(); ++i) {
    if (!mine[i]) continue;
    while (part_range(total, static_cast<int64_t>(owner), ranks.size()).end <=
           static_cast<int64_t>(next)) {
      ++owner;
    }
    append(names_to[owner], piece.names[i]);
    number_of[i] = static_cast<State>(next++);
  }
  std::vector<std::vector<State>> told(size);
  for (size_t rank = 0; rank < size; ++rank) {
    for (const State i : asked[rank]) told[rank].push_back(number_of[static_cast<size_t>(i)]);
  }
  const std::vector<State> numbers = ranks.exchanged(told);
  std::vector<State> known_number(known.names.size());
  k = 0;
  for (const auto& names : who) {
    for (const State i : names) {
      if (const State number = numbers[k++]; number != kNone) {
        known_number[static_cast<size_t>(i)] = number;
      }
    }
  }
  for (auto& names : who) {
    for (State& i : names) i = known_number[static_cast<size_t>(i)];
  }
  const std::vector<State> all = ranks.exchanged(who);
  k = 0;
  for (const auto& names : asked) {
    for (const State i : names) number_of[static_cast<size_t>(i)] = all[k++];
  }
  for (Row& row : piece.rows) {
    row.state = number_of[static_cast<size_t>(row.state)];
    if (row.next != kNone) row.next = number_of[static_cast<size_t>(row.next)];
  }
  return words_of(ranks.exchanged(names_to));
}

// Sends every row to the rank of its state, which checks them and keeps them.
ModelShare share_rows(const Ranks& ranks, const fs::path& file, Piece piece, const Range& range,
                      const std::vector<std::string>& names) {
  const State first = static_cast<State>(range.begin), own = static_cast<State>(range.end) - first;
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

  ModelShare share = make_share(first, own, total, 1, std::vector<State>(static_cast<size_t>(own)),
                                Rewards(0.0), {});
  for (const Row& row : rows) {
    if (row.next != kNone && (row.next < first || row.next >= first + own)) {
      share.ghosts.push_back(row.next);
    }
  }
  std::sort(share.ghosts.begin(), share.ghosts.end());
  share.ghosts.erase(std::unique(share.ghosts.begin(), share.ghosts.end()), share.ghosts.end());
  if (!names.empty()) share.name = [names](State s) { return names[static_cast<size_t>(s)]; };
  bool stochastic = false;
  ranks.together([&] {
    if (own == 0) return;
    ModelBuilder builder;
    builder.reserve(own + static_cast<State>(share.ghosts.size()), 0);
    builder.call_states([&](State s) {
      return s < own ? share.name_of(s)
                     : fmt::format("state {}", share.ghosts[static_cast<size_t>(s - own)]);
    });
    for (const std::string& action : actions) builder.action(action);
    try {
      for (const Row& row : rows) {
        if (row.next == kNone) {
          builder.terminal_reward(row.state - first, row.reward, row.line);
        } else {
          builder.add(row.state - first, row.action, share.local(row.next), row.probability,
                      row.reward, row.line);
        }
      }
      share.model = builder.build();
    } catch (const ModelError& error) {
      throw at_line(file, error);
    }
    stochastic = !share.model.is_deterministic();
  });
  if (ranks.any(stochastic)) throw stochastic_share();
  return share;
}

// States called 0 ... n-1 keep their numbers. False: they are not called so.
bool read_numbered(const Ranks& ranks, const fs::path& file, const FileShare& bytes, Piece& piece,
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

Piece read_named(const Ranks& ranks, const fs::path& file, const FileShare& bytes) {
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

ModelShare read_csv_share(const Ranks& ranks, const fs::path& file) {
  const FileShare bytes = own_share(ranks, file, {});
  Piece piece;
  State total = 0;
  const bool numbered = read_numbered(ranks, file, bytes, piece, total);
  if (!numbered) piece = read_named(ranks, file, bytes);
  if (!ranks.any(!piece.rows.empty())) {
    throw user_error("{}: the model is empty: no transitions", file.string());
  }
  Range own = part_range(total, ranks.rank(), ranks.size());
  std::vector<std::string> names;
  if (!numbered) names = share_names(ranks, piece, own);
  ModelShare share = share_rows(ranks, file, std::move(piece), own, names);
  share.start = {{0, 1.0}};  // the first state named
  return share;
}

ModelShare read_drn_share(const Ranks& ranks, const fs::path& file) {
  const FileShare bytes = own_share(ranks, file, "state ");
  Piece piece;
  std::vector<State> starts;
  DrnParser::Found found{};
  ranks.together([&] {
    found = DrnParser(file).parse_share(
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
  ModelShare share =
      share_rows(ranks, file, std::move(piece), part_range(total, ranks.rank(), ranks.size()), {});
  starts = ranks.gathered(starts);
  if (starts.empty()) starts.push_back(0);
  for (const State s : starts) share.start.push_back({s, 1.0 / static_cast<double>(starts.size())});
  return share;
}

// --start NAME: the rank that knows the name tells its number.
void set_start(const Ranks& ranks, const std::string& name, ModelShare& share) {
  double found = -1.0;
  for (State s = 0; s < share.own; ++s) {
    if (share.name_of(s) == name) found = share.first + s;
  }
  found = ranks.largest(found);
  if (found < 0.0) {
    throw user_error("start: unknown state '{}'; several processes take the name of one state",
                     name);
  }
  share.start = {{static_cast<State>(found), 1.0}};
}

}  // namespace

FileShare own_share(const Ranks& ranks, const fs::path& file, std::string_view prefix) {
  FileShare share;
  int64_t lines = 0;
  ranks.together([&] {
    share = file_share(file, ranks.rank(), ranks.size(), prefix);
    lines = lines_of(file, share);
  });
  share.lines_before = ranks.before(lines);
  return share;
}

ModelShare read_share(const Ranks& ranks, const std::string& source, const LoadOptions& load) {
  refuse_map_rules(source, load);
  const auto read = [&]() -> ModelShare {
    if (looks_like_file(source)) {
      const std::string format = find_format(load.format, source).name;
      if (format == "csv") return read_csv_share(ranks, source);
      if (format == "drn") return read_drn_share(ranks, source);
      if (format == "map") return read_map_share(ranks, source, load.grid);
      return cut_share(planning::load(source, load), ranks.rank(), ranks.size());
    }
    return builtin_share(source, ranks.rank(), ranks.size());
  };
  ModelShare share = read();
  if (!load.start.empty()) set_start(ranks, load.start, share);
  return share;
}

}  // namespace agora::planning
