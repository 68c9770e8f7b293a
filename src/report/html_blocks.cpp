#include "report/html_blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/plotly.h"
#include "report/svg.h"
#include "report/text.h"

namespace agora::report {

std::string badge(Verdict verdict, std::string_view text) {
  if (verdict == Verdict::kNone && text.empty()) return "";
  constexpr std::string_view kMarks[] = {"", "✓", "≈", "✗", "○"};
  constexpr std::string_view kClasses[] = {"plain", "pass", "looser", "fail", "missing"};
  const int index = static_cast<int>(verdict);
  return fmt::format(R"(<span class="badge {}">{}{}</span>)", kClasses[index],
                     kMarks[index].empty()
                         ? ""
                         : fmt::format(R"(<span aria-hidden="true">{} </span>)", kMarks[index]),
                     escape_markup(text.empty() ? verdict_word(verdict) : text));
}

std::string verdict_dot(Verdict verdict, std::string_view text) {
  if (verdict == Verdict::kNone) return "";
  const std::string_view word = verdict_word(verdict);
  return fmt::format(R"(<span class="dot {}" title="{}"></span>)", word,
                     escape_markup(text.empty() ? word : text));
}

std::string BlockWriter::write(const Block& block) {
  return std::visit([&](const auto& any) { return write(any); }, block) + "\n";
}

std::string BlockWriter::figures() const { return figures_.empty() ? "" : "[" + figures_ + "]"; }

std::string BlockWriter::write(const Paragraph& paragraph) {
  return fmt::format("<p>{}</p>", escape_markup(paragraph.text));
}

std::string BlockWriter::write(const Table& table) {
  const bool verdicts = std::any_of(table.rows.begin(), table.rows.end(),
                                    [](const Row& row) { return row.verdict != Verdict::kNone; });
  const auto classes = [](const Column& column) {
    return fmt::format(R"({}{})", column.numeric ? "number" : "words",
                       column.published ? " published" : "");
  };
  std::string html = R"(<div class="table">)";
  if (!table.title.empty())
    html += fmt::format(R"(<p class="title">{}</p>)", escape_markup(table.title));
  html += R"(<div class="scroll" tabindex="0"><table><thead><tr>)";
  for (const Column& column : table.columns)
    html += fmt::format(R"(<th scope="col" class="{}">{}</th>)", classes(column),
                        escape_markup(column.name));
  if (verdicts) html += R"(<th scope="col" class="verdict">verdict</th>)";
  html += "</tr></thead><tbody>";
  for (const Row& row : table.rows) {
    html += "<tr>";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string cell = i < row.cells.size() ? row.cells[i] : "";
      const bool dash = cell.empty() && table.columns[i].numeric;
      html += fmt::format(R"(<td class="{}">{}</td>)", classes(table.columns[i]),
                          dash ? "–" : escape_markup(cell));
    }
    if (verdicts)
      html += fmt::format(R"(<td class="verdict">{}</td>)", badge(row.verdict, row.verdict_text));
    html += "</tr>";
  }
  html += "</tbody></table></div>";
  if (!table.caption.empty())
    html += fmt::format(R"(<p class="caption">{}</p>)", escape_markup(table.caption));
  return html + "</div>";
}

std::string BlockWriter::write(const Chart& chart) {
  std::string attribute;
  if (const std::string figure = interactive_ ? plotly_figure(chart) : ""; !figure.empty()) {
    attribute = fmt::format(R"( data-figure="{}")", figure_count_);
    figures_ += (figure_count_++ == 0 ? "\n" : ",\n") + figure;
  }
  ++charts_;
  std::string html = "<figure>";
  if (!chart_title(chart).empty())
    html += fmt::format(R"(<p class="title">{}</p>)", escape_markup(chart_title(chart)));
  html += fmt::format(R"(<div class="picture"{}><div class="static">{}</div></div>)", attribute,
                      render_svg(chart, SvgUse::kInline));
  if (!chart_caption(chart).empty())
    html += fmt::format("<figcaption>{}</figcaption>", escape_markup(chart_caption(chart)));
  return html + "</figure>";
}

std::string BlockWriter::write(const ChartBlock& block) {
  if (block.charts.empty()) return "";
  std::string html =
      fmt::format(R"(<div class="charts {}">)", block.charts.size() == 1 ? "one" : "many");
  for (const Chart& chart : block.charts) html += write(chart);
  return html + "</div>";
}

std::string BlockWriter::write(const Code& code) {
  return fmt::format(R"(<div class="code"><p><span>{}</span></p><pre><code>{}</code></pre></div>)",
                     escape_markup(code.label), escape_markup(code.text));
}

std::string BlockWriter::write(const Facts& facts) {
  std::string html = R"(<dl class="facts">)";
  for (const Fact& fact : facts.items)
    html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escape_markup(fact.name),
                        escape_markup(fact.value));
  return html + "</dl>";
}

std::string BlockWriter::write(const Badges& badges) {
  std::string html = R"(<p class="badges">)";
  for (const Badge& item : badges.items) html += badge(item.verdict, item.text);
  return html + "</p>";
}

}  // namespace agora::report
