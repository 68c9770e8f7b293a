#include "report/svg_plot.h"

#include <algorithm>
#include <cmath>

#include "report/palette.h"
#include "report/text.h"

namespace agora::report {
namespace {

constexpr double kTickGap = 6;

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label));
  return width * kFontSize;
}

// Cuts a title that is longer than the axis it belongs to.
std::string fitting(const std::string& title, double room) {
  std::string text = title;
  for (size_t limit = 80; limit > 8 && text_width(text) * kFontSize > room; limit -= 4)
    text = shorten(title, limit);
  return text;
}

}  // namespace

void SvgBody::line(double x0, double y0, double x1, double y1, std::string_view classes) {
  add(R"(<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>)", coordinate(x0), coordinate(y0),
      coordinate(x1), coordinate(y1), classes);
}

void SvgBody::label(double x, double y, std::string_view text, Anchor anchor,
                    std::string_view classes, double size, double turn) {
  constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
  std::string place = fmt::format(R"(x="{}" y="{}")", coordinate(x), coordinate(y));
  if (turn != 0)
    place = fmt::format(R"svg(transform="translate({} {}) rotate({})")svg", coordinate(x),
                        coordinate(y), coordinate(turn));
  add(R"(<text {} font-size="{}" text-anchor="{}" class="{}">{}</text>)", place, coordinate(size),
      kAnchors[static_cast<int>(anchor)], classes, escape_markup(text));
}

double draw_legend(SvgBody& body, const std::vector<LegendEntry>& entries, double left,
                   double width, double top) {
  constexpr double kSample = 22, kGap = 6, kBetween = 18, kRow = 20;
  if (entries.empty()) return top;
  double x = left, y = top + 12;
  for (const LegendEntry& entry : entries) {
    const std::string name = fitting(entry.name, width - kSample - kGap);
    const double room = kSample + kGap + text_width(name) * kFontSize;
    if (x > left && x + room > left + width) {
      x = left;
      y += kRow;
    }
    const int colour = entry.series % kSeriesColours;
    if (entry.box)
      body.add(R"(<rect x="{}" y="{}" width="12" height="12" rx="2" {}/>)", coordinate(x + 6),
               coordinate(y - 6),
               entry.fill.empty() ? fmt::format(R"(class="f{}")", colour)
                                  : fmt::format(R"(fill="{}")", entry.fill));
    else
      body.add(R"(<path d="M{} {}h{}" class="s{} l"{}/>)", coordinate(x), coordinate(y),
               coordinate(kSample), colour, dash(entry.series, entry.dashed));
    body.label(x + kSample + kGap, y + 4, name, Anchor::kStart);
    x += room + kBetween;
  }
  return y + kRow - 6;
}

double y_axis_room(const Axis& axis, const std::vector<Tick>& ticks) {
  return widest(ticks) + kTickGap + 4 + (axis.title.empty() ? 0 : kFontSize + 8);
}

double draw_axes(SvgBody& body, const Plot& plot, const Axis& x, const Axis& y,
                 const std::vector<Tick>& x_ticks, const std::vector<Tick>& y_ticks,
                 bool vertical_grid) {
  for (const Tick& tick : y_ticks) {
    const double at = plot.bottom() - tick.position * plot.height;
    body.line(plot.left, at, plot.right(), at, "g");
    body.label(plot.left - kTickGap, at + 4, tick.label, Anchor::kEnd, "m", kFontSize - 0.5);
  }
  for (const Tick& tick : x_ticks) {
    const double at = plot.left + tick.position * plot.width;
    if (vertical_grid) body.line(at, plot.top, at, plot.bottom(), "g");
    body.line(at, plot.bottom(), at, plot.bottom() + 4, "a");
    body.label(at, plot.bottom() + kFontSize + 6, tick.label, Anchor::kMiddle, "m",
               kFontSize - 0.5);
  }
  body.line(plot.left, plot.bottom(), plot.right(), plot.bottom(), "a");
  double below = plot.bottom() + (x_ticks.empty() ? 6 : kFontSize + 12);
  if (!x.title.empty()) {
    body.label(plot.left + plot.width / 2, below + kFontSize, fitting(x.title, plot.width + 40),
               Anchor::kMiddle);
    below += kFontSize + 6;
  }
  if (!y.title.empty())
    body.label(plot.left - y_axis_room(y, y_ticks) + kFontSize, plot.top + plot.height / 2,
               fitting(y.title, plot.height + 20), Anchor::kMiddle, "t", kFontSize, -90);
  return below;
}

