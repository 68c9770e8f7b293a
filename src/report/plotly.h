#pragma once
#include <string>

#include "report/chart.h"

namespace agora::report {

// {"data": [...], "layout": {...}} for plotly.js, without title and caption. Colours are names of
// CSS variables, "var(--s0)", which the page's script resolves so that they follow the scheme.
// "" for a chart that its static picture shows as well: grids, images, and charts without data.
std::string plotly_figure(const Chart& chart);

// The text of plotly.js, or "" if there is none: from the file named by AGORA_PLOTLY (empty: do
// without), else ../share/agora/plotly.min.js from the program, else the build's own copy.
std::string find_plotly_js();

}  // namespace agora::report
