#include "base/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/features.h"
#include "base/signals.h"
#include "base/text.h"
#include "base/toml.h"

namespace agora {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kBetweenSaves{10};
constexpr std::chrono::milliseconds kBetweenTries{20}, kTimeToDie{2000};
constexpr int kFormat = 1;  // raise it when an older program could not go on with a run
constexpr const char* kConfig = "config.toml";
constexpr const char* kMetrics = "metrics.csv";
constexpr const char* kState = "state.json";
constexpr const char* kResult = "result.json";
constexpr const char* kLock = ".lock";
constexpr const char* kExtra = "agora.extra";
constexpr std::string_view kCheckpointStem = "checkpoint-";

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

void check_format(const Json& object, const std::string& name) {
  const auto format = json_member<int64_t>(object, "format", name);
  if (format <= kFormat) return;
  throw user_error("{}: made by a newer agora ({}, format {}), this is {} with format {}", name,
                   object.contains("version") ? printable(dump_json(object["version"])) : "unknown",
                   format, AGORA_VERSION, kFormat);
}

Json member_or_null(const Json& object, const std::string& key) {
  return object.is_object() && object.contains(key) ? object[key] : Json();
}

// The step of "checkpoint-STEP.safetensors" or "checkpoint-STEP-again.safetensors".
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with(kCheckpointStem) || !name.ends_with(".safetensors")) return std::nullopt;
  int64_t step = 0;
  const char* begin = name.data() + kCheckpointStem.size();
  const auto [end, code] = std::from_chars(begin, name.data() + name.size(), step);
  if (code != std::errc() || end == begin) return std::nullopt;
  return step;
}

// A foreign state.json must not reach beyond its folder, nor for what is no log.
bool may_be_log(const std::string& name) {
  return !name.empty() && name[0] != '.' && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos && name != kConfig && name != kMetrics &&
         name != kState && name != kResult && !step_of(name);
}

Json read_state(const fs::path& folder) {
  if (!is_there(folder / kState)) return nullptr;
  const std::string name = (folder / kState).string();
  Json state = parse_json_file(folder / kState);
  check_format(state, name);
  const auto step = json_member<int64_t>(state, "step", name);
  const auto checkpoint = json_member<std::string>(state, "checkpoint", name);
  if (step < 0 || step_of(checkpoint) != step || checkpoint.find('/') != std::string::npos) {
    throw user_error("{}: expected a checkpoint of step {} beside it, found '{}'", name, step,
                     printable(checkpoint));
  }
  const Json files = member_or_null(state, "files");
  if (!files.is_null() && !files.is_object()) throw user_error("{}: 'files' is no object", name);
  for (const auto& [file, length] : files.items()) {
    if (!may_be_log(file) || !length.is_number_unsigned()) {
      throw user_error("{}: expected a log beside it and its length, found '{}'", name,
                       printable(file));
    }
  }
  const Json metrics = member_or_null(state, "metrics");
  if (metrics.contains("step") && json_member<int64_t>(metrics, "step", name) > step) {
    throw user_error("{}: the metrics are of a later step than {}", name, step);
  }
  return state;
}

std::optional<Checkpoint> read_checkpoint(const fs::path& folder, const Json& state) {
  if (state.is_null()) return std::nullopt;
  Checkpoint checkpoint;
  checkpoint.step = state["step"].get<int64_t>();
  checkpoint.tensors = read_safetensors(folder / state["checkpoint"].get<std::string>());
  auto& metadata = checkpoint.tensors.metadata;
  if (const auto extra = metadata.find(kExtra); extra != metadata.end()) {
    checkpoint.extra = parse_json(extra->second, checkpoint.tensors.path);
    metadata.erase(extra);
  }
  return checkpoint;
}

bool is_ours(const std::string& name) { return name == kLock || name.ends_with(".agora.tmp"); }

// Nothing of somebody else's may be in a folder that becomes a run.
void expect_unused(const fs::path& path) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_ours(name)) {
      throw user_error("{} is no run and not empty (it has {}); choose another folder",
                       path.string(), printable(name));
    }
  }
}

// As they come back from the file.
Json normal(const Json& settings) { return parse_toml(to_toml(settings), "settings"); }

}  // namespace

