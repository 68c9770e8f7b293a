#include "report/run_page.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/run_folder.h"
#include "report/text.h"

namespace agora::report {
namespace {

namespace fs = std::filesystem;

constexpr double kLogFrom = 100;  // a curve that spans more gets a log axis

struct Run {
  fs::path folder;
  std::string name;                                          // in legends and tables
  Json settings;                                             // options by name
  std::vector<std::pair<std::string, std::string>> numbers;  // of the result, for readers
  std::vector<Series> curves;                                // a metric each, by name
  bool finished = false;
};

// A series per column of metrics.csv, over the steps.
std::vector<Series> curves_of(const fs::path& folder) {
  const fs::path file = folder / "metrics.csv";
  if (!fs::exists(file) || fs::file_size(file) == 0) return {};
  CsvReader reader(file);
  const size_t step = reader.require({"step"})[0];
  const std::vector<std::string> columns = reader.columns();
  std::vector<Series> series(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) series[i].name = columns[i];
  while (reader.next()) {
    const double x = reader.number(step);
    for (size_t i = 0; i < columns.size(); ++i) {
      if (i == step || reader.empty(i)) continue;
      series[i].x.push_back(x);
      series[i].y.push_back(reader.number(i));
    }
  }
  std::erase_if(series, [](const Series& each) { return each.x.empty(); });
  return series;
}

bool wants_log(const std::vector<Series>& series) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Series& each : series) {
    for (const double y : each.y) {
      if (!std::isfinite(y)) continue;
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  return low > 0 && high > kLogFrom * low;
}

// One chart per metric, in the order in which the runs bring them.
ChartBlock charts_of(const std::vector<Run>& runs) {
  std::vector<std::string> metrics;
  for (const Run& run : runs) {
    for (const Series& curve : run.curves) {
      if (std::find(metrics.begin(), metrics.end(), curve.name) == metrics.end()) {
        metrics.push_back(curve.name);
      }
    }
  }
  ChartBlock block;
  for (const std::string& metric : metrics) {
    LineChart chart{.title = metric, .x = {.title = "step"}, .y = {.title = metric}};
    for (const Run& run : runs) {
      for (Series curve : run.curves) {
        if (curve.name != metric) continue;
        curve.name = runs.size() > 1 ? run.name : "";
        chart.series.push_back(std::move(curve));
      }
    }
    chart.y.log = wants_log(chart.series);
    block.charts.emplace_back(std::move(chart));
  }
  return block;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : dump_json(value);
}

// Scalars of a result as "a.b" and value; longer things are left to result.json.
template <typename Take>
void flatten(const Json& value, const std::string& name, const Take& take) {
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      flatten(member, name.empty() ? key : name + "." + key, take);
    }
  } else if (!value.is_array()) {
    take(name, value);
  }
}

Run read(const fs::path& folder) {
  if (!is_run(folder)) throw user_error("{}: not a run folder", folder.string());
  Run run{.folder = folder,
          .name = fs::absolute(folder).lexically_normal().filename().string(),
          .settings = read_run_settings(folder),
          .numbers = {},
          .curves = curves_of(folder)};
  if (run.name.empty()) {  // the path ends with a slash
    run.name = fs::absolute(folder).lexically_normal().parent_path().filename().string();
  }
  if (const std::optional<Json> result = read_run_result(folder)) {
    run.finished = true;
    flatten(*result, "", [&](const std::string& name, const Json& value) {
      run.numbers.emplace_back(name, value.is_number_float() ? readable(value.get<double>())
                                     : value.is_null()       ? ""
                                                             : text_of(value));
    });
  }
  return run;
}

// The runs of a folder's seeds, in order; none for a run of one seed.
std::vector<Run> seeds_of(const fs::path& folder) {
  const std::string stem = "seed-";
  std::vector<std::pair<uint64_t, fs::path>> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(stem) || !is_run(entry.path())) continue;
    found.emplace_back(std::strtoull(name.c_str() + stem.size(), nullptr, 10), entry.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<Run> runs;
  for (const auto& [seed, path] : found) runs.push_back(read(path));
  return runs;
}

Table table_of(const std::string& first, const std::vector<Run>& runs, bool numeric) {
  Table table{.columns = {{.name = first}}};
  for (const Run& run : runs) table.columns.push_back({.name = run.name, .numeric = numeric});
  return table;
}

