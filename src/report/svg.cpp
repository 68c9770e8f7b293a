#include "report/svg.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "report/palette.h"
#include "report/style.h"
#include "report/svg_kinds.h"
#include "report/svg_plot.h"
#include "report/text.h"

namespace agora::report {
namespace {

constexpr double kStandaloneWidth = 640, kInlineWidth = 440, kMargin = 14;

std::string chart_rules(bool dark) {
  const std::string_view ink = dark ? "#e6e9ee" : "#1f2430", muted = dark ? "#a9b1bd" : "#5a6372",
                         grid = dark ? "#333a45" : "#e3e7ed", axis = dark ? "#6f7886" : "#9aa3b0",
                         paper = dark ? "#171a21" : "#ffffff";
  std::string rules = fmt::format(
      ".agora-chart text{{fill:{0}}}.agora-chart .m{{fill:{1}}}.agora-chart .g{{stroke:{2}}}"
      ".agora-chart .a{{stroke:{3}}}.agora-chart .e{{stroke:{0}}}.agora-chart .paper{{fill:{4}}}",
      ink, muted, grid, axis, paper);
  for (int i = 0; i < kSeriesColours; ++i)
    rules += fmt::format(".agora-chart .s{0}{{stroke:{1}}}.agora-chart .f{0}{{fill:{1}}}", i,
                         hex(series_colour(i, dark)));
  return rules + fmt::format(".agora-chart .b{{fill-opacity:{}}}", dark ? 0.26 : 0.18);
}

// Words broken into lines of at most `width` font sizes.
std::vector<std::string> wrapped(std::string_view text, double width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string word(text.substr(0, end));
    if (!line.empty() && text_width(line + " " + word) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

// Lines of text from `top` down; returns the place below.
double draw_paragraph(SvgBody& body, std::string_view text, double width, double top, double size,
                      std::string_view classes) {
  for (const std::string& line : wrapped(text, width / size)) {
    body.label(kMargin, top + size, line, Anchor::kStart, classes, size);
    top += size * 1.35;
  }
  return top;
}

std::string accessible_name(const Chart& chart) {
  return fmt::format("<title>{}</title>", escape_markup(chart_title(chart)));
}

}  // namespace

std::string chart_style() {
  const std::string dark = chart_rules(true);
  return ".agora-chart text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,Helvetica,"
         "Arial,sans-serif}"
         ".agora-chart .g{stroke-width:1}.agora-chart .a{stroke-width:1}"
         ".agora-chart .e{stroke-width:1.3;fill:none}"
         ".agora-chart .l{fill:none;stroke-width:1.9;stroke-linejoin:round;stroke-linecap:round}"
         ".agora-chart .c{shape-rendering:crispEdges}"
         ".agora-chart .h{font-weight:700}.agora-chart .ks,.agora-chart .ws{fill:none}" +
         chart_rules(false) + "@media screen and (prefers-color-scheme:dark){" + dark +
         "}"
         // On coloured cells the ink follows the cell, not the scheme.
         ".agora-chart .k,.agora-chart text.k{fill:#1b1e24}"
         ".agora-chart .w,.agora-chart text.w{fill:#fff}"
         ".agora-chart .ks{stroke:#1b1e24}.agora-chart .ws{stroke:#fff}";
}

std::string render_svg(const Chart& chart, SvgUse use) {
  const auto draw_chart = [&](double width) {
    return std::visit([&](const auto& any) { return draw_svg(any, width); }, chart);
  };
  if (use == SvgUse::kInline) {
    const SvgDrawing drawing = draw_chart(kInlineWidth);
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" class="agora-chart" viewBox="0 0 {} {}" role="img">{}{}</svg>)",
        coordinate(kInlineWidth), coordinate(drawing.height), accessible_name(chart), drawing.body);
  }
  const SvgDrawing drawing = draw_chart(kStandaloneWidth - 2 * kMargin);
  SvgBody body;
  double y = kMargin;
  const double text_room = kStandaloneWidth - 2 * kMargin;
  if (!chart_title(chart).empty())
    y = draw_paragraph(body, chart_title(chart), text_room, y, 16, "t h") + 8;
  body.add(R"svg(<g transform="translate({} {})">{}</g>)svg", coordinate(kMargin), coordinate(y),
           drawing.body);
  y += drawing.height;
  if (!chart_caption(chart).empty())
    y = draw_paragraph(body, chart_caption(chart), text_room, y + 4, 12.5, "m");
  const double height = y + kMargin - 4;
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" class="agora-chart" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img">)"
      R"(<style>{2}</style>{3}<rect width="100%" height="100%" rx="8" class="paper"/>{4}</svg>)"
      "\n",
      coordinate(kStandaloneWidth), coordinate(height), chart_style(), accessible_name(chart),
      body.text());
}

SvgDrawing draw_svg(const Image& image, double width) {
  // Width and height stand at fixed places of the first chunk.
  const auto number = [&](size_t at) {
    double value = 0;
    for (size_t i = at; i < at + 4; ++i) value = value * 256 + static_cast<uint8_t>(image.png[i]);
    return value;
  };
  SvgBody body;
  if (image.png.size() < 24 || !image.png.starts_with("\x89PNG") || number(16) <= 0) {
    Plot plot;
    plot.width = width;
    plot.height = 80;
    draw_no_data(body, plot);
    return {body.text(), 80};
  }
  const double shown = image.width > 0 ? std::min(width, static_cast<double>(image.width)) : width;
  const double height = shown * number(20) / number(16);
  body.add(R"(<image x="{}" y="0" width="{}" height="{}"{} href="data:image/png;base64,{}"/>)",
           coordinate((width - shown) / 2), coordinate(shown), coordinate(height),
           image.pixelated ? R"( style="image-rendering:pixelated")" : "", base64(image.png));
  return {body.text(), height + 4};
}

void write_svg(const std::filesystem::path& file, const Chart& chart) {
  write_atomically(file, render_svg(chart));
}

}  // namespace agora::report
