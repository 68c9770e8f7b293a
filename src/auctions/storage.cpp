// Mechanisms as files. A safetensors file holds the tensors in double and, in its metadata,
// mechanism, setting, bidders, items and, if there are any, demand and budget; a JSON file the same
// with nested members.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "auctions/limits.h"
#include "auctions/mechanism.h"
#include "auctions/plain_regretnet.h"
#include "base/error.h"
#include "base/json.h"
#include "base/safetensors.h"

namespace agora::auctions {
namespace {

constexpr int kLargestSide = 1000;
constexpr int64_t kMostNumbers = int64_t{1} << 31;  // of a tensor in JSON
const std::string kNote = "note.", kDemand = "demand", kBudget = "budget";

bool is_json(const std::filesystem::path& path) { return path.extension() == ".json"; }

int size_from(const std::string& text, const std::string& file, const char* what) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 ||
      value > kLargestSide) {
    throw user_error("{}: expected a number of {} from 1 to {}, found '{}'", file, what,
                     kLargestSide, text);
  }
  return value;
}

// Files of other programs are told how they become ours.
void refuse_foreign(const std::string& file) {
  const std::string ending = std::filesystem::path(file).extension().string();
  const auto is = [&](std::initializer_list<const char*> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  const std::string ours = std::filesystem::path(file).stem().string() + ".safetensors";
  if (is({".pt", ".pth"})) {
    throw user_error(
        "{}: a PyTorch file; convert its state_dict: python3 -c \"import torch, safetensors.torch "
        "as s; s.save_file(torch.load('{}', weights_only=True), '{}')\"",
        file, file, ours);
  }
  if (is({".h5", ".hdf5", ".keras", ".ckpt", ".index"})) {
    throw user_error(
        "{}: a Keras or TensorFlow file; convert its arrays, named allocation.K.weight, "
        "allocation.K.bias, payment.K.weight and payment.K.bias, in Python: "
        "safetensors.numpy.save_file(arrays, '{}')",
        file, ours);
  }
}

Parameters read_tensors(const std::string& file) {
  const TensorFile saved = read_safetensors(file);
  if (!saved.metadata.contains("mechanism")) return plain_regretnet(saved);
  const auto text = [&](const std::string& key) {
    const auto found = saved.metadata.find(key);
    if (found == saved.metadata.end()) {
      throw user_error("{}: expected metadata '{}' of a mechanism, found none", file, key);
    }
    return found->second;
  };
  Parameters parameters;
  parameters.mechanism = text("mechanism");
  parameters.setting = saved.metadata.contains("setting") ? text("setting") : "";
  parameters.bidders = size_from(text("bidders"), file, "bidders");
  parameters.items = size_from(text("items"), file, "items");
  parameters.limits =
      limits_from(file, saved.metadata.contains(kDemand) ? text(kDemand) : "additive",
                  saved.metadata.contains(kBudget) ? text(kBudget) : "", parameters.bidders);
  for (const auto& [key, value] : saved.metadata) {
    if (key.starts_with(kNote)) parameters.notes[key.substr(kNote.size())] = value;
  }
  for (const StoredTensor& stored : saved.tensors) {
    parameters.tensors[stored.name] = {stored.shape, stored.values<double>()};
  }
  return parameters;
}

void write_tensors(const Parameters& parameters, const std::string& file) {
  TensorFile saved;
  saved.metadata = {{"mechanism", parameters.mechanism},
                    {"setting", parameters.setting},
                    {"bidders", std::to_string(parameters.bidders)},
                    {"items", std::to_string(parameters.items)}};
  if (parameters.limits.demand == Demand::kUnit) {
    saved.metadata[kDemand] = demand_text(parameters.limits);
  }
  if (!parameters.limits.budgets.empty()) {
    saved.metadata[kBudget] = budget_text(parameters.limits);
  }
  for (const auto& [key, value] : parameters.notes) saved.metadata[kNote + key] = value;
  for (const auto& [name, tensor] : parameters.tensors) {
    saved.tensors.push_back(StoredTensor::of<double>(name, tensor.shape, tensor.values));
  }
  write_safetensors(file, saved);
}

Parameters read_object(const std::string& file) {
  const Json json = parse_json_file(file);
  Parameters parameters;
  parameters.mechanism = json_member<std::string>(json, "mechanism", file);
  parameters.setting = json_member<std::string>(json, "setting", file);
  parameters.bidders =
      size_from(std::to_string(json_member<int64_t>(json, "bidders", file)), file, "bidders");
  parameters.items =
      size_from(std::to_string(json_member<int64_t>(json, "items", file)), file, "items");
  const auto limit = [&](const std::string& key, std::string otherwise) {
    return json.contains(key) ? json_member<std::string>(json, key, file) : std::move(otherwise);
  };
  parameters.limits =
      limits_from(file, limit(kDemand, "additive"), limit(kBudget, ""), parameters.bidders);
  if (json.contains("notes")) {
    parameters.notes = json_member<std::map<std::string, std::string>>(json, "notes", file);
  }
  const Json* tensors = json.find("tensors");
  if (tensors == nullptr || !tensors->is_object()) {
    throw user_error("{}: expected a member 'tensors', an object", file);
  }
  for (const auto& [name, tensor] : tensors->items()) {
    const std::string where = fmt::format("{}: tensor '{}'", file, name);
    Parameters::Tensor read{json_member<std::vector<int64_t>>(tensor, "shape", where),
                            json_member<std::vector<double>>(tensor, "values", where)};
    int64_t size = 1;
    for (const int64_t side : read.shape) {
      if (side < 0 || side > kMostNumbers || size * side > kMostNumbers) {
        throw user_error("{}: its shape [{}] is none", where, fmt::join(read.shape, ","));
      }
      size *= side;
    }
    if (size != static_cast<int64_t>(read.values.size())) {
      throw user_error("{}: its shape needs {} numbers, found {}", where, size, read.values.size());
    }
    parameters.tensors[name] = std::move(read);
  }
  return parameters;
}

void write_object(const Parameters& parameters, const std::string& file) {
  Json json{{"mechanism", parameters.mechanism}, {"setting", parameters.setting},
            {"bidders", parameters.bidders},     {"items", parameters.items},
            {"notes", parameters.notes},         {"tensors", Json::object()}};
  if (parameters.limits.demand == Demand::kUnit) json[kDemand] = demand_text(parameters.limits);
  if (!parameters.limits.budgets.empty()) json[kBudget] = budget_text(parameters.limits);
  for (const auto& [name, tensor] : parameters.tensors) {
    json["tensors"][name] = {{"shape", tensor.shape}, {"values", tensor.values}};
  }
  write_json(file, json);
}

}  // namespace

void check_file_name(const std::string& file) {
  if (!is_json(file) && std::filesystem::path(file).extension() != ".safetensors") {
    throw user_error("{}: expected a name that ends in .safetensors or .json", file);
  }
}

void save(const Mechanism& mechanism, const std::string& file) {
  check_file_name(file);
  is_json(file) ? write_object(mechanism.parameters(), file)
                : write_tensors(mechanism.parameters(), file);
}

Parameters load_parameters(const std::string& file) {
  refuse_foreign(file);
  return is_json(file) ? read_object(file) : read_tensors(file);
}

std::unique_ptr<Mechanism> load(const std::string& file) {
  Parameters parameters = load_parameters(file);
  const std::string name = parameters.mechanism;
  for (const MechanismKind& kind : mechanisms()) {
    if (kind.name != name) continue;
    try {
      return make_mechanism(kind, std::move(parameters));
    } catch (const UserError& error) {
      throw user_error("{}: {}", file, error.what());
    }
  }
  throw user_error("{}: expected the name of a mechanism, found '{}'", file, name);
}

}  // namespace agora::auctions
