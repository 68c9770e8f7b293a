#include <algorithm>
#include <cmath>

#include "report/palette.h"
#include "report/svg_kinds.h"
#include "report/svg_plot.h"
#include "report/text.h"

namespace agora::report {
namespace {

double value_or_gap(const std::vector<double>& values, size_t index) {
  return index < values.size() ? values[index] : NAN;
}

void draw_bar(SvgBody& body, const Plot& plot, double left, double width, double height,
              int colour) {
  if (!drawable(height, plot.y.log())) return;
  const double base = plot.y.log() ? plot.y.low() : std::clamp(0.0, plot.y.low(), plot.y.high());
  const double from = plot.at_y(base);
  const double to = plot.at_y(std::clamp(height, plot.y.low(), plot.y.high()));
  body.add(R"(<rect x="{}" y="{}" width="{}" height="{}" class="f{}"/>)", coordinate(left),
           coordinate(std::min(from, to)), coordinate(width),
           coordinate(std::max(std::abs(from - to), 0.5)), colour);
}

void draw_error(SvgBody& body, const Plot& plot, double middle, double width, double low,
                double high) {
  if (!drawable(high, plot.y.log())) return;
  if (!drawable(low, plot.y.log())) low = plot.y.low();
  const double cap = std::min(5.0, width / 3);
  const double y0 = plot.at_y(std::clamp(low, plot.y.low(), plot.y.high()));
  const double y1 = plot.at_y(std::clamp(high, plot.y.low(), plot.y.high()));
  body.add(R"(<path d="M{0} {1}H{2}M{3} {1}V{4}M{0} {4}H{2}" class="e"/>)",
           coordinate(middle - cap), coordinate(y0), coordinate(middle + cap), coordinate(middle),
           coordinate(y1));
}

// Bars stand on zero, so the axis holds it.
AxisScale scale_of_heights(const Axis& axis, Extent extent) {
  if (!axis.log && !extent.empty) extent.add(0);
  Axis fixed = axis;
  if (!axis.log && !fixed.low && extent.low == 0) fixed.low = 0;
  if (!axis.log && !fixed.high && extent.high == 0 && extent.low < 0) fixed.high = 0;
  return AxisScale(fixed, extent, 0.06);
}

}  // namespace

SvgDrawing draw_svg(const BarChart& chart, double width) {
  SvgBody body;
  std::vector<LegendEntry> legend;
  Extent extent;
  size_t groups = chart.groups.size();
  for (size_t b = 0; b < chart.bars.size(); ++b) {
    const Bars& bars = chart.bars[b];
    groups = std::max(groups, bars.heights.size());
    if (!bars.name.empty()) legend.push_back({bars.name, static_cast<int>(b), true});
    for (size_t i = 0; i < bars.heights.size(); ++i) {
      const double error = value_or_gap(bars.errors, i);
      extent.add(bars.heights[i], chart.y.log);
      extent.add(bars.heights[i] + error, chart.y.log);
      extent.add(bars.heights[i] - error, chart.y.log);
    }
  }
  Plot plot;
  plot.y = scale_of_heights(chart.y, extent);
  const auto y_ticks = ticks(plot.y, 6);
  plot.height = width * 0.46;
  plot.left = y_axis_room(chart.y, y_ticks);
  plot.width = width - plot.left - 10;
  plot.top = 8;

  Axis x = chart.x;
  x.title.clear();  // below the names, drawn here
  draw_axes(body, plot, x, chart.y, {}, y_ticks, false);
  std::vector<std::string> names = chart.groups;
  names.resize(groups);
  double bottom = plot.bottom() + 4;
  bottom += draw_names(body, names, plot.left, plot.width, bottom);
  if (!chart.x.title.empty()) {
    body.label(plot.left + plot.width / 2, bottom + kFontSize, chart.x.title, Anchor::kMiddle);
    bottom += kFontSize + 6;
  }
  bottom = draw_legend(body, legend, 8, width - 16, bottom + 4);
  if (extent.empty) {
    draw_no_data(body, plot);
    return {body.text(), bottom + 6};
  }

  const double band = plot.width / static_cast<double>(std::max<size_t>(groups, 1));
  const double bar = std::min(0.78 * band / static_cast<double>(chart.bars.size()), 70.0);
  for (size_t b = 0; b < chart.bars.size(); ++b)
    for (size_t i = 0; i < chart.bars[b].heights.size(); ++i) {
      const double middle = plot.left + (static_cast<double>(i) + 0.5) * band;
      const double left =
          middle + (static_cast<double>(b) - static_cast<double>(chart.bars.size()) / 2) * bar;
      const double height = chart.bars[b].heights[i], error = value_or_gap(chart.bars[b].errors, i);
      draw_bar(body, plot, left + 0.04 * bar, bar * 0.92, height,
               static_cast<int>(b) % kSeriesColours);
      draw_error(body, plot, left + bar / 2, bar, height - error, height + error);
    }
  if (!plot.y.log() && plot.y.low() < 0)
    body.line(plot.left, plot.at_y(0), plot.right(), plot.at_y(0), "a");
  return {body.text(), bottom + 6};
}

SvgDrawing draw_svg(const Histogram& histogram, double width) {
  SvgBody body;
  Extent x_extent, y_extent;
  x_extent.add(histogram.edges, histogram.x.log);
  y_extent.add(histogram.counts, histogram.y.log);
  Plot plot;
  plot.x = AxisScale(histogram.x, x_extent, 0.01);
  plot.y = scale_of_heights(histogram.y, y_extent);
  const auto y_ticks = ticks(plot.y, 6);
  plot.height = width * 0.46;
  plot.left = y_axis_room(histogram.y, y_ticks);
  plot.width = width - plot.left - 14;
  plot.top = 10;
  const double bottom = draw_axes(body, plot, histogram.x, histogram.y,
                                  x_ticks_that_fit(plot.x, plot.width), y_ticks, false);
  if (x_extent.empty || y_extent.empty) draw_no_data(body, plot);
  for (size_t i = 0; i < histogram.counts.size() && i + 1 < histogram.edges.size(); ++i) {
    const double low = histogram.edges[i], high = histogram.edges[i + 1];
    if (!drawable(low, plot.x.log()) || !drawable(high, plot.x.log())) continue;
    const double left = std::clamp(plot.at_x(low), plot.left, plot.right());
    const double right = std::clamp(plot.at_x(high), plot.left, plot.right());
    const double gap = std::min(1.0, (right - left) * 0.1);
    draw_bar(body, plot, left + gap / 2, right - left - gap, histogram.counts[i], 0);
  }
  return {body.text(), bottom + 6};
}

}  // namespace agora::report
