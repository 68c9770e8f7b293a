#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/rng.h"
#include "report/html.h"
#include "report/png.h"

namespace agora::report {

// One chart of every kind, as reports use them.

inline LineChart demo_lines() {
  LineChart chart{.title = "Revenue and its published value",
                  .caption = "Mean and 95% interval over 5 seeds; the dashed line is the optimum.",
                  .x = {.title = "steps"},
                  .y = {.title = "revenue"}};
  const char* names[] = {"RegretNet", "ALGnet", "EquivariantNet"};
  for (int s = 0; s < 3; ++s) {
    Series series{.name = names[s], .x = {}, .y = {}};
    Rng rng(7, static_cast<uint32_t>(s));
    for (int i = 0; i < 20000; ++i) {
      const double t = i * 10.0;
      const double y = 0.55 * (1 - std::exp(-t / (20000.0 * (s + 1)))) + 0.004 * rng.normal();
      const double half = 0.02 + 0.05 * std::exp(-t / 30000.0);
      series.x.push_back(t);
      series.y.push_back(s == 1 && i > 9000 && i < 9800 ? NAN : y);
      series.lower.push_back(y - half);
      series.upper.push_back(y + half);
    }
    chart.series.push_back(series);
  }
  chart.series.push_back(
      {.name = "published optimum", .x = {0, 200000}, .y = {0.55, 0.55}, .dashed = true});
  return chart;
}

inline LineChart demo_log_lines() {
  LineChart chart{.title = "Residual of the partition function",
                  .caption = "Both axes logarithmic.",
                  .x = {.title = "sweeps", .log = true},
                  .y = {.title = "largest residual", .log = true}};
  for (const double rate : {0.9, 0.99, 0.999}) {
    Series series{.name = fmt::format("discount {}", rate), .x = {}, .y = {}, .markers = true};
    for (double n = 1; n <= 10000; n *= 2) {
      series.x.push_back(n);
      series.y.push_back(std::pow(rate, n));
    }
    chart.series.push_back(series);
  }
  return chart;
}

inline HeatMap demo_heat(int64_t side) {
  HeatMap map{.title = "Probability that item 1 is sold",
              .caption = "One bidder, two items, values uniform on [0, 1].",
              .x = {.title = "value of item 1", .low = 0, .high = 1},
              .y = {.title = "value of item 2", .low = 0, .high = 1},
              .rows = side,
              .columns = side,
              .value_title = "probability"};
  for (int64_t row = 0; row < side; ++row)
    for (int64_t column = 0; column < side; ++column) {
      const double x = (column + 0.5) / side, y = (row + 0.5) / side;
      const double sold = 1 / (1 + std::exp(-40 * std::max(x - 0.66, x + y - 0.86)));
      map.values.push_back(x < 0.05 && y < 0.05 ? NAN : sold);
    }
  return map;
}

inline HeatMap demo_named_heat() {
  HeatMap map{.title = "Return by training and test game",
              .rows = 3,
              .columns = 4,
              .values = {9.1, 3.2, 5.5, 4.1, 2.2, 8.8, 4.4, 3.9, 3.0, 2.6, 7.9, -1.5},
              .value_title = "mean return",
              .column_names = {"maze", "heist", "bigfish", "leaper with pits"},
              .row_names = {"PPO", "LEEP", "IDAAC"}};
  for (const double value : map.values) map.text.push_back(fmt::format("{:.1f}", value));
  return map;
}

inline HeatMap demo_categories() {
  HeatMap map{.title = "What the menu sells",
              .x = {.title = "value of item 1", .low = 4, .high = 16},
              .y = {.title = "value of item 2", .low = 4, .high = 7},
              .rows = 30,
              .columns = 40,
              .categories = {"nothing", "item 1", "item 2", "both items"}};
  for (int row = 0; row < 30; ++row)
    for (int column = 0; column < 40; ++column)
      map.values.push_back(column < 12 ? (row < 15 ? 0 : 2) : (row < 8 ? 1 : 3));
  return map;
}

inline BarChart demo_bars() {
  return {.title = "Revenue by mechanism and setting",
          .caption = "Error bars are 95% intervals.",
          .x = {.title = "setting"},
          .y = {.title = "revenue"},
          .groups = {"1x2 uniform(0,1)", "2x2 uniform(0,1)", "3x10 uniform(0,1)", "IV"},
          .bars = {{"ours", {0.55, 0.87, 5.54, 9.7}, {0.01, 0.02, 0.08, 0.3}},
                   {"published", {0.554, 0.878, 5.541, 9.734}},
                   {"item-wise Myerson", {0.5, 0.83, 5.31, NAN}}}};
}

inline Histogram demo_histogram() {
  std::vector<double> samples;
  Rng rng(3);
  for (int i = 0; i < 5000; ++i) samples.push_back(rng.exponential(0.01));
  Histogram result = histogram(samples);
  result.title = "Regret per profile";
  result.x.title = "regret";
  result.y.title = "profiles";
  return result;
}

inline GridPicture demo_grid(int64_t rows, int64_t columns, bool stochastic) {
  GridPicture picture{.title = stochastic ? "Soft policy" : "Optimal policy",
                      .caption = "Colours are values; arrows are moves.",
                      .rows = rows,
                      .columns = columns,
                      .value_title = "value"};
  Rng rng(11);
  for (int64_t cell = 0; cell < rows * columns; ++cell) {
    const int64_t row = cell / columns, column = cell % columns;
    const bool wall = rng.uniform() < 0.15;
    picture.cells.push_back(cell == 0                    ? Cell::kStart
                            : cell == rows * columns - 1 ? Cell::kGoal
                            : rng.uniform() < 0.03       ? Cell::kPit
                            : wall                       ? Cell::kWall
                                                         : Cell::kFree);
    picture.values.push_back(-static_cast<double>(rows - 1 - row + columns - 1 - column));
    const double right = stochastic ? 0.2 + 0.5 * rng.uniform() : rng.below(2);
    const double rest = 1 - right;
    const double back = stochastic ? 0.1 * rest : 0;
    picture.moves.insert(picture.moves.end(), {back, right, rest - 2 * back, back});
  }
  return picture;
}

inline Image demo_image() {
  Raster raster(64, 48, {20, 40, 80});
  for (int64_t y = 0; y < 48; ++y)
    for (int64_t x = 0; x < 64; ++x)
      if ((x / 8 + y / 8) % 2 == 0)
        raster.set(x, y, {static_cast<uint8_t>(4 * x), static_cast<uint8_t>(5 * y), 90});
  return {.title = "A frame of the environment",
          .caption = "64 x 48 pixels, enlarged.",
          .png = encode_png(raster),
          .width = 320,
          .pixelated = true};
}

inline std::vector<Chart> demo_charts() {
  return {demo_lines(),          demo_log_lines(), demo_heat(120),   demo_named_heat(),
          demo_categories(),     demo_bars(),      demo_histogram(), demo_grid(8, 12, false),
          demo_grid(6, 6, true), demo_image()};
}

inline Page demo_page() {
  Page page{.title = "Agora: every kind of block and chart",
            .subtitle = "A page of invented numbers, made by the tests of the report room"};
  page.summary = {
      Badges{{{Verdict::kPass, "5 reproduced"},
              {Verdict::kFail, "1 not reproduced"},
              {Verdict::kMissing, "2 not run"}}},
      Paragraph{"Each section sets our numbers beside the printed ones, with the rule that decides "
                "and the command that makes them again."},
      Facts{{{"machine", "2 cores"}, {"time", "4 min 12 s"}, {"scale", "quick"}, {"seed", "7"}}}};
  Table table{
      .title = "Revenue",
      .caption = "Ours with 95% intervals; the rule allows 0.01.",
      .columns = {{"setting"},
                  {"mechanism"},
                  {"published", true, true},
                  {"ours", true},
                  {"difference", true}},
      .rows = {{{"1x2 uniform(0,1)", "ALGnet", "0.555", "0.553 ± 0.002", "−0.002"}, Verdict::kPass},
               {{"2x2 uniform(0,1)", "ALGnet", "0.879", "0.861 ± 0.003", "−0.018"}, Verdict::kFail},
               {{"3x10 uniform(0,1)", "EquivariantNet", "5.562", "", ""}, Verdict::kMissing}}};
  const auto command = [](const char* name) {
    return Code{fmt::format("agora reproduce {} --scale quick --seed 7 --threads 2", name),
                "Command"};
  };
  page.sections = {
      {"Chapter 4, table A", Verdict::kFail, {table, command("ch4-table-a")}},
      {"Learning curves",
       Verdict::kPass,
       {ChartBlock{{demo_lines(), demo_log_lines()}}, command("ch4-curves")}},
      {"Allocations",
       Verdict::kPass,
       {Paragraph{"A learned mechanism drawn over the two values."},
        ChartBlock{{demo_heat(120), demo_categories()}}, ChartBlock{{demo_named_heat()}}}},
      {"Bars and samples", Verdict::kNone, {ChartBlock{{demo_bars(), demo_histogram()}}}},
      {"Policies on a grid",
       Verdict::kMissing,
       {ChartBlock{{demo_grid(8, 12, false), demo_grid(6, 6, true)}},
        ChartBlock{{demo_grid(60, 90, false)}}}},
      {"A subsection with a picture", Verdict::kNone, {ChartBlock{{demo_image()}}}, 2},
      {"Gaps",
       Verdict::kNone,
       {ChartBlock{{LineChart{.title = "Nothing measured yet", .x = {.title = "steps"}},
                    LineChart{.title = "One point",
                              .x = {.title = "steps"},
                              .series = {{"only", {3}, {0.25}}}}}}}}};
  return page;
}

}  // namespace agora::report
