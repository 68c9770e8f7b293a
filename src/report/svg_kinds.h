#pragma once
#include <string>

#include "report/chart.h"

namespace agora::report {

// A chart without title and caption, `width` wide.
struct SvgDrawing {
  std::string body;
  double height;
};

SvgDrawing draw_svg(const LineChart& chart, double width);
SvgDrawing draw_svg(const HeatMap& map, double width);
SvgDrawing draw_svg(const BarChart& chart, double width);
SvgDrawing draw_svg(const Histogram& histogram, double width);
SvgDrawing draw_svg(const GridPicture& picture, double width);
SvgDrawing draw_svg(const Image& image, double width);

}  // namespace agora::report
