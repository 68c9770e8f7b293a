#pragma once
#include <string>
#include <string_view>

namespace agora::report {

// Text as content or attribute value of HTML and SVG: markup escaped, control characters and
// broken UTF-8 replaced, so that no title can break the page.
std::string escape_markup(std::string_view text);

// JSON or JavaScript that can stand inside <script>: nothing in it ends the element.
std::string escape_json_for_script(std::string_view json);
std::string escape_javascript_for_script(std::string_view source);

std::string base64(std::string_view bytes);

// At most `limit` characters, the last one an ellipsis when something was cut.
std::string shorten(std::string_view text, size_t limit);

// Width of a line set in a usual sans-serif face, in units of the font size (an estimate).
double text_width(std::string_view text);

// A coordinate with two decimals and no trailing zeros; "0" if it is not finite.
std::string coordinate(double value);

// A value for readers: four significant digits, a true minus sign.
std::string readable(double value);

}  // namespace agora::report
