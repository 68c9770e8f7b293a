#include "agents/policy.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "agents/context.h"
#include "agents/exploring_policy.h"
#include "agents/remembering.h"
#include "agents/traces.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "compute/program.h"

namespace agora::agents {
namespace {

constexpr float kLeastProbability = 1e-30F;
constexpr float kNextBest = -1000;  // the logit of the second best action of a greedy policy
constexpr const char* kMetadata = "agora-policy";
const std::string kExplorer = "explorer.";

TensorFile as_file(const std::vector<StoredTensor>& tensors, const std::string& path) {
  TensorFile file;
  file.tensors = tensors;
  file.path = path;
  return file;
}

class NetworkPolicy : public Policy {
 public:
  NetworkPolicy(const SavedPolicy& saved, int64_t rows)
      : file_(saved.file),
        space_(saved.space),
        link_(saved.link),
        head_(saved.head),
        temperature_(saved.temperature),
        rows_(rows),
        all_(saved.members.size() * static_cast<size_t>(rows * saved.space.actions)) {
    for (const std::vector<StoredTensor>& member : saved.members) {
      members_.push_back(std::make_unique<Member>(saved, as_file(member, saved.file), rows));
    }
    if (saved.network.context == 0) return;
    EncoderOptions how{.hidden = saved.network.context, .levels = saved.encoder_levels};
    how.network = saved.network;
    encoder_ = std::make_unique<ContextEncoder>(saved.space, how, rows,
                                                as_file(saved.encoder, saved.file));
    contexts_.resize(static_cast<size_t>(rows * saved.network.context));
  }

  const Space& space() const override { return space_; }

  void logits(std::span<const std::byte> observations, int64_t rows,
              std::span<float> out) override {
    CHECK(rows <= rows_, "{} rows, planned for {}", rows, rows_);
    const auto actions = static_cast<size_t>(space_.actions);
    const size_t numbers = static_cast<size_t>(rows) * actions;
    const auto contexts =
        std::span(contexts_).first(contexts_.size() / static_cast<size_t>(rows_) * rows);
    observations = observations.first(rows * space_.observation.bytes());
    if (encoder_ != nullptr) encoder_->encode(observations, contexts);
    for (size_t m = 0; m < members_.size(); ++m) {
      members_[m]->run(space_.observation, observations, contexts,
                       std::span(all_).subspan(m * numbers, numbers));
    }
    if (!std::all_of(all_.begin(), all_.begin() + static_cast<int64_t>(members_.size() * numbers),
                     [](float each) { return std::isfinite(each); })) {
      throw user_error("{}: what it makes of an observation is not finite", file_);
    }
    if (head_ == Head::kValues) return least_values(numbers, out);
    if (members_.size() == 1) {
      std::copy_n(all_.begin(), numbers, out.begin());
      return;
    }
    std::vector<float> one(members_.size() * actions);
    for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
      for (size_t m = 0; m < members_.size(); ++m) {
        const auto own = std::span(one).subspan(m * actions, actions);
        std::copy_n(all_.begin() + m * numbers + row * actions, actions, own.begin());
        to_probabilities(own);
      }
      link_logits(link_, one, out.subspan(row * actions, actions));
    }
  }

  void forget(int64_t row) override {
    if (encoder_ == nullptr) return;
    const int64_t numbers = static_cast<int64_t>(contexts_.size()) / rows_;
    std::fill_n(contexts_.begin() + row * numbers, numbers, 0.0F);
  }

 private:
  static compute::Tensor record(compute::Graph& graph, const SavedPolicy& saved,
                                const TensorFile& file) {
    const compute::Tensor seen = observation_input(graph, saved.space.observation);
    const compute::Tensor logits =
        saved.head == Head::kValues
            ? action_values(graph, "policy", seen, saved.space.actions, saved.network)
            : ActorCritic(graph, "policy", saved.space, saved.network)(seen).logits;
    expect_numbers(graph, file);
    return logits;
  }

  struct Member {
    Member(const SavedPolicy& saved, const TensorFile& file, int64_t rows)
        : logits(record(graph, saved, file)),
          variables(graph),
          program(graph, variables, {.outputs = {{"logits", logits}}, .updates = {}},
                  {.rows = rows}) {
      variables.load(file);
    }

    void run(const ObservationSpace& space, std::span<const std::byte> observations,
             std::span<const float> contexts, std::span<float> out) {
      set_observations(program, space, observations);
      if (!contexts.empty()) program.set("context", contexts);
      program.run(compute::Check::kNothing);
      program.read("logits", out);
    }

