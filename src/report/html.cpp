#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/files.h"
#include "report/html_blocks.h"
#include "report/plotly.h"
#include "report/style.h"
#include "report/text.h"

namespace agora::report {
namespace {

constexpr size_t kLongPage = 4;  // sections from which a table of contents helps

// Letters and digits joined by hyphens.
std::string slug(std::string_view heading) {
  std::string result;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "section" : result;
}

std::vector<std::string> anchors(const std::vector<Section>& sections) {
  std::vector<std::string> result;
  std::set<std::string> taken;
  for (const Section& section : sections) {
    const std::string name = slug(section.anchor.empty() ? section.heading : section.anchor);
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", name, i);
    result.push_back(unique);
  }
  return result;
}

std::string contents(const Page& page, const std::vector<std::string>& names) {
  std::string list;
  for (size_t i = 0; i < names.size(); ++i)
    list += fmt::format(R"(<li class="level{}"><a href="#{}">{}</a>{}</li>)",
                        std::clamp(page.sections[i].level, 1, 2), names[i],
                        escape_markup(page.sections[i].heading),
                        verdict_dot(page.sections[i].verdict, page.sections[i].verdict_text));
  return fmt::format(R"(<nav class="toc" aria-label="Contents"><p>Contents</p><ul>{}</ul></nav>)",
                     list);
}

constexpr std::string_view kHowToGetCharts =
    "The charts are static pictures: plotly.js was not found. For interactive ones install it "
    "(pip download plotly; the file is plotly/package_data/plotly.min.js), name it in the "
    "environment variable AGORA_PLOTLY and write the report again.";

}  // namespace

std::string_view verdict_word(Verdict verdict) {
  constexpr std::string_view kWords[] = {"", "pass", "looser", "fail", "missing"};
  return kWords[static_cast<int>(verdict)];
}

std::string render_html(const Page& page, std::string_view plotly_js) {
  BlockWriter writer(!plotly_js.empty());
  std::string main;
  for (const Block& block : page.summary) main += writer.write(block);
  const auto names = anchors(page.sections);
  for (size_t i = 0; i < page.sections.size(); ++i) {
    const Section& section = page.sections[i];
    const int level = std::clamp(section.level, 1, 2) + 1;
    main +=
        fmt::format(R"(<section id="{0}"><h{1}><a href="#{0}">{2}</a>{3}</h{1}>)", names[i], level,
                    escape_markup(section.heading), badge(section.verdict, section.verdict_text));
    for (const Block& block : section.blocks) main += writer.write(block);
    main += "</section>\n";
  }
  const bool long_page = page.sections.size() >= kLongPage;
  const bool charts = writer.charts() > 0;
  std::string html = fmt::format(
      R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="color-scheme" content="light dark"/><meta name="generator" content="agora"/>
<title>{}</title>
<style>{}{}</style></head>
<body class="{}"><header><h1>{}</h1>)",
      escape_markup(page.title), page_style(), charts ? chart_style() : "",
      long_page ? "long" : "short", escape_markup(page.title));
  if (!page.subtitle.empty())
    html += fmt::format(R"(<p class="subtitle">{}</p>)", escape_markup(page.subtitle));
  html += "</header>\n";
  if (long_page) html += contents(page, names);
  html += "<main>\n" + main;
  if (charts && plotly_js.empty())
    html += fmt::format(R"(<p class="note">{}</p>)", escape_markup(kHowToGetCharts));
  if (!writer.figures().empty())
    html +=
        R"(<p class="note">Drag over a chart to zoom, double-click to reset; a click on a name )"
        "hides or shows its curve.</p>";
  html += "</main>\n";
  html += "<script>" + escape_javascript_for_script(page_script()) + "</script>\n";
  if (!writer.figures().empty()) {
    html += "<script>" + escape_javascript_for_script(plotly_js) + "</script>\n";
    html += R"(<script type="application/json" id="agora-figures">)";
    html += escape_json_for_script(writer.figures()) + "</script>\n";
    html += "<script>" + escape_javascript_for_script(interactive_script()) + "</script>\n";
  }
  return html + "</body></html>\n";
}

std::string render_html(const Page& page) { return render_html(page, find_plotly_js()); }

void write_html(const std::filesystem::path& file, const Page& page) {
  write_atomically(file, render_html(page));
}

}  // namespace agora::report
