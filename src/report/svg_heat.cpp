#include <algorithm>
#include <cmath>

#include "report/palette.h"
#include "report/svg_kinds.h"
#include "report/svg_plot.h"
#include "report/text.h"
#include "report/thin.h"

namespace agora::report {
namespace {

constexpr int64_t kMostRectangles = 1600, kMostPixels = 500;

void draw_cells(SvgBody& body, const Plot& plot, const HeatMap& map) {
  const HeatColours colours(map);
  const double width = plot.width / static_cast<double>(map.columns);
  const double height = plot.height / static_cast<double>(map.rows);
  for (int64_t row = 0; row < map.rows; ++row)
    for (int64_t column = 0; column < map.columns; ++column) {
      const int64_t cell = row * map.columns + column;
      const double x = plot.left + static_cast<double>(column) * width;
      const int64_t from_top = map.row_names.empty() ? map.rows - 1 - row : row;
      const double y = plot.top + static_cast<double>(from_top) * height;
      const Rgb colour = colours(map.values[cell]);
      body.add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}" class="c"/>)", coordinate(x),
               coordinate(y), coordinate(width), coordinate(height), hex(colour));
      if (cell >= static_cast<int64_t>(map.text.size()) || map.text[cell].empty()) continue;
      const double size =
          std::min({kFontSize, 0.6 * height, 0.9 * width / text_width(map.text[cell])});
      if (size >= 5)
        body.label(x + width / 2, y + height / 2 + 0.35 * size, map.text[cell], Anchor::kMiddle,
                   wants_dark_ink(colour) ? "k" : "w", size);
    }
}

// Names at the middles of rows, from the top down.
std::vector<Tick> name_ticks(const std::vector<std::string>& names, int64_t count) {
  std::vector<Tick> result;
  for (size_t i = 0; i < names.size() && static_cast<int64_t>(i) < count; ++i)
    result.push_back(
        {1 - (static_cast<double>(i) + 0.5) / static_cast<double>(count), shorten(names[i], 24)});
  return result;
}

Axis with_edges(const Axis& axis, int64_t count) {
  Axis result = axis;
  result.log = false;  // cells are equally wide
  if (!axis.low || !drawable(*axis.low)) result.low = 0;
  if (!axis.high || !drawable(*axis.high)) result.high = static_cast<double>(count);
  return result;
}

}  // namespace

SvgDrawing draw_svg(const HeatMap& full, double width) {
  SvgBody body;
  const HeatMap map = thin(full, kMostPixels);
  const bool empty = map.rows <= 0 || map.columns <= 0;
  Plot plot;
  const Axis x = with_edges(map.x, map.columns), y = with_edges(map.y, map.rows);
  plot.x = AxisScale(x, {}, 0);
  plot.y = AxisScale(y, {}, 0);
  const bool named_rows = !map.row_names.empty(), named_columns = !map.column_names.empty();
  const auto y_ticks = named_rows ? name_ticks(map.row_names, map.rows) : ticks(plot.y, 5);
  const bool bar = map.categories.empty();
  plot.left = y_axis_room(y, y_ticks);
  plot.width = width - plot.left - 14 - (bar ? kColourBarRoom : 0);
  const double shape = empty ? 0.5 : static_cast<double>(map.rows) / map.columns;
  plot.height = plot.width * std::clamp(shape, 0.3, 1.0);
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < map.categories.size(); ++i)
    legend.push_back(
        {.name = map.categories[i], .box = true, .fill = hex(series_colour(static_cast<int>(i)))});
  plot.top = 10;

  Axis x_shown = x;
  if (named_columns) x_shown.title.clear();
  double bottom = draw_axes(
      body, plot, x_shown, y,
      named_columns ? std::vector<Tick>{} : x_ticks_that_fit(plot.x, plot.width), y_ticks);
  if (named_columns) {
    bottom = plot.bottom() + 4;
    bottom += draw_names(body, map.column_names, plot.left, plot.width, bottom);
    if (!x.title.empty()) {
      body.label(plot.left + plot.width / 2, bottom + kFontSize, x.title, Anchor::kMiddle);
      bottom += kFontSize + 6;
    }
  }
  bottom = draw_legend(body, legend, 8, width - 16, bottom + 4);
  if (empty) {
    draw_no_data(body, plot);
    return {body.text(), bottom + 6};
  }
  if (map.rows * map.columns <= kMostRectangles)
    draw_cells(body, plot, map);
  else
    body.add(R"(<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" )"
             R"(style="image-rendering:pixelated" href="data:image/png;base64,{}"/>)",
             coordinate(plot.left), coordinate(plot.top), coordinate(plot.width),
             coordinate(plot.height), base64(encode_png(draw(map, kMostPixels))));
  if (bar)
    draw_colour_bar(body, HeatColours(full).scale(), map.value_title, plot.right() + 14, plot.top,
                    plot.height);
  return {body.text(), bottom + 6};
}

}  // namespace agora::report