    compute::Graph graph;
    compute::Tensor logits;
    compute::Variables variables;
    compute::Program program;
  };

  void least_values(size_t numbers, std::span<float> out) const {
    const auto actions = static_cast<size_t>(space_.actions);
    std::copy_n(all_.begin(), numbers, out.begin());
    for (size_t m = 1; m < members_.size(); ++m) {
      for (size_t k = 0; k < numbers; ++k) out[k] = std::min(out[k], all_[m * numbers + k]);
    }
    for (size_t at = 0; at < numbers; at += actions) {
      value_logits(temperature_, out.subspan(at, actions));
    }
  }

  std::string file_;  // for messages
  Space space_;
  Link link_;
  Head head_;
  double temperature_;
  int64_t rows_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<float> all_;  // (members, rows, actions)
  std::unique_ptr<ContextEncoder> encoder_;
  std::vector<float> contexts_;  // (rows, n)
};

class RandomPolicy : public Policy {
 public:
  explicit RandomPolicy(const Space& space) : space_(space) {}
  const Space& space() const override { return space_; }
  void logits(std::span<const std::byte>, int64_t, std::span<float> out) override {
    std::fill(out.begin(), out.end(), 0.0F);
  }

 private:
  Space space_;
};

}  // namespace

std::string link_name(Link link) { return link == Link::kMax ? "max" : "average"; }

void to_probabilities(std::span<float> logits) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (float& each : logits) sum += each = std::exp(each - largest);
  for (float& each : logits) each /= sum;
}

void link_logits(Link link, std::span<const float> probabilities, std::span<float> out) {
  const size_t actions = out.size(), members = probabilities.size() / actions;
  for (size_t a = 0; a < actions; ++a) {
    float together = 0;
    for (size_t m = 0; m < members; ++m) {
      const float own = probabilities[m * actions + a];
      together = link == Link::kMax ? std::max(together, own) : together + own;
    }
    out[a] = std::log(std::max(together, kLeastProbability));
  }
}

namespace {

Json arguments_json(const Arguments& arguments) {
  Json all = Json::object();
  for (const auto& [name, argument] : arguments) {
    std::visit([&, key = name](const auto& value) { all[key] = value; }, argument.value());
  }
  return all;
}

Arguments arguments_of(const Json& told, const std::string& where) {
  if (!told.is_object()) throw user_error("{}: its environment_arguments are no object", where);
  Arguments all;
  for (const auto& [name, value] : told.items()) {
    if (value.is_string()) {
      all.emplace(name, value.get<std::string>());
    } else if (value.is_boolean()) {
      all.emplace(name, value.get<bool>());
    } else if (value.is_number()) {
      all.emplace(name, value.get<double>());
    } else {
      throw user_error("{}: argument '{}' is no text, number or truth value", where,
                       printable(name));
    }
  }
  return all;
}

// Which of two words a member is.
bool is_first(const Json& about, const std::string& key, const std::string& first,
              const std::string& second, const std::string& where) {
  const auto word = json_member<std::string>(about, key, where);
  if (word == first || word == second) return word == first;
  throw user_error("{}: its {} is '{}', expected {} or {}", where, key, printable(word), first,
                   second);
}

void expect_sizes(const std::vector<int64_t>& sizes, int64_t least, int64_t most,
                  const std::string& what, const std::string& where) {
  for (const int64_t size : sizes) {
    if (size < least || size > most) {
      throw user_error("{}: a size of {} in its {}, expected {} to {}", where, size, what, least,
                       most);
    }
  }
}

// Options that are kept by the names of their parameters.
template <typename Options>
Options options_of(const std::vector<OptionParameter<Options>>& parameters, const Json& told,
                   const std::string& where) {
  Options options;
  for (const OptionParameter<Options>& each : parameters) {
    const auto number = json_member<double>(told, each.name, where);
    const std::string wanted = expected(each, number);
    if (!wanted.empty()) {
      throw user_error("{}: {} is {}, expected {}", where, each.name, number, wanted);
    }
    each.set(options, number);
  }
  return options;
}

template <typename Options>
Json json_of(const std::vector<OptionParameter<Options>>& parameters, const Options& options) {
  Json all;
  for (const OptionParameter<Options>& each : parameters) all[each.name] = *each.get(options);
  return all;
}

// What an explorer needs of a policy.
void expect_explorable(const SavedPolicy& policy) {
  try {
    with_trace(policy.space.observation);
  } catch (const UserError& error) {
    throw user_error("{}: {}", policy.file, error.what());
  }
  if (policy.head != Head::kActorCritic || policy.network.context > 0) {
    throw user_error("{}: an explorer beside {}", policy.file,
                     policy.network.context > 0 ? "a context" : "values");
  }
}

// The members one by one, and the explorer.
std::unique_ptr<Policy> made_exploring(const SavedPolicy& saved, int64_t rows) {
  SavedPolicy one = saved;
  one.explorer.clear();
  std::vector<std::unique_ptr<Policy>> members;
  for (const std::vector<StoredTensor>& member : saved.members) {
    one.members = {member};
    members.push_back(std::make_unique<NetworkPolicy>(one, rows));
  }
  one.members = {saved.explorer};
  one.space.observation = with_trace(saved.space.observation);
  return exploring(std::move(members), saved.link, std::make_unique<NetworkPolicy>(one, rows), rows,
                   saved.exploration);
}

}  // namespace

