#include <algorithm>

#include "report/palette.h"
#include "report/svg_kinds.h"
#include "report/svg_plot.h"
#include "report/text.h"
#include "report/thin.h"

namespace agora::report {
namespace {

constexpr size_t kMostPoints = 1200;

// Calls draw(begin, end) for every run of neighbours without a gap.
template <typename Whole, typename Draw>
void for_each_run(size_t size, Whole&& whole, Draw&& draw) {
  for (size_t begin = 0; begin < size;) {
    if (!whole(begin)) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < size && whole(end)) ++end;
    draw(begin, end);
    begin = end;
  }
}

void draw_band(SvgBody& body, const Plot& plot, const Series& series, int colour) {
  const auto whole = [&](size_t i) {
    return drawable(series.x[i], plot.x.log()) && drawable(series.lower[i], plot.y.log()) &&
           drawable(series.upper[i], plot.y.log());
  };
  for_each_run(series.lower.size(), whole, [&](size_t begin, size_t end) {
    std::string path;
    const auto add = [&](size_t i, double value) {
      path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(plot.at_x(series.x[i])),
                          coordinate(plot.at_y(value)));
    };
    for (size_t i = begin; i < end; ++i) add(i, series.upper[i]);
    for (size_t i = end; i > begin; --i) add(i - 1, series.lower[i - 1]);
    body.add(R"(<path d="{}Z" class="f{} b"/>)", path, colour);
  });
}

void draw_curve(SvgBody& body, const Plot& plot, const Series& series, int index) {
  const int colour = index % kSeriesColours;
  const auto whole = [&](size_t i) {
    return drawable(series.x[i], plot.x.log()) && drawable(series.y[i], plot.y.log());
  };
  const auto dot = [&](size_t i) {
    body.add(R"(<circle cx="{}" cy="{}" r="{}" class="f{}"/>)", coordinate(plot.at_x(series.x[i])),
             coordinate(plot.at_y(series.y[i])), series.markers ? 2.6 : 3.5, colour);
  };
  for_each_run(series.y.size(), whole, [&](size_t begin, size_t end) {
    if (series.line && end - begin > 1) {
      std::string path;
      for (size_t i = begin; i < end; ++i)
        path += fmt::format("{}{} {}", i == begin ? "M" : "L", coordinate(plot.at_x(series.x[i])),
                            coordinate(plot.at_y(series.y[i])));
      body.add(R"(<path d="{}" class="s{} l"{}/>)", path, colour, dash(index, series.dashed));
    }
    // A point alone would not show as a line.
    const bool alone = end - begin == 1;
    if (series.markers || alone)
      for (size_t i = begin; i < end; ++i) dot(i);
  });
}

}  // namespace

SvgDrawing draw_svg(const LineChart& chart, double width) {
  SvgBody body;
  std::vector<Series> all;
  std::vector<LegendEntry> legend;
  Extent x_extent, y_extent;
  for (const Series& series : chart.series) {
    all.push_back(thin(series, kMostPoints));
    if (!series.name.empty())
      legend.push_back(
          {series.name, static_cast<int>(all.size()) - 1, !series.line, series.dashed});
    x_extent.add(all.back().x, chart.x.log);
    for (const auto* values : {&all.back().y, &all.back().lower, &all.back().upper})
      y_extent.add(*values, chart.y.log);
  }
  const bool empty = x_extent.empty || y_extent.empty;
  Plot plot;
  plot.x = AxisScale(chart.x, x_extent, 0.02);
  plot.y = AxisScale(chart.y, y_extent, 0.05);
  plot.height = width * 0.5;
  const auto y_ticks = ticks(plot.y, 6);
  plot.left = y_axis_room(chart.y, y_ticks);
  plot.width = width - plot.left - 14;
  plot.top = 8;
  const double axes =
      draw_axes(body, plot, chart.x, chart.y, x_ticks_that_fit(plot.x, plot.width), y_ticks);
  const double bottom = draw_legend(body, legend, 8, width - 16, axes + 4);
  if (empty) {
    draw_no_data(body, plot);
    return {body.text(), bottom + 6};
  }

  // A picture inside the picture cuts off what lies outside fixed axes.
  SvgBody inside;
  for (size_t i = 0; i < all.size(); ++i)
    if (!all[i].lower.empty())
      draw_band(inside, plot, all[i], static_cast<int>(i) % kSeriesColours);
  for (size_t i = 0; i < all.size(); ++i) draw_curve(inside, plot, all[i], static_cast<int>(i));
  const std::string box =
      fmt::format("{} {} {} {}", coordinate(plot.left - 3), coordinate(plot.top - 3),
                  coordinate(plot.width + 6), coordinate(plot.height + 6));
  body.add(R"(<svg x="{}" y="{}" width="{}" height="{}" viewBox="{}">{}</svg>)",
           coordinate(plot.left - 3), coordinate(plot.top - 3), coordinate(plot.width + 6),
           coordinate(plot.height + 6), box, inside.text());
  return {body.text(), bottom + 6};
}

}  // namespace agora::report
