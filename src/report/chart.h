#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace agora::report {

// Charts are plain data; svg.h, plotly.h and png.h draw them. A NaN or infinite number is a gap.
// `name` of a thing drawn goes to the legend, `title` above the picture, `caption` below it.

struct Axis {
  std::string title = {};
  bool log = false;
  // Fixed ends; absent ones follow the data.
  std::optional<double> low = {}, high = {};
};

struct Series {
  std::string name;
  std::vector<double> x, y;                    // (points)
  std::vector<double> lower = {}, upper = {};  // (points) or empty: a band around y
  bool markers = false;                        // dots at the points
  bool line = true;                            // false with markers: a scatter
  bool dashed = false;                         // published or reference curves
};

struct LineChart {
  std::string title = {}, caption = {};
  Axis x = {}, y = {};
  std::vector<Series> series = {};
};

struct HeatMap {
  std::string title = {}, caption = {};
  Axis x = {}, y = {};  // low and high are the outer edges of the cells; 0 and the count if absent
  int64_t rows = 0, columns = 0;
  std::vector<double> values = {};  // (rows, columns), row 0 at the low end of the y axis;
                                    // at the top where rows have names
  std::string value_title = {};     // beside the colour bar
  std::optional<double> low = {}, high = {};  // ends of the colour bar
  std::vector<std::string> text = {};         // (rows, columns) or empty: words on the cells
  // Not empty: values are indices into these names, each a colour of its own.
  std::vector<std::string> categories = {};
  // Names of columns and rows in place of numbers, or empty.
  std::vector<std::string> column_names = {}, row_names = {};
};

struct Bars {
  std::string name;
  std::vector<double> heights;      // (groups)
  std::vector<double> errors = {};  // (groups) or empty: half widths of intervals
};

struct BarChart {
  std::string title = {}, caption = {};
  Axis x = {}, y = {};
  std::vector<std::string> groups = {};  // names under the groups of bars
  std::vector<Bars> bars = {};
};

// Counts over equal bins of [x.low, x.high]; histogram() makes one from samples.
struct Histogram {
  std::string title = {}, caption = {};
  Axis x = {}, y = {};
  std::vector<double> edges = {};   // (bins + 1), increasing
  std::vector<double> counts = {};  // (bins)
};

// bins = 0 lets the number of samples decide. Samples that are not finite are left out.
Histogram histogram(const std::vector<double>& samples, int bins = 0);

enum class Cell : uint8_t { kFree, kWall, kStart, kGoal, kPit };

// A policy on a grid. Row 0 is the top.
struct GridPicture {
  std::string title = {}, caption = {};
  int64_t rows = 0, columns = 0;
  std::vector<Cell> cells = {};     // (rows, columns)
  std::vector<double> values = {};  // (rows, columns) or empty: colours of the cells
  std::string value_title = {};     // beside the colour bar
  // (rows, columns, 4) or empty: probabilities of up, right, down, left. One arrow where one move
  // is certain, arrows with lengths by probability elsewhere; all zeros draw nothing.
  std::vector<double> moves = {};
  std::vector<int64_t> path = {};  // cells (row * columns + column) of a trajectory, or empty
};

// A picture made elsewhere, embedded.
struct Image {
  std::string title = {}, caption = {};
  std::string png;         // bytes of the file
  int64_t width = 0;       // shown at most so wide, in CSS pixels; 0 fills the column
  bool pixelated = false;  // keep hard edges when enlarged
};

using Chart = std::variant<LineChart, HeatMap, BarChart, Histogram, GridPicture, Image>;

const std::string& chart_title(const Chart& chart);
const std::string& chart_caption(const Chart& chart);

}  // namespace agora::report