void value_logits(double temperature, std::span<float> values) {
  const float best = *std::max_element(values.begin(), values.end());
  if (temperature > 0) {
    for (float& each : values) each = static_cast<float>((each - best) / temperature);
    return;
  }
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] > values[b]; });
  for (size_t rank = 0; rank < order.size(); ++rank) {
    values[order[rank]] = kNextBest * static_cast<float>(rank);
  }
}

void save_policy(const std::filesystem::path& file, const SavedPolicy& policy) {
  TensorFile saved;
  Json about = {
      {"format", 1},
      {"environment", policy.environment},
      {"environment_arguments", arguments_json(policy.environment_arguments)},
      {"levels", policy.levels},
      {"observation",
       {{"type", policy.space.observation.type == ObservationSpace::Type::kByte ? "byte" : "real"},
        {"shape", policy.space.observation.shape}}},
      {"actions", policy.space.actions},
      {"least", policy.space.least},
      {"most", policy.space.most},
      {"network",
       {{"kind", policy.network.kind},
        {"width", policy.network.width},
        {"layers", policy.network.layers},
        {"channels", policy.network.channels},
        {"context", policy.network.context}}},
      {"encoder_levels", policy.encoder_levels},
      {"link", link_name(policy.link)},
      {"head", policy.head == Head::kValues ? "values" : "actor-critic"},
      {"temperature", policy.temperature},
      {"members", policy.members.size()}};
  if (policy.memory.cost > 0) about["memory"] = json_of(memory_parameters(), policy.memory);
  if (!policy.explorer.empty()) {
    about["explorer"] = json_of(exploration_parameters(), policy.exploration);
  }
  saved.metadata[kMetadata] = dump_json(about);
  for (size_t m = 0; m < policy.members.size(); ++m) {
    for (StoredTensor tensor : policy.members[m]) {
      tensor.name = std::to_string(m) + "." + tensor.name;
      saved.tensors.push_back(std::move(tensor));
    }
  }
  for (const StoredTensor& tensor : policy.encoder) saved.tensors.push_back(tensor);
  for (StoredTensor tensor : policy.explorer) {
    tensor.name = kExplorer + tensor.name;
    saved.tensors.push_back(std::move(tensor));
  }
  write_safetensors(file, saved);
}

