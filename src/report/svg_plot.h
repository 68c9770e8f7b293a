#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/chart.h"
#include "report/scale.h"

namespace agora::report {

// What the drawings of all kinds of charts share. Colours are classes (chart_style in svg.cpp):
// t text, m muted text, g grid line, a axis, sN/fN stroke and fill of series N.

enum class Anchor { kStart, kMiddle, kEnd };

inline constexpr double kFontSize = 12.5;

class SvgBody {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...);
  }
  void line(double x0, double y0, double x1, double y1, std::string_view classes);
  void label(double x, double y, std::string_view text, Anchor anchor,
             std::string_view classes = "t", double size = kFontSize, double turn = 0);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The part of a picture inside its axes.
struct Plot {
  double left = 0, top = 0, width = 0, height = 0;
  AxisScale x, y;
  double at_x(double value) const { return left + width * x(value); }
  double at_y(double value) const { return top + height * (1 - y(value)); }
  double bottom() const { return top + height; }
  double right() const { return left + width; }
};

struct LegendEntry {
  std::string name;
  int series = 0;
  bool box = false;  // a filled box in place of a line
  bool dashed = false;
  std::string fill = {};  // of the box, where it does not follow the colour scheme
};

// Draws rows of entries from `top` down and returns the place below them.
double draw_legend(SvgBody& body, const std::vector<LegendEntry>& entries, double left,
                   double width, double top);

// Room that the y axis takes at its left: labels and title.
double y_axis_room(const Axis& axis, const std::vector<Tick>& ticks);

// Grid lines, ticks, labels and titles of both axes. Positions of ticks are in [0, 1].
// Returns the place below everything.
double draw_axes(SvgBody& body, const Plot& plot, const Axis& x, const Axis& y,
                 const std::vector<Tick>& x_ticks, const std::vector<Tick>& y_ticks,
                 bool vertical_grid = true);

std::vector<Tick> x_ticks_that_fit(const AxisScale& scale, double width);

// Names under the x axis, turned where they would touch; returns the room they take.
double draw_names(SvgBody& body, const std::vector<std::string>& names, double left, double width,
                  double top);

void draw_colour_bar(SvgBody& body, const AxisScale& scale, std::string_view title, double left,
                     double top, double height);
inline constexpr double kColourBarRoom = 76;

void draw_no_data(SvgBody& body, const Plot& plot);

// " stroke-dasharray=..." of a series: colours come around again with other dashes.
std::string dash(int series, bool dashed);

}  // namespace agora::report