RunFolder::RunFolder(fs::path path) : path_(std::move(path)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : path_(std::move(other.path_)),
      settings_(std::move(other.settings_)),
      state_(std::move(other.state_)),
      metrics_(std::move(other.metrics_)),
      logs_(std::move(other.logs_)),
      saved_(other.saved_),
      kept_(other.kept_),
      lock_(std::exchange(other.lock_, -1)) {}

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(settings_, other.settings_);
  std::swap(state_, other.state_);
  std::swap(metrics_, other.metrics_);
  std::swap(logs_, other.logs_);
  std::swap(saved_, other.saved_);
  std::swap(kept_, other.kept_);
  std::swap(lock_, other.lock_);
  return *this;
}

RunFolder::~RunFolder() {
  if (lock_ >= 0) close(lock_);
}

RunFolder RunFolder::create(const fs::path& path, const Json& settings) {
  CHECK(settings.contains("verb"), "settings without a verb");
  if (is_run(path)) {
    throw user_error(
        "{} already holds a run; go on with `agora resume {}` or choose another folder",
        path.string(), path.string());
  }
  Json config = {{"verb", settings["verb"]}, {"version", AGORA_VERSION}, {"format", kFormat}};
  config.update(settings);
  const std::string text = to_toml(config);
  expect_unused(path);
  make_folder(path);
  RunFolder run(path);
  run.lock();
  expect_unused(path);
  write_atomically(path / kConfig, text);
  run.load();
  return run;
}

RunFolder RunFolder::open(const fs::path& path) {
  read_run_settings(path);  // an error about the folder comes before one about its lock
  RunFolder run(path);
  run.lock();
  run.load();
  return run;
}

RunFolder RunFolder::open_or_create(const fs::path& path, const Json& settings) {
  if (!is_run(path)) return create(path, settings);
  const Json wanted = normal(settings);
  RunFolder run = open(path);
  for (const auto& [key, value] : wanted.items()) {
    if (!run.settings_.contains(key) || run.settings_[key] != value) {
      throw user_error("{} holds a run with {} = {}, not {}", path.string(), key,
                       run.settings_.contains(key) ? dump_json(run.settings_[key]) : "nothing",
                       dump_json(value));
    }
  }
  for (const auto& [key, value] : run.settings_.items()) {
    if (!wanted.contains(key)) {
      throw user_error("{} holds a run with {} = {}", path.string(), key, dump_json(value));
    }
  }
  return run;
}

void RunFolder::lock() {
  lock_ = open_own_file(path_ / kLock, O_RDWR);
  // Who was killed a moment ago holds it until its last system call is over.
  for (auto left = kTimeToDie; flock(lock_, LOCK_EX | LOCK_NB) != 0; left -= kBetweenTries) {
    if (errno != EWOULDBLOCK) {
      throw user_error("cannot lock {}: {}", path_.string(), std::strerror(errno));
    }
    if (left <= left.zero()) {
      const std::string holder = read_file(path_ / kLock);
      throw user_error("{} is in use by process {}", path_.string(),
                       holder.empty() ? "unknown" : printable(holder));
    }
    throw_if_stopped();
    std::this_thread::sleep_for(kBetweenTries);
  }
  // Who holds it, for the message above; the lock itself dies with the process.
  const std::string process = fmt::format("{}", getpid());
  const bool written =
      ftruncate(lock_, 0) == 0 &&
      pwrite(lock_, process.data(), process.size(), 0) == static_cast<ssize_t>(process.size());
  if (!written) throw user_error("cannot write {}: {}", path_.string(), std::strerror(errno));
}

void RunFolder::load() {
  settings_ = read_run_settings(path_);
  state_ = read_state(path_);
  remove_temporaries(path_);
  remove_old_checkpoints();
  note_checkpoint();
  if (finished() || state_.is_null()) return;
  // Cut the logs back now: whoever goes on may have nothing left to report but the end.
  if (!member_or_null(state_, "metrics").is_null()) metrics();
  const Json files = member_or_null(state_, "files");
  for (const auto& [name, length] : files.items()) append_file(name);
}

std::optional<Checkpoint> RunFolder::latest() const { return read_checkpoint(path_, state_); }

