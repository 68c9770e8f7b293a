#include "report/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/files.h"
#include "report/demo_page.h"
#include "report/markup.h"
#include "report/plotly.h"

namespace agora::report {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

void expect_sound(const Chart& chart) {
  for (const SvgUse use : {SvgUse::kStandalone, SvgUse::kInline}) {
    const std::string svg = render_svg(chart, use);
    EXPECT_EQ(markup_fault(svg), "") << chart_title(chart);
    // Numbers that are none must not reach a coordinate.
    for (const char* bad : {"\"nan", "\"-nan", "\"inf", "\"-inf"})
      EXPECT_EQ(count_of(svg, bad), 0u);
  }
  if (const std::string figure = plotly_figure(chart); !figure.empty()) {
    const auto json = nlohmann::json::parse(figure);
    EXPECT_TRUE(json.at("data").is_array());
    EXPECT_TRUE(json.at("layout").is_object());
  }
}

TEST(Svg, EveryKindIsWellFormed) {
  for (const Chart& chart : demo_charts()) expect_sound(chart);
}

// Look at them: $TEST_TMPDIR/agora-chart-N.svg.
TEST(Svg, WritesTheDemoCharts) {
  int number = 0;
  for (const Chart& chart : demo_charts()) {
    const auto file =
        std::filesystem::path(::testing::TempDir()) / fmt::format("agora-chart-{}.svg", number++);
    write_svg(file, chart);
    EXPECT_EQ(read_file(file), render_svg(chart));
  }
}

std::vector<std::vector<double>> numbers_of(const std::string& svg, const std::string& pattern) {
  const std::regex shape(pattern);
  std::vector<std::vector<double>> all;
  for (std::sregex_iterator at(svg.begin(), svg.end(), shape), end; at != end; ++at) {
    all.emplace_back();
    for (size_t k = 1; k < at->size(); ++k) all.back().push_back(std::stod((*at)[k]));
  }
  return all;
}

// Twice as much is twice as high, and an error reaches as far up as down.
TEST(Svg, BarsStandOnZeroBetweenTheirErrors) {
  const std::string svg =
      render_svg(BarChart{.title = "bars", .groups = {"a", "b"}, .bars = {{"x", {4, 8}, {1, 2}}}});
  const auto bars = numbers_of(
      svg, R"re(<rect x="[^"]*" y="([^"]*)" width="[^"]*" height="([^"]*)" class="f0")re");
  const auto errors =
      numbers_of(svg, R"re(<path d="M[-0-9.]+ ([-0-9.]+)H[^V]*V([-0-9.]+)M[^"]*" class="e")re");
  ASSERT_GE(bars.size(), 2u);
  ASSERT_EQ(errors.size(), 2u);
  const auto& low = bars[bars.size() - 2];
  const auto& high = bars.back();
  EXPECT_NEAR(high[1], 2 * low[1], 0.05);
  for (const size_t k : {0, 1}) {
    const auto& bar = k == 0 ? low : high;
    EXPECT_NEAR(errors[k][0] - bar[0], bar[1] / 4, 0.05);  // down
    EXPECT_NEAR(bar[0] - errors[k][1], bar[1] / 4, 0.05);  // up
  }
}

TEST(Svg, LegendsStandBelow) {
  const std::vector<Chart> charts{
      LineChart{.title = "", .x = {.title = "axis"}, .series = {{"named", {0, 1}, {0, 1}}}},
      BarChart{.title = "", .x = {.title = "axis"}, .groups = {"a"}, .bars = {{"named", {4}}}}};
  for (const Chart& chart : charts) {
    const std::string svg = render_svg(chart);
    const auto title = numbers_of(svg, R"re(<text x="[^"]*" y="([^"]*)"[^>]*>axis<)re");
    const auto name = numbers_of(svg, R"re(<text x="[^"]*" y="([^"]*)"[^>]*>named<)re");
    const auto box = numbers_of(svg, R"re(viewBox="0 0 [^ ]+ ([^"]*)")re");
    ASSERT_EQ(title.size() * name.size(), 1u);
    ASSERT_GE(box.size(), 1u);
    EXPECT_GT(name[0][0], title[0][0] + 6);
    EXPECT_LT(name[0][0], box[0][0]);
  }
}