SavedPolicy load_policy(const std::filesystem::path& file) {
  const TensorFile saved = read_safetensors(file);
  const auto found = saved.metadata.find(kMetadata);
  if (found == saved.metadata.end()) {
    throw user_error("{}: no policy: it lacks the metadata '{}'", file.string(), kMetadata);
  }
  const std::string name = file.string();
  const Json about = parse_json(found->second, name + ": " + kMetadata);
  SavedPolicy policy;
  policy.file = name;
  policy.environment = json_member<std::string>(about, "environment", name);
  policy.environment_arguments =
      arguments_of(json_member<Json>(about, "environment_arguments", name), name);
  policy.levels = json_member<int64_t>(about, "levels", name);
  if (policy.levels < 1 || policy.levels > Levels::kAll) {
    throw user_error("{}: it was learned on {} levels", name, policy.levels);
  }
  const Json observation = json_member<Json>(about, "observation", name);
  policy.space.observation.type = is_first(observation, "type", "byte", "real", name)
                                      ? ObservationSpace::Type::kByte
                                      : ObservationSpace::Type::kReal;
  policy.space.observation.shape = json_member<std::vector<int64_t>>(observation, "shape", name);
  policy.space.actions = json_member<int>(about, "actions", name);
  policy.space.least = json_member<double>(about, "least", name);
  policy.space.most = json_member<double>(about, "most", name);
  const Json network = json_member<Json>(about, "network", name);
  policy.network.kind = json_member<std::string>(network, "kind", name);
  policy.network.width = json_member<int64_t>(network, "width", name);
  policy.network.layers = json_member<int64_t>(network, "layers", name);
  policy.network.channels = json_member<int64_t>(network, "channels", name);
  policy.network.context = json_member<int64_t>(network, "context", name);
  policy.encoder_levels = json_member<int64_t>(about, "encoder_levels", name);
  constexpr int64_t kMost = 100'000;
  expect_sizes({policy.network.width, policy.network.layers, policy.network.channels}, 1, kMost,
               "network", name);
  expect_sizes({policy.network.context}, 0, kMost, "network", name);
  if (policy.encoder_levels < 0 || policy.encoder_levels > Levels::kAll ||
      (policy.encoder_levels > 0) != (policy.network.context > 0)) {
    throw user_error("{}: an encoder of {} levels beside a context of {} numbers", name,
                     policy.encoder_levels, policy.network.context);
  }
  if (policy.network.layers > static_cast<int64_t>(saved.tensors.size())) {
    throw user_error("{}: {} layers of {} tensors", name, policy.network.layers,
                     saved.tensors.size());
  }
  const std::vector<int64_t>& shape = policy.space.observation.shape;
  if (shape.size() != 1 && shape.size() != 3) {
    throw user_error("{}: observations of {} axes, expected 1 or 3", name, shape.size());
  }
  expect_sizes(shape, 1, kMost, "observations", name);
  expect_sizes({policy.space.actions}, 1, kMost, "actions", name);
  std::string kind;
  try {
    kind = resolved(policy.network, policy.space.observation).kind;
  } catch (const UserError& error) {
    throw user_error("{}: {}", name, error.what());
  }
  if (kind != policy.network.kind) {
    throw user_error("{}: its network's kind is not decided", name);
  }
  policy.link = is_first(about, "link", "max", "average", name) ? Link::kMax : Link::kAverage;
  policy.head =
      is_first(about, "head", "values", "actor-critic", name) ? Head::kValues : Head::kActorCritic;
  policy.temperature = json_member<double>(about, "temperature", name);
  if (!(policy.temperature >= 0 && std::isfinite(policy.temperature))) {
    throw user_error("{}: a temperature of {}", name, policy.temperature);
  }
  if (about.contains("memory")) {
    policy.memory = options_of(memory_parameters(), about["memory"], name + ": memory");
  }
  const bool explores = about.contains("explorer");
  if (explores) {
    policy.exploration =
        options_of(exploration_parameters(), about["explorer"], name + ": explorer");
    expect_explorable(policy);
  }
  const auto members = json_member<size_t>(about, "members", name);
  if (members < 1 || members > 1000) throw user_error("{}: {} members", name, members);
  policy.members.resize(members);
  for (const StoredTensor& tensor : saved.tensors) {
    if (tensor.name.starts_with("encoder.")) {
      policy.encoder.push_back(tensor);
      continue;
    }
    if (explores && tensor.name.starts_with(kExplorer)) {
      policy.explorer.push_back(tensor);
      policy.explorer.back().name = tensor.name.substr(kExplorer.size());
      continue;
    }
    const size_t dot = tensor.name.find('.');
    const char* const begin = tensor.name.data();
    const char* const end = begin + (dot == std::string::npos ? 0 : dot);
    size_t member = members;
    if (std::from_chars(begin, end, member).ptr != end || member >= members)
      throw user_error("{}: tensor '{}' is of no member", name, printable(tensor.name));
    policy.members[member].push_back(tensor);
    policy.members[member].back().name = tensor.name.substr(dot + 1);
  }
  if (explores && policy.explorer.empty()) {
    throw user_error("{}: an explorer without tensors", name);
  }
  return policy;
}

std::unique_ptr<Policy> random_policy(const Space& space) {
  return std::make_unique<RandomPolicy>(space);
}

std::unique_ptr<Policy> make_policy(const SavedPolicy& saved, int64_t rows) {
  std::unique_ptr<Policy> policy;
  if (saved.explorer.empty()) {
    policy = std::make_unique<NetworkPolicy>(saved, rows);
  } else {
    policy = made_exploring(saved, rows);
  }
  if (saved.memory.cost == 0) return policy;
  return remembering(std::move(policy), rows, saved.memory);
}

}  // namespace agora::agents