Table differing_options(const std::vector<Run>& runs) {
  Table table = table_of("Option", runs, false);
  std::vector<std::string> keys;
  for (const Run& run : runs) {
    for (const auto& [key, value] : run.settings.items()) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  for (const std::string& key : keys) {
    Row row{.cells = {key}};
    std::set<std::string> different;
    for (const Run& run : runs) {
      row.cells.push_back(run.settings.contains(key) ? text_of(run.settings[key]) : "");
      different.insert(row.cells.back());
    }
    if (different.size() > 1) table.rows.push_back(std::move(row));
  }
  return table;
}

Table final_numbers(const std::vector<Run>& runs) {
  Table table = table_of("Quantity", runs, true);
  for (size_t k = 0; k < runs.size(); ++k) {
    for (const auto& [name, text] : runs[k].numbers) {
      auto row = std::find_if(table.rows.begin(), table.rows.end(),
                              [&](const Row& each) { return each.cells[0] == name; });
      if (row == table.rows.end()) row = table.rows.insert(row, Row{.cells = {name}});
      row->cells.resize(runs.size() + 1);
      row->cells[k + 1] = text;
    }
  }
  return table;
}

}  // namespace

ChartBlock pictures_of(const fs::path& folder) {
  constexpr uintmax_t kLargest = uintmax_t{8} << 20;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".png" && entry.is_regular_file() &&
        entry.file_size() <= kLargest) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  ChartBlock block;
  for (const fs::path& file : files) {
    std::string title = file.stem().string();
    std::replace(title.begin(), title.end(), '-', ' ');
    block.charts.emplace_back(
        Image{.title = std::move(title), .png = read_file(file), .width = 320, .pixelated = true});
  }
  return block;
}

Page page_of_run(const fs::path& folder) {
  const Run run = read(folder);
  Page page{.title = run.name, .subtitle = fs::absolute(folder).lexically_normal().string()};
  if (const std::optional<Json> result = read_run_result(folder)) {
    Table table{.columns = {{.name = "Quantity"}, {.name = "Value", .numeric = true}}};
    flatten(*result, "", [&](const std::string& name, const Json& value) {
      table.rows.push_back({.cells = {name, text_of(value)}});
    });
    page.sections.push_back({.heading = "Result", .blocks = {std::move(table)}});
  } else {
    page.summary.emplace_back(Paragraph{"The run has not ended; agora resume goes on with it."});
  }
  const std::vector<Run> seeds = seeds_of(folder);
  if (!seeds.empty()) {
    page.sections.push_back({.heading = "Seeds", .blocks = {final_numbers(seeds)}});
  }
  ChartBlock charts = charts_of(seeds.empty() ? std::vector<Run>{run} : seeds);
  if (!charts.charts.empty()) {
    page.sections.push_back({.heading = "Curves", .blocks = {std::move(charts)}});
  }
  if (ChartBlock pictures = pictures_of(folder); !pictures.charts.empty()) {
    page.sections.push_back({.heading = "Pictures", .blocks = {std::move(pictures)}});
  }
  page.sections.push_back(
      {.heading = "Options",
       .blocks = {Code{.text = read_file(folder / "config.toml"), .label = "config.toml"},
                  Code{.text = "agora resume " + folder.string(), .label = "Command"}}});
  return page;
}

Page page_of_runs(const std::vector<fs::path>& folders) {
  std::vector<Run> runs;
  for (const fs::path& folder : folders) {
    Run run = read(folder);
    std::vector<Run> seeds = seeds_of(folder);
    for (Run& seed : seeds) {
      seed.name = run.name + "/" + seed.name;
      runs.push_back(std::move(seed));
    }
    if (seeds.empty()) runs.push_back(std::move(run));
  }
  std::set<std::string> names;
  for (const Run& run : runs) names.insert(run.name);
  if (names.size() < runs.size()) {  // folders of one name: tell where they are
    for (Run& run : runs) run.name = run.folder.string();
  }
  Page page{.title = fmt::format("{} runs", runs.size())};
  Table list{.columns = {{.name = "Run"}, {.name = "Verb"}, {.name = "Folder"}, {.name = "State"}}};
  for (const Run& run : runs) {
    list.rows.push_back({.cells = {run.name, text_of(run.settings.at("verb")),
                                   fs::absolute(run.folder).lexically_normal().string(),
                                   run.finished ? "finished" : "has not ended"}});
  }
  page.summary.emplace_back(std::move(list));
  if (ChartBlock charts = charts_of(runs); !charts.charts.empty()) {
    page.sections.push_back({.heading = "Curves", .blocks = {std::move(charts)}});
  }
  Table options = differing_options(runs);
  page.sections.push_back({.heading = "Options that differ"});
  if (options.rows.empty()) {
    page.sections.back().blocks.emplace_back(Paragraph{"All options are the same."});
  } else {
    page.sections.back().blocks.emplace_back(std::move(options));
  }
  if (Table numbers = final_numbers(runs); !numbers.rows.empty()) {
    page.sections.push_back({.heading = "Final numbers", .blocks = {std::move(numbers)}});
  }
  return page;
}

}  // namespace agora::report
