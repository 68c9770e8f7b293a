#include "base/metrics_csv.h"

#include <algorithm>

#include "base/csv.h"
#include "base/text.h"

namespace agora {
namespace {

std::vector<std::string> header_of(const std::vector<std::string>& columns) {
  std::vector<std::string> header{"step"};
  header.insert(header.end(), columns.begin(), columns.end());
  return header;
}

}  // namespace

MetricsCsv::MetricsCsv(std::filesystem::path path, const Json& state) : path_(std::move(path)) {
  if (state.is_null()) {
    remove_file();
  } else {
    restore(state);
  }
}

void MetricsCsv::remove_file() const {
  std::error_code code;
  std::filesystem::remove(path_, code);
  if (code) throw user_error("cannot remove {}: {}", path_.string(), code.message());
}

void MetricsCsv::restore(const Json& state) {
  const std::string name = path_.string();
  const auto bytes = json_member<size_t>(state, "bytes", name);
  rows_ = json_member<size_t>(state, "rows", name);
  columns_ = json_member<std::vector<std::string>>(state, "columns", name);
  if (state.contains("step")) {
    step_ = json_member<int64_t>(state, "step", name);
    const auto pending = json_member<Json>(state, "pending", name);
    if (!pending.is_object()) throw user_error("{}: its pending row is no object", name);
    for (const auto& [key, cell] : pending.items()) {
      pending_.emplace_back(key, json_member<std::string>(pending, key, name));
    }
  }
  if (bytes == 0) return remove_file();
  // Columns may have been added since; then the file is written again without them.
  if (CsvReader(path_).columns() != header_of(columns_)) rewrite(columns_);
  file_ = std::make_unique<AppendFile>(path_, bytes);
}

void MetricsCsv::record(int64_t step, std::string_view name, double value) {
  CHECK(!name.empty() && name != "step" && trimmed(name) == name, "a metric named '{}'", name);
  CHECK(!step_ || step >= *step_, "step {} after step {}", step, *step_);
  if (step_ && *step_ != step) complete_row();
  step_ = step;
  std::string cell = fmt::format("{}", value);
  for (auto& [known, old] : pending_) {
    if (known == name) {
      old = std::move(cell);
      return;
    }
  }
  pending_.emplace_back(name, std::move(cell));
}

void MetricsCsv::finish() {
  if (step_) complete_row();
  if (file_) file_->sync();
}

void MetricsCsv::complete_row() {
  std::vector<std::string> columns = columns_;
  for (const auto& [name, cell] : pending_) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  }
  if (!file_) {
    file_ = std::make_unique<AppendFile>(path_);
    CsvRow header;
    for (const std::string& column : header_of(columns)) header.add(column);
    file_->append(header.end());
  } else if (columns != columns_) {
    rewrite(columns);
    file_ = std::make_unique<AppendFile>(path_, std::filesystem::file_size(path_));
  }
  columns_ = std::move(columns);
  CsvRow row;
  row.add(*step_);
  for (const std::string& column : columns_) {
    const auto cell = std::find_if(pending_.begin(), pending_.end(),
                                   [&](const auto& each) { return each.first == column; });
    row.add(cell == pending_.end() ? std::string_view() : std::string_view(cell->second));
  }
  file_->append(row.end());
  ++rows_;
  pending_.clear();
  step_.reset();
}

// Writes the rows of the file again with these columns: old cells stay, new ones are empty.
void MetricsCsv::rewrite(const std::vector<std::string>& columns) {
  CsvReader reader(path_);
  CsvWriter writer(path_, header_of(columns));
  for (size_t row = 0; row < rows_ && reader.next(); ++row) {
    for (const std::string& column : header_of(columns)) {
      const auto at = reader.find(column);
      writer.cell(at ? reader.text(*at) : std::string_view());
    }
    writer.end_row();
  }
  writer.commit();
}

Json MetricsCsv::save_state() {
  if (file_) file_->sync();
  Json state = {{"bytes", file_ ? file_->size() : 0}, {"rows", rows_}, {"columns", columns_}};
  if (step_) {
    state["step"] = *step_;
    state["pending"] = Json::object();
    for (const auto& [name, cell] : pending_) state["pending"][name] = cell;
  }
  return state;
}

}  // namespace agora
