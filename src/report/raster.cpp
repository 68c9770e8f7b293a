// Software drawing of grids and heat maps: shapes are given by their distance, in pixels, to the
// middle of each pixel, which also smooths their edges.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/thread_pool.h"
#include "report/arrows.h"
#include "report/palette.h"
#include "report/png.h"
#include "report/thin.h"

namespace agora::report {
namespace {

struct Point {
  double x, y;
};

double to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double t =
      length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// Inside is negative; the corners may be in either order.
double to_triangle(Point p, Point a, Point b, Point c) {
  const auto side = [&](Point u, Point v) {
    return (v.x - u.x) * (p.y - u.y) - (v.y - u.y) * (p.x - u.x);
  };
  const double s = side(a, b), t = side(b, c), u = side(c, a);
  const bool inside = (s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0);
  const double edge = std::min({to_segment(p, a, b), to_segment(p, b, c), to_segment(p, c, a)});
  return inside ? -edge : edge;
}

// Colours the pixels of a square around `middle` where distance(pixel) < 0.
template <typename Distance>
void paint(Raster& raster, Point middle, double reach, Rgb colour, Distance&& distance) {
  const auto low = [&](double at) { return std::max<int64_t>(0, std::floor(at - reach)); };
  const auto high = [&](double at, int64_t end) {
    return std::min<int64_t>(end, std::ceil(at + reach));
  };
  for (int64_t y = low(middle.y); y < high(middle.y, raster.height); ++y)
    for (int64_t x = low(middle.x); x < high(middle.x, raster.width); ++x) {
      const double cover = std::clamp(0.5 - distance(Point{x + 0.5, y + 0.5}), 0.0, 1.0);
      if (cover <= 0) continue;
      Rgb mixed = raster.at(x, y);
      for (int i = 0; i < 3; ++i)
        mixed[i] = static_cast<uint8_t>(std::lround(mixed[i] + cover * (colour[i] - mixed[i])));
      raster.set(x, y, mixed);
    }
}

void paint_disc(Raster& raster, Point middle, double radius, Rgb colour) {
  paint(raster, middle, radius + 1, colour,
        [&](Point p) { return std::hypot(p.x - middle.x, p.y - middle.y) - radius; });
}

void paint_line(Raster& raster, Point a, Point b, double width, Rgb colour) {
  const Point middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
  const double reach = std::max(std::abs(b.x - a.x), std::abs(b.y - a.y)) / 2 + width + 1;
  paint(raster, middle, reach, colour, [&](Point p) { return to_segment(p, a, b) - width / 2; });
}

void paint_arrow(Raster& raster, Point corner, double size, const Arrow& arrow, Rgb colour) {
  const Point tail{corner.x + arrow.x0 * size, corner.y + arrow.y0 * size};
  const Point tip{corner.x + arrow.x1 * size, corner.y + arrow.y1 * size};
  const double length = std::hypot(tip.x - tail.x, tip.y - tail.y);
  if (length <= 0) return;
  const double ux = (tip.x - tail.x) / length, uy = (tip.y - tail.y) / length;
  const double head = std::min(arrow.head * size, length), half = 0.62 * head;
  const Point neck{tip.x - head * ux, tip.y - head * uy};
  paint_line(raster, tail, neck, std::max(1.0, 0.07 * size), colour);
  paint(raster, tip, head + half + 1, colour, [&](Point p) {
    return to_triangle(p, tip, {neck.x - half * uy, neck.y + half * ux},
                       {neck.x + half * uy, neck.y - half * ux});
  });
}

void paint_mark(Raster& raster, Point middle, double size, Cell kind) {
  // Start and goal stay visible in big grids, where pits may be many.
  const double radius = std::max(kind == Cell::kPit ? 1.0 : 3.0, 0.32 * size);
  const double rim = std::max(kind == Cell::kPit ? 0.3 : 1.0, 0.07 * size);
  if (kind == Cell::kPit) {
    const double arm = radius * 0.75;
    for (const double sign : {1.0, -1.0})
      for (const auto& [width, colour] : {std::pair{3 * rim, kStartColour}, {2 * rim, kPitColour}})
        paint_line(raster, {middle.x - arm, middle.y - sign * arm},
                   {middle.x + arm, middle.y + sign * arm}, width, colour);
    return;
  }
  paint_disc(raster, middle, radius + rim, kInkColour);
  paint_disc(raster, middle, radius, kStartColour);
  if (kind == Cell::kGoal) paint_disc(raster, middle, radius * 0.62, kGoalColour);
}

// Where rows and columns land: `size` pixels each, or several to a pixel in big pictures.
struct Layout {
  Layout(int64_t rows_, int64_t columns_, int64_t max_side) : rows(rows_), columns(columns_) {
    CHECK(rows > 0 && columns > 0, "a picture of {} x {} cells", rows, columns);
    size = std::clamp<double>(std::floor(static_cast<double>(max_side) / std::max(rows, columns)),
                              0, 40);
    if (size < 1) size = static_cast<double>(max_side) / std::max(rows, columns);
    width = std::max<int64_t>(1, std::llround(columns * size));
    height = std::max<int64_t>(1, std::llround(rows * size));
  }
  Point corner(int64_t cell) const {
    return {static_cast<double>(cell % columns) * size, static_cast<double>(cell / columns) * size};
  }
  Point middle(int64_t cell) const {
    const Point at = corner(cell);
    return {at.x + size / 2, at.y + size / 2};
  }
  int64_t rows, columns, width, height;
  double size;
};

// Colours of cells, averaged where several share a pixel; thin lines between cells that have room.
template <typename Colour>
Raster paint_cells(const Layout& layout, Colour&& colour, bool lines) {
  Raster raster(layout.width, layout.height, kStartColour);
  const bool spaced = lines && layout.size >= 12;
  for (int64_t y = 0; y < layout.height; ++y) {
    const Range rows = part_range(layout.rows, y, layout.height);
    for (int64_t x = 0; x < layout.width; ++x) {
      const Range columns = part_range(layout.columns, x, layout.width);
      if (layout.size >= 1) {
        const auto size = static_cast<int64_t>(layout.size);
        if (spaced && (y % size == 0 || x % size == 0)) continue;
        raster.set(x, y, colour(y / size * layout.columns + x / size));
        continue;
      }
      std::array<int64_t, 3> sum{};
      for (int64_t row = rows.begin; row < rows.end; ++row)
        for (int64_t column = columns.begin; column < columns.end; ++column) {
          const Rgb one = colour(row * layout.columns + column);
          for (int i = 0; i < 3; ++i) sum[i] += one[i];
        }
      const int64_t count = (rows.end - rows.begin) * (columns.end - columns.begin);
      if (count == 0) continue;
      raster.set(x, y,
                 {static_cast<uint8_t>(sum[0] / count), static_cast<uint8_t>(sum[1] / count),
                  static_cast<uint8_t>(sum[2] / count)});
    }
  }
  return raster;
}

}  // namespace

Raster draw(const GridPicture& picture, int64_t max_side) {
  const Layout layout(picture.rows, picture.columns, max_side);
  const GridColours colours(picture);
  Raster raster = paint_cells(layout, colours, true);
  const int64_t cells = picture.rows * picture.columns;
  constexpr double kArrowRoom = 9;  // pixels
  if (layout.size >= kArrowRoom)
    for (int64_t cell = 0; cell < cells; ++cell) {
      const Rgb ink = wants_dark_ink(colours(cell)) ? kInkColour : kStartColour;
      for (const Arrow& arrow : arrows_at(picture, cell))
        paint_arrow(raster, layout.corner(cell), layout.size, arrow, ink);
    }
  for (size_t i = 1; i < picture.path.size(); ++i)
    paint_line(raster, layout.middle(picture.path[i - 1]), layout.middle(picture.path[i]),
               std::max(2.0, 0.12 * layout.size), kPathColour);
  for (int64_t cell = 0; cell < cells; ++cell) {
    const Cell kind = cell_at(picture, cell);
    if (kind != Cell::kFree && kind != Cell::kWall)
      paint_mark(raster, layout.middle(cell), layout.size, kind);
  }
  return raster;
}

Raster draw(const HeatMap& map, int64_t max_side) {
  const HeatMap small = thin(map, max_side);
  const HeatColours colours(map);
  const Layout layout(small.rows, small.columns, max_side);
  const auto colour = [&](int64_t cell) {
    const int64_t from_top = cell / small.columns;
    const int64_t row = map.row_names.empty() ? small.rows - 1 - from_top : from_top;
    return colours(small.values[row * small.columns + cell % small.columns]);
  };
  return paint_cells(layout, colour, false);
}

}  // namespace agora::report