TEST(Svg, EmptyChartsSayNoData) {
  const std::vector<Chart> charts = {
      LineChart{.title = "a"}, HeatMap{.title = "b"},     BarChart{.title = "c"},
      Histogram{.title = "d"}, GridPicture{.title = "e"}, Image{.title = "f", .png = "not a png"}};
  for (const Chart& chart : charts) {
    expect_sound(chart);
    EXPECT_EQ(count_of(render_svg(chart), "no data"), 1u) << chart_title(chart);
  }
}

TEST(Svg, StrangeNumbersAreGaps) {
  const std::vector<double> strange = {NAN, kInf, -kInf, 1e308, -1e308, 5e-324, 0, 1, 2};
  for (const bool log : {false, true}) {
    LineChart lines{.title = "strange", .x = {.title = "x", .log = log}, .y = {.log = log}};
    lines.series.push_back({"all", strange, strange, strange, strange, true});
    lines.series.push_back({"only gaps", {1, 2}, {NAN, NAN}});
    lines.series.push_back({"ragged", {1, 2, 3}, {1}, {0}, {}});
    expect_sound(lines);
    expect_sound(BarChart{.title = "bars",
                          .y = {.title = "y", .log = log},
                          .bars = {{"all", strange, strange}, {"short", {1}}}});
    expect_sound(Histogram{.title = "h", .y = {.log = log}, .edges = strange, .counts = {1, NAN}});
  }
  expect_sound(HeatMap{.title = "heat", .rows = 3, .columns = 3, .values = strange});
  expect_sound(HeatMap{.title = "short", .rows = 3, .columns = 3, .values = {1}});
  expect_sound(GridPicture{.title = "grid",
                           .rows = 3,
                           .columns = 3,
                           .values = strange,
                           .moves = strange,
                           .path = {-5, 100}});
}

TEST(Svg, FixedAxesHoldFarPoints) {
  LineChart chart{.title = "far", .x = {.high = 2}, .y = {.low = 0, .high = 1}};
  chart.series.push_back({"", {0, 1, 2}, {0.5, 1e200, -1e200}});
  expect_sound(chart);
  EXPECT_LT(render_svg(chart).size(), 10'000u);
  const auto figure = nlohmann::json::parse(plotly_figure(chart));
  EXPECT_EQ(figure["layout"]["xaxis"]["range"].dump(), "[null,2.0]");
}

TEST(Plotly, EqualNamesStayApart) {
  const BarChart chart{.groups = {"a", "a", ""}, .bars = {{"b", {1, 2, 3, 4}}}};
  const auto names = nlohmann::json::parse(plotly_figure(chart))["data"][0]["x"];
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 4u);
}

TEST(Svg, GapsBreakLines) {
  LineChart chart{.title = "gap"};
  chart.series.push_back({"", {0, 1, 2, 3, 4}, {1, 2, NAN, 2, 1}});
  EXPECT_EQ(count_of(render_svg(chart), "class=\"s0 l\""), 2u);
  chart.series[0].y[2] = 3;
  EXPECT_EQ(count_of(render_svg(chart), "class=\"s0 l\""), 1u);
}

TEST(Svg, OnePointIsADot) {
  LineChart chart{.title = "dot", .series = {{"", {5}, {5}}}};
  EXPECT_EQ(count_of(render_svg(chart), "<circle"), 1u);
  EXPECT_EQ(count_of(render_svg(chart), "no data"), 0u);
}

TEST(Svg, BigPicturesStaySmall) {
  LineChart lines{.title = "a million points"};
  Series series{.name = "s", .x = {}, .y = {}};
  for (int i = 0; i < 1'000'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(std::sin(i * 1e-4) + (i == 123'456 ? 50 : 0));
  }
  lines.series = {series};
  expect_sound(lines);
  EXPECT_LT(render_svg(lines).size(), 40'000u);
  EXPECT_LT(plotly_figure(lines).size(), 100'000u);

  const HeatMap map = demo_heat(1000);
  expect_sound(map);
  EXPECT_LT(render_svg(map).size(), 400'000u);
  EXPECT_LT(plotly_figure(map).size(), 600'000u);

  const GridPicture grid = demo_grid(400, 400, false);
  expect_sound(grid);
  EXPECT_LT(render_svg(grid).size(), 1'500'000u);
}

}  // namespace
}  // namespace agora::report
