#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "base/json.h"
#include "report/arrows.h"
#include "report/palette.h"
#include "report/plotly.h"
#include "report/scale.h"
#include "report/text.h"
#include "report/thin.h"

namespace agora::report {
namespace {

constexpr size_t kMostPoints = 3000;
constexpr int64_t kMostCells = 200;  // a side

// plotly reads a little markup in its texts; ours have none.
std::string plain(std::string_view text) { return escape_markup(text); }

// Six digits are more than a screen shows, and shorter; gaps are null.
Json number(double value) {
  if (!drawable(value)) return nullptr;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json result = Json::array();
  for (const double value : values) result.push_back(number(value));
  return result;
}

std::string colour(int series) { return fmt::format("var(--s{})", series % kSeriesColours); }

Json axis_layout(const Axis& axis) {
  Json result = {
      {"title", {{"text", plain(axis.title)}, {"standoff", 8}, {"font", {{"size", 12.5}}}}},
      {"gridcolor", "var(--grid)"},
      {"linecolor", "var(--axis)"},
      {"zerolinecolor", "var(--axis)"},
      {"automargin", true}};
  if (axis.log) {
    result["type"] = "log";
    result["exponentformat"] = "power";
  }
  // An end that is null follows the data.
  const auto end = [&](const std::optional<double>& value) -> Json {
    if (!value || !drawable(*value, axis.log)) return nullptr;
    return axis.log ? std::log10(*value) : *value;
  };
  if (axis.low || axis.high) result["range"] = {end(axis.low), end(axis.high)};
  return result;
}

// Names for `count` places. plotly would put equal names at one place: an invisible character
// keeps them apart.
Json place_names(const std::vector<std::string>& names, size_t count) {
  Json result = Json::array();
  std::set<std::string> taken;
  for (size_t i = 0; i < count; ++i) {
    std::string name = i < names.size() ? plain(names[i]) : std::to_string(i + 1);
    while (name.empty() || !taken.insert(name).second) name += "\u200b";
    result.push_back(name);
  }
  return result;
}

// Counted things have no ticks between whole numbers.
void keep_ticks_whole(Json& layout, const Axis& axis, const Extent& data) {
  constexpr double kFew = 8;  // of more, plotly labels whole numbers by itself
  if (!axis.log && !data.empty && data.whole && data.high - data.low <= kFew) layout["dtick"] = 1;
}

Json layout(const Axis& x, const Axis& y, int height) {
  return {{"xaxis", axis_layout(x)},
          {"yaxis", axis_layout(y)},
          {"height", height},
          {"margin", {{"l", 12}, {"r", 14}, {"t", 12}, {"b", 12}}},
          {"paper_bgcolor", "rgba(0,0,0,0)"},
          {"plot_bgcolor", "rgba(0,0,0,0)"},
          {"font", {{"size", 12.5}, {"color", "var(--ink)"}}},
          {"legend",
           {{"orientation", "h"}, {"x", 0}, {"y", -0.24}, {"yanchor", "top"}, {"xanchor", "left"}}},
          {"showlegend", false},
          {"hoverlabel",
           {{"bgcolor", "var(--card)"},
            {"bordercolor", "var(--axis)"},
            {"font", {{"color", "var(--ink)"}}}}}};
}

Json map_colours() {
  Json result = Json::array();
  for (int step = 0; step <= 20; ++step)
    result.push_back({step / 20.0, hex(map_colour(step / 20.0))});
  return result;
}

Json colour_bar(std::string_view title) {
  return {{"thickness", 13},
          {"outlinewidth", 0},
          {"title", {{"text", plain(title)}, {"side", "right"}, {"font", {{"size", 12.5}}}}}};
}

Json figure(const LineChart& chart) {
  Json data = Json::array();
  Extent x_extent, y_extent;
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const Series series = thin(chart.series[i], kMostPoints);
    const std::string group = fmt::format("g{}", i);
    const Json x = numbers(series.x);
    x_extent.add(series.x);
    for (const auto* values : {&series.y, &series.lower, &series.upper}) y_extent.add(*values);
    if (!series.lower.empty()) {
      const Json edge = {{"type", "scatter"},      {"mode", "lines"},     {"x", x},
                         {"line", {{"width", 0}}}, {"hoverinfo", "skip"}, {"showlegend", false},
                         {"legendgroup", group}};
      Json lower = edge, upper = edge;
      lower["y"] = numbers(series.lower);
      upper["y"] = numbers(series.upper);
      upper["fill"] = "tonexty";
      upper["fillcolor"] = fmt::format("var(--b{})", i % kSeriesColours);
      data.push_back(lower);
      data.push_back(upper);
    }
    const bool points = series.markers || series.x.size() < 2;
    data.push_back({{"type", "scatter"},
                    {"mode", !series.line ? "markers"
                             : points     ? "lines+markers"
                                          : "lines"},
                    {"name", plain(series.name)},
                    {"showlegend", !series.name.empty()},
                    {"legendgroup", group},
                    {"x", x},
                    {"y", numbers(series.y)},
                    {"line",
                     {{"width", 2},
                      {"color", colour(static_cast<int>(i))},
                      {"dash", series.dashed         ? "dash"
                               : i >= kSeriesColours ? "dot"
                                                     : "solid"}}},
                    {"marker", {{"size", 6}, {"color", colour(static_cast<int>(i))}}}});
  }
  Json result = layout(chart.x, chart.y, 340);
  keep_ticks_whole(result["xaxis"], chart.x, x_extent);
  keep_ticks_whole(result["yaxis"], chart.y, y_extent);
  result["showlegend"] = true;
  result["hovermode"] = "x unified";
  return {{"data", data}, {"layout", result}};
}

Json figure(const HeatMap& full) {
  const HeatMap map = thin(full, kMostCells);
  Json rows = Json::array();
  for (int64_t row = 0; row < map.rows; ++row) {
    const auto begin = map.values.begin() + row * map.columns;
    rows.push_back(numbers({begin, begin + map.columns}));
  }
  // plotly wants the middles of the cells.
  const auto middles = [](const Axis& axis, int64_t count) {
    const double low = axis.low.value_or(0), high = axis.high.value_or(static_cast<double>(count));
    Json result = Json::array();
    for (int64_t i = 0; i < count; ++i)
      result.push_back(
          number(low + (high - low) * (static_cast<double>(i) + 0.5) / static_cast<double>(count)));
    return result;
  };
  const auto names = [](const std::vector<std::string>& all) {
    Json result = Json::array();
    for (const std::string& name : all) result.push_back(plain(name));
    return result;
  };
  const HeatColours colours(full);
  Json trace = {{"type", "heatmap"},
                {"z", rows},
                {"x", map.column_names.empty() ? middles(map.x, map.columns)
                                               : place_names(map.column_names, map.columns)},
                {"y", map.row_names.empty() ? middles(map.y, map.rows)
                                            : place_names(map.row_names, map.rows)},
                {"colorscale", map_colours()},
                {"zmin", number(colours.scale().low())},
                {"zmax", number(colours.scale().high())},
                {"colorbar", colour_bar(map.value_title)}};
  const auto count = static_cast<int64_t>(map.categories.size());
  if (count > 0) {
    Json steps = Json::array(), places = Json::array();
    for (int64_t i = 0; i < count; ++i) {
      const double low = static_cast<double>(i) / count, high = static_cast<double>(i + 1) / count;
      steps.push_back({low, hex(series_colour(static_cast<int>(i)))});
      steps.push_back({high, hex(series_colour(static_cast<int>(i)))});
      places.push_back(i);
    }
    trace["colorscale"] = steps;
    trace["zmin"] = -0.5;
    trace["zmax"] = count - 0.5;
    trace["colorbar"]["tickvals"] = places;
    trace["colorbar"]["ticktext"] = names(map.categories);
  }
  if (map.text.size() == static_cast<size_t>(map.rows * map.columns) && !map.text.empty()) {
    Json texts = Json::array();
    for (int64_t row = 0; row < map.rows; ++row)
      texts.push_back(names(
          {map.text.begin() + row * map.columns, map.text.begin() + (row + 1) * map.columns}));
    trace["text"] = texts;
    trace["texttemplate"] = "%{text}";
  }
  Axis x = map.x, y = map.y;
  x.low = x.high = y.low = y.high = std::nullopt;
  x.log = y.log = false;
  Json result = layout(x, y, map.rows * 2 < map.columns ? 300 : 400);
  result["xaxis"]["showgrid"] = result["yaxis"]["showgrid"] = false;
  if (!map.row_names.empty()) result["yaxis"]["autorange"] = "reversed";
  return {{"data", {trace}}, {"layout", result}};
}

Json figure(const BarChart& chart) {
  Json data = Json::array();
  size_t groups = chart.groups.size();
  for (const Bars& bars : chart.bars) groups = std::max(groups, bars.heights.size());
  const Json names = place_names(chart.groups, groups);
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    const Bars& bars = chart.bars[i];
    Json trace = {{"type", "bar"},
                  {"name", plain(bars.name)},
                  {"x", names},
                  {"y", numbers(bars.heights)},
                  {"marker", {{"color", colour(static_cast<int>(i))}}}};
    if (!bars.errors.empty())
      trace["error_y"] = {{"type", "data"},
                          {"array", numbers(bars.errors)},
                          {"color", "var(--ink)"},
                          {"thickness", 1.3},
                          {"width", 4}};
    data.push_back(trace);
  }
  Json result = layout(chart.x, chart.y, 340);
  result["showlegend"] = chart.bars.size() > 1;
  result["xaxis"]["type"] = "category";
  result["bargap"] = 0.22;
  return {{"data", data}, {"layout", result}};
}