std::vector<Tick> x_ticks_that_fit(const AxisScale& scale, double width) {
  for (int wanted = 8; wanted > 1; --wanted) {
    auto result = ticks(scale, wanted);
    bool fits = true;
    for (size_t i = 1; i < result.size(); ++i) {
      const double gap = (result[i].position - result[i - 1].position) * width;
      const double half = (text_width(result[i].label) + text_width(result[i - 1].label)) / 2;
      fits = fits && gap >= half * kFontSize + 12;
    }
    if (fits) return result;
  }
  auto result = ticks(scale, 1);
  if (result.size() > 2) result = {result.front(), result.back()};
  return result;
}

double draw_names(SvgBody& body, const std::vector<std::string>& names, double left, double width,
                  double top) {
  if (names.empty()) return 0;
  constexpr size_t kLimit = 28;
  const double band = width / static_cast<double>(names.size());
  double longest = 0;
  std::vector<std::string> short_names;
  for (const std::string& name : names) {
    short_names.push_back(shorten(name, kLimit));
    longest = std::max(longest, text_width(short_names.back()) * kFontSize);
  }
  const bool turned = longest + 6 > band;
  const double least = turned ? kFontSize + 3 : 0;
  const size_t stride = static_cast<size_t>(std::max(1.0, std::ceil(least / band)));
  for (size_t i = 0; i < names.size(); i += stride) {
    const double x = left + (static_cast<double>(i) + 0.5) * band;
    if (turned)
      body.label(x + 4, top + 12, short_names[i], Anchor::kEnd, "t", kFontSize - 0.5, -40);
    else
      body.label(x, top + kFontSize + 4, short_names[i], Anchor::kMiddle, "t", kFontSize - 0.5);
  }
  return turned ? longest * std::sin(40 * 3.14159 / 180) + 18 : kFontSize + 10;
}

void draw_colour_bar(SvgBody& body, const AxisScale& scale, std::string_view title, double left,
                     double top, double height) {
  constexpr int kSteps = 60;
  constexpr double kWidth = 13;
  for (int step = 0; step < kSteps; ++step) {
    const double y = top + height * (kSteps - 1 - step) / kSteps;
    body.add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", coordinate(left),
             coordinate(y), kWidth, coordinate(height / kSteps + 0.4),
             hex(map_colour((step + 0.5) / kSteps)));
  }
  const auto marks = ticks(scale, height > 160 ? 5 : 3);
  for (const Tick& tick : marks)
    body.label(left + kWidth + 5, top + height * (1 - tick.position) + 4, tick.label,
               Anchor::kStart, "m", kFontSize - 0.5);
  if (!title.empty())
    body.label(left + kColourBarRoom - 14, top + height / 2,
               fitting(std::string(title), height + 20), Anchor::kMiddle, "t", kFontSize, -90);
}

void draw_no_data(SvgBody& body, const Plot& plot) {
  body.label(plot.left + plot.width / 2, plot.top + plot.height / 2 + 4, "no data", Anchor::kMiddle,
             "m", kFontSize + 1);
}

std::string dash(int series, bool dashed) {
  constexpr std::string_view kPatterns[] = {"", "8 3", "2 3", "8 3 2 3"};
  const std::string_view pattern = dashed ? "6 4" : kPatterns[series / kSeriesColours % 4];
  return pattern.empty() ? "" : fmt::format(R"( stroke-dasharray="{}")", pattern);
}

}  // namespace agora::report