void RunFolder::save(int64_t step, std::vector<StoredTensor> tensors, const Json& extra) {
  Json files = member_or_null(state_, "files");
  for (const auto& [name, log] : logs_) {
    log->sync();
    files[name] = log->size();
  }
  const Json metrics = metrics_ ? metrics_->save_state() : member_or_null(state_, "metrics");
  // The checkpoint that counts is never overwritten.
  std::string name = fmt::format("{}{}.safetensors", kCheckpointStem, step);
  if (!state_.is_null() && state_["checkpoint"] == name) {
    name = fmt::format("{}{}-again.safetensors", kCheckpointStem, step);
  }
  TensorFile file{.tensors = std::move(tensors), .metadata = {}, .path = {}};
  if (!extra.is_null()) file.metadata[kExtra] = dump_json(extra);
  write_safetensors(path_ / name, file);
  const Json state = {{"format", kFormat},  {"version", AGORA_VERSION}, {"step", step},
                      {"checkpoint", name}, {"metrics", metrics},       {"files", files}};
  write_json(path_ / kState, state);
  state_ = state;
  saved_ = std::chrono::steady_clock::now();
  remove_old_checkpoints();
  note_checkpoint();
}

bool RunFolder::save_is_due() const {
  return stop_requested() || std::chrono::steady_clock::now() - saved_ >= kBetweenSaves;
}

int64_t RunFolder::saved_step() const {
  return state_.is_null() ? -1 : state_["step"].get<int64_t>();
}

void RunFolder::note_checkpoint() const {
  note_saved(state_.is_null() ? ""
                              : fmt::format("saved at step {}, go on with `agora resume {}`",
                                            saved_step(), path_.string()));
}

// Keeps the one that counts and those of the steps before it; a later one never counted.
void RunFolder::remove_old_checkpoints() const {
  const int64_t current = saved_step();
  const std::string counts = state_.is_null() ? "" : state_["checkpoint"].get<std::string>();
  std::vector<std::pair<int64_t, fs::path>> earlier;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto step = step_of(name);
    if (!step || name == counts) continue;
    if (*step >= current) {
      fs::remove(entry.path(), ignored);
    } else {
      earlier.emplace_back(*step, entry.path());
    }
  }
  std::sort(earlier.begin(), earlier.end());
  const auto spare = static_cast<int64_t>(earlier.size()) - (kept_ - 1);
  for (int64_t i = 0; i < spare; ++i) fs::remove(earlier[static_cast<size_t>(i)].second, ignored);
}

MetricsSink& RunFolder::metrics() {
  if (!metrics_) {
    CHECK(!finished(), "the run is finished");
    metrics_ = std::make_unique<MetricsCsv>(path_ / kMetrics, member_or_null(state_, "metrics"));
  }
  return *metrics_;
}

AppendFile& RunFolder::append_file(const std::string& name) {
  std::unique_ptr<AppendFile>& log = logs_[name];
  if (!log) {
    const Json length = member_or_null(member_or_null(state_, "files"), name);
    const size_t keep = length.is_null() ? 0 : length.get<size_t>();
    log = std::make_unique<AppendFile>(path_ / name, keep);
  }
  return *log;
}

void RunFolder::finish(const Json& result) {
  if (metrics_) metrics_->finish();
  for (const auto& [name, log] : logs_) log->sync();
  write_json(path_ / kResult, result);
}

bool RunFolder::finished() const { return is_there(path_ / kResult); }

bool is_run(const fs::path& path) { return is_there(path / kConfig); }

std::optional<std::string> process_in(const fs::path& path) {
  const int file = ::open((path / kLock).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  const bool held = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  if (!held) return std::nullopt;
  const std::string holder = read_file(path / kLock);
  return holder.empty() ? "unknown" : printable(holder);
}

Json read_run_settings(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    throw user_error("{}: {}, expected the folder of a run", path.string(),
                     fs::exists(path, ignored) ? "it is a file" : "no such folder");
  }
  if (!is_run(path)) throw user_error("{}: no run (it has no {})", path.string(), kConfig);
  expect_plain_files(path);  // reading a pipe would wait, writing through a link reach elsewhere
  Json config = parse_toml_file(path / kConfig);
  check_format(config, (path / kConfig).string());
  json_member<std::string>(config, "verb", (path / kConfig).string());
  config.erase("format");
  config.erase("version");
  return config;
}

std::optional<Checkpoint> read_latest_checkpoint(const fs::path& path) {
  read_run_settings(path);
  return read_checkpoint(path, read_state(path));
}

std::optional<Json> read_run_result(const fs::path& path) {
  read_run_settings(path);
  if (!is_there(path / kResult)) return std::nullopt;
  return parse_json_file(path / kResult);
}

}  // namespace agora
