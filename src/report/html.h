#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/chart.h"

namespace agora::report {

// A page is plain data: words are plain text (escaped when written), never markup.

enum class Verdict : uint8_t { kNone, kPass, kLooser, kFail, kMissing };
std::string_view verdict_word(Verdict verdict);  // "", "pass", "looser", "fail", ...

struct Column {
  std::string name;
  bool numeric = false;    // right-aligned, tabular figures
  bool published = false;  // printed in the thesis: set apart from what was measured
};

struct Row {
  std::vector<std::string> cells;  // (columns); an empty cell shows a dash in a numeric column
  Verdict verdict = Verdict::kNone;
  std::string verdict_text = {};  // the word of the verdict if empty
};

// A column of verdicts appears when any row has one.
struct Table {
  std::string title = {}, caption = {};
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
};

struct Paragraph {
  std::string text;
};

struct Code {
  std::string text;        // shown exactly, with a button that copies it
  std::string label = {};  // "Command", "Seed", ...
};

// Short facts in a line: {"seed", "7"}, {"time", "12 s"}.
struct Fact {
  std::string name, value;
};
struct Facts {
  std::vector<Fact> items;
};

struct Badge {
  Verdict verdict = Verdict::kNone;
  std::string text = {};  // the word of the verdict if empty
};
struct Badges {
  std::vector<Badge> items;
};

struct ChartBlock {
  std::vector<Chart> charts;  // side by side where there is room
};

using Block = std::variant<Paragraph, Table, ChartBlock, Code, Facts, Badges>;

struct Section {
  std::string heading;
  Verdict verdict = Verdict::kNone;  // a mark beside the heading and in the table of contents
  std::vector<Block> blocks = {};
  int level = 1;                  // 1: a section, 2: a subsection
  std::string anchor = {};        // of links to it; made from the heading if empty
  std::string verdict_text = {};  // the word of the verdict if empty
};

struct Page {
  std::string title = {};
  std::string subtitle = {};        // version, date, machine: one line under the title
  std::vector<Block> summary = {};  // on top, before the table of contents
  std::vector<Section> sections = {};
};

// One self-contained file: styles, pictures and, where plotly.js is found, its interactive charts.
std::string render_html(const Page& page);
// The same with the text of plotly.js given; empty: static pictures.
std::string render_html(const Page& page, std::string_view plotly_js);

// Renders and writes atomically.
void write_html(const std::filesystem::path& file, const Page& page);

}  // namespace agora::report
