#include <algorithm>
#include <cmath>

#include "report/arrows.h"
#include "report/palette.h"
#include "report/svg_kinds.h"
#include "report/svg_plot.h"
#include "report/text.h"

namespace agora::report {
namespace {

constexpr int64_t kMostCells = 1600;
constexpr double kLargestCell = 46, kMostHeight = 560;
constexpr int64_t kMostPixels = 900;

// Shown by browsers when the pointer rests on the cell.
std::string cell_note(const GridPicture& picture, int64_t cell) {
  if (cell >= static_cast<int64_t>(picture.values.size())) return "";
  if (cell_at(picture, cell) == Cell::kWall) return "";
  return fmt::format("<title>{}</title>", readable(picture.values[cell]));
}

struct Corner {
  double x, y;
};

void draw_arrows(SvgBody& body, const GridPicture& picture, int64_t cell, Corner at, double size,
                 bool dark) {
  for (const Arrow& arrow : arrows_at(picture, cell)) {
    const double x0 = at.x + arrow.x0 * size, y0 = at.y + arrow.y0 * size;
    const double x1 = at.x + arrow.x1 * size, y1 = at.y + arrow.y1 * size;
    const double length = std::hypot(x1 - x0, y1 - y0);
    const double head = std::min(arrow.head * size, length), half = 0.62 * head;
    const double ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    const double nx = x1 - head * ux, ny = y1 - head * uy;
    body.add(R"(<path d="M{} {}L{} {}" class="{}" stroke-width="{}"/>)", coordinate(x0),
             coordinate(y0), coordinate(nx), coordinate(ny), dark ? "ks" : "ws",
             coordinate(std::max(0.8, 0.065 * size)));
    body.add(R"(<path d="M{} {}L{} {}L{} {}Z" class="{}"/>)", coordinate(x1), coordinate(y1),
             coordinate(nx - half * uy), coordinate(ny + half * ux), coordinate(nx + half * uy),
             coordinate(ny - half * ux), dark ? "k" : "w");
  }
}

void draw_mark(SvgBody& body, Cell kind, Corner at, double size) {
  const double x = at.x + size / 2, y = at.y + size / 2, radius = 0.33 * size;
  if (kind == Cell::kPit) {
    for (const auto& [colour, width] : {std::pair{kStartColour, 0.24}, {kPitColour, 0.15}})
      body.add(R"(<path d="M{0} {1}L{2} {3}M{2} {1}L{0} {3}" stroke="{4}" stroke-width="{5}" )"
               R"(stroke-linecap="round"/>)",
               coordinate(x - 0.7 * radius), coordinate(y - 0.7 * radius),
               coordinate(x + 0.7 * radius), coordinate(y + 0.7 * radius), hex(colour),
               coordinate(width * size));
    return;
  }
  const bool goal = kind == Cell::kGoal;
  body.add(R"(<circle cx="{}" cy="{}" r="{}" fill="{}" stroke="{}" stroke-width="{}"/>)",
           coordinate(x), coordinate(y), coordinate(radius), hex(goal ? kGoalColour : kStartColour),
           hex(goal ? kStartColour : kInkColour), coordinate(0.06 * size));
  if (size >= 14)
    body.label(x, y + 0.15 * size, goal ? "G" : "S", Anchor::kMiddle, goal ? "w h" : "k h",
               0.42 * size);
}

void draw_path(SvgBody& body, const GridPicture& picture, const Plot& plot, double size) {
  std::string path;
  for (const int64_t cell : picture.path) {
    const double x = plot.left + (static_cast<double>(cell % picture.columns) + 0.5) * size;
    const double y = plot.top + (static_cast<double>(cell / picture.columns) + 0.5) * size;
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", coordinate(x), coordinate(y));
  }
  if (picture.path.size() > 1)
    body.add(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round" )"
             R"(stroke-linecap="round" stroke-opacity="0.8"/>)",
             path, hex(kPathColour), coordinate(std::max(1.5, 0.11 * size)));
}

}  // namespace

SvgDrawing draw_svg(const GridPicture& picture, double width) {
  SvgBody body;
  Plot plot;
  plot.top = 6;
  if (picture.rows <= 0 || picture.columns <= 0) {
    plot.width = width;
    plot.height = 80;
    draw_no_data(body, plot);
    return {body.text(), 92};
  }
  const bool bar = !picture.values.empty();
  const double room = width - 16 - (bar ? kColourBarRoom : 0);
  const double size = std::min({kLargestCell, room / static_cast<double>(picture.columns),
                                kMostHeight / static_cast<double>(picture.rows)});
  plot.width = size * static_cast<double>(picture.columns);
  plot.height = size * static_cast<double>(picture.rows);
  plot.left = 8 + (room - plot.width) / 2;
  const GridColours colours(picture);
  const int64_t cells = picture.rows * picture.columns;
  if (cells <= kMostCells) {
    const auto corner = [&](int64_t cell) {
      return Corner{plot.left + static_cast<double>(cell % picture.columns) * size,
                    plot.top + static_cast<double>(cell / picture.columns) * size};
    };
    const double gap = size >= 10 ? 1 : 0;
    for (int64_t cell = 0; cell < cells; ++cell) {
      const Corner at = corner(cell);
      const Rgb colour = colours(cell);
      body.add(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"{}>{}</rect>)",
               coordinate(at.x + gap / 2), coordinate(at.y + gap / 2), coordinate(size - gap),
               coordinate(size - gap), hex(colour), gap > 0 ? R"( rx="1.5")" : R"( class="c")",
               cell_note(picture, cell));
      draw_arrows(body, picture, cell, at, size, wants_dark_ink(colour));
    }
    draw_path(body, picture, plot, size);
    for (int64_t cell = 0; cell < cells; ++cell)
      if (const Cell kind = cell_at(picture, cell); kind != Cell::kFree && kind != Cell::kWall)
        draw_mark(body, kind, corner(cell), size);
  } else {
    GridPicture small = picture;
    small.moves.clear();  // too small to read
    body.add(R"(<image x="{}" y="{}" width="{}" height="{}" preserveAspectRatio="none" )"
             R"(href="data:image/png;base64,{}"/>)",
             coordinate(plot.left), coordinate(plot.top), coordinate(plot.width),
             coordinate(plot.height), base64(encode_png(draw(small, kMostPixels))));
  }
  double bottom = plot.bottom();
  if (bar) {
    const double height = std::max(plot.height, 90.0);
    draw_colour_bar(body, colours.scale(), picture.value_title, plot.right() + 12, plot.top,
                    height);
    bottom = std::max(bottom, plot.top + height);
  }
  return {body.text(), bottom + 10};
}

}  // namespace agora::report
