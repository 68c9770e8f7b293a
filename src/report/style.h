#pragma once
#include <string>

namespace agora::report {

std::string chart_style();         // CSS rules of .agora-chart pictures, light and dark
std::string page_style();          // CSS of a page
std::string page_script();         // copy buttons
std::string interactive_script();  // turns pictures into plotly charts when they come into view

}  // namespace agora::report