Json figure(const Histogram& histogram) {
  std::vector<double> middles, widths, counts;
  for (size_t i = 0; i < histogram.counts.size() && i + 1 < histogram.edges.size(); ++i) {
    middles.push_back((histogram.edges[i] + histogram.edges[i + 1]) / 2);
    widths.push_back(histogram.edges[i + 1] - histogram.edges[i]);
    counts.push_back(histogram.counts[i]);
  }
  Json result = layout(histogram.x, histogram.y, 320);
  Extent y_extent;
  y_extent.add(counts);
  keep_ticks_whole(result["yaxis"], histogram.y, y_extent);
  result["bargap"] = 0.03;
  return {{"data",
           {{{"type", "bar"},
             {"x", numbers(middles)},
             {"y", numbers(counts)},
             {"width", numbers(widths)},
             {"marker", {{"color", colour(0)}}}}}},
          {"layout", result}};
}

// Whether anything would be drawn.
bool has_data(const std::vector<double>& values, bool log) {
  return std::any_of(values.begin(), values.end(),
                     [&](double value) { return drawable(value, log); });
}
bool has_data(const LineChart& chart) {
  return std::any_of(chart.series.begin(), chart.series.end(),
                     [&](const Series& series) { return has_data(series.y, chart.y.log); });
}
bool has_data(const HeatMap& map) { return has_data(map.values, false); }
bool has_data(const BarChart& chart) {
  return std::any_of(chart.bars.begin(), chart.bars.end(),
                     [&](const Bars& bars) { return has_data(bars.heights, chart.y.log); });
}
bool has_data(const Histogram& histogram) { return has_data(histogram.counts, histogram.y.log); }

}  // namespace

std::string plotly_figure(const Chart& chart) {
  return std::visit(
      [](const auto& any) -> std::string {
        if constexpr (requires { figure(any); })
          return has_data(any) ? dump_json(figure(any)) : "";
        else
          return "";
      },
      chart);
}

}  // namespace agora::report
