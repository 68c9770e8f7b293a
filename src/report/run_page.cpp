#include "report/run_page.h"

#include <cmath>
#include <optional>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/run_folder.h"

namespace agora::report {
namespace {

namespace fs = std::filesystem;

// One chart per column of metrics.csv, over the steps.
ChartBlock curves(const fs::path& file) {
  CsvReader reader(file);
  const size_t step = reader.require({"step"})[0];
  const std::vector<std::string> columns = reader.columns();
  std::vector<Series> series(columns.size());
  while (reader.next()) {
    const double x = reader.number(step);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i == step || reader.empty(i)) continue;
      series[i].x.push_back(x);
      series[i].y.push_back(reader.number(i));
    }
  }
  ChartBlock block;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i == step || series[i].x.empty()) continue;
    block.charts.emplace_back(LineChart{.title = columns[i],
                                        .x = {.title = "step"},
                                        .y = {.title = columns[i]},
                                        .series = {series[i]}});
  }
  return block;
}

// Scalars of a result as rows "a.b | value"; longer things are left to result.json.
void add_rows(const Json& value, const std::string& name, Table& table) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      add_rows(member, name.empty() ? key : name + "." + key, table);
    }
  } else if (!value.is_array()) {
    table.rows.push_back(
        {.cells = {name, value.is_string() ? value.get<std::string>() : dump_json(value)}});
  }
}

}  // namespace

Page page_of_run(const fs::path& folder) {
  if (!is_run(folder)) throw user_error("{}: not a run folder", folder.string());
  Page page{.title = fs::absolute(folder).lexically_normal().filename().string(),
            .subtitle = fs::absolute(folder).lexically_normal().string()};
  if (const std::optional<Json> result = read_run_result(folder)) {
    Table table{.columns = {{.name = "Quantity"}, {.name = "Value", .numeric = true}}};
    add_rows(*result, "", table);
    page.sections.push_back({.heading = "Result", .blocks = {std::move(table)}});
  } else {
    page.summary.emplace_back(Paragraph{"The run has not ended; agora resume goes on with it."});
  }
  if (fs::exists(folder / "metrics.csv") && fs::file_size(folder / "metrics.csv") > 0) {
    page.sections.push_back({.heading = "Curves", .blocks = {curves(folder / "metrics.csv")}});
  }
  page.sections.push_back(
      {.heading = "Options",
       .blocks = {Code{.text = read_file(folder / "config.toml"), .label = "config.toml"},
                  Code{.text = "agora resume " + folder.string(), .label = "Command"}}});
  return page;
}

}  // namespace agora::report
