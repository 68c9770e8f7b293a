#include "report/html.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "report/demo_page.h"
#include "report/markup.h"
#include "report/plotly.h"
#include "report/text.h"

namespace agora::report {
namespace {

const std::string kHostile =
    "</script><script>alert(1)</script> <!-- \"quoted' & <b>bold</b> ]]> \x01 \xff \xed\xa0\x80 é";

TEST(Html, DemoPageIsWellFormedAndNeedsNoNetwork) {
  for (const char* plotly : {"", "window.Plotly={};"}) {
    const std::string html = render_html(demo_page(), plotly);
    EXPECT_EQ(markup_fault(html), "");
    // Nothing is fetched: no address except the name of SVG's namespace.
    EXPECT_EQ(count_of(html, "http"), count_of(html, "http://www.w3.org/2000/svg"));
    EXPECT_EQ(count_of(html, "src="), 0u);
    EXPECT_EQ(count_of(html, "<link"), 0u);
  }
}

TEST(Html, CheckerFindsFaults) {
  EXPECT_NE(markup_fault("<p><b></p></b>"), "");
  EXPECT_NE(markup_fault("<p>a < b</p>"), "");
  EXPECT_NE(markup_fault("<p>&nbsp;</p>"), "");
  EXPECT_NE(markup_fault("<p class=x></p>"), "");
  EXPECT_NE(markup_fault("<p><i id=\"a\"/><i id=\"a\"/></p>"), "");
  EXPECT_NE(markup_fault("<p>"), "");
  EXPECT_EQ(markup_fault("<p class=\"x\">a &lt; b<br/></p>"), "");
}

Page hostile_page() {
  Page page{.title = kHostile, .subtitle = kHostile};
  LineChart lines{.title = kHostile,
                  .caption = kHostile,
                  .x = {.title = kHostile},
                  .y = {.title = kHostile},
                  .series = {{kHostile, {1, 2}, {3, 4}}}};
  HeatMap map{.title = kHostile,
              .rows = 1,
              .columns = 1,
              .values = {1},
              .value_title = kHostile,
              .text = {kHostile},
              .column_names = {kHostile},
              .row_names = {kHostile}};
  BarChart bars{.title = kHostile, .groups = {kHostile}, .bars = {{kHostile, {1}}}};
  page.summary = {Paragraph{kHostile}, Badges{{{Verdict::kPass, kHostile}}},
                  Facts{{{kHostile, kHostile}}}};
  page.sections.push_back({kHostile,
                           Verdict::kFail,
                           {Table{.title = kHostile,
                                  .caption = kHostile,
                                  .columns = {{kHostile}},
                                  .rows = {{{kHostile}, Verdict::kPass}}},
                            Code{kHostile, kHostile}, ChartBlock{{lines, map, bars}}}});
  return page;
}

TEST(Html, HostileWordsStayWords) {
  const std::string plain = render_html(hostile_page(), "");
  EXPECT_EQ(markup_fault(plain), "");
  EXPECT_EQ(count_of(plain, "<script>alert"), 0u);
  EXPECT_EQ(count_of(plain, "<b>"), 0u);

  const std::string library = "window.Plotly={};var s='</script><!-- </SCRIPT >';";
  const std::string html = render_html(hostile_page(), library);
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "<script>alert"), 0u);
  // Copy button, library, figures, charts: four scripts and no more.
  EXPECT_EQ(count_of(html, "<script"), 4u);
  EXPECT_EQ(count_of(html, "</script"), 4u);
  EXPECT_EQ(count_of(html, "</SCRIPT"), 0u);
  EXPECT_EQ(count_of(html, "<!--"), 0u);
}

TEST(Html, FiguresInThePageAreJson) {
  const std::string html = render_html(hostile_page(), "window.Plotly={};");
  const std::string open = "<script type=\"application/json\" id=\"agora-figures\">";
  const size_t begin = html.find(open) + open.size();
  const auto figures =
      nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(count_of(html, "data-figure=\"2\""), 1u);
  const std::string name = figures[0]["data"][0]["name"];
  EXPECT_EQ(name.find('<'), std::string::npos) << "plotly would read markup in it";
}

TEST(Html, WithoutPlotlyItSaysHowToGetIt) {
  EXPECT_EQ(count_of(render_html(demo_page(), ""), "AGORA_PLOTLY"), 1u);
  EXPECT_EQ(count_of(render_html(demo_page(), "x"), "AGORA_PLOTLY"), 0u);
  const Page words{.title = "No charts", .summary = {Paragraph{"Only words."}}};
  EXPECT_EQ(count_of(render_html(words, ""), "AGORA_PLOTLY"), 0u);
}

TEST(Html, AnchorsAreUniqueAndListed) {
  Page page{.title = "t"};
  for (int i = 0; i < 5; ++i) page.sections.push_back({.heading = "Same"});
  const std::string html = render_html(page, "");
  EXPECT_EQ(markup_fault(html), "");
  EXPECT_EQ(count_of(html, "id=\"same-5\""), 1u);
  EXPECT_EQ(count_of(html, "<li class=\"level1\"><a href=\"#same-5\">"), 1u);
  page.sections.resize(2);
  EXPECT_EQ(count_of(render_html(page, ""), "<nav"), 0u) << "a short page needs no contents";
}

TEST(Html, TableMarksVerdictsAndMissingNumbers) {
  Table table{.columns = {{"name"}, {"value", true}}, .rows = {{{"a"}}, {{"b", "1"}}}};
  const Page without{.title = "t", .summary = {table}};
  EXPECT_EQ(count_of(render_html(without, ""), "verdict</th>"), 0u);
  EXPECT_EQ(count_of(render_html(without, ""), "<td class=\"number\">–</td>"), 1u);
  table.rows[1].verdict = Verdict::kFail;
  const Page with{.title = "t", .summary = {table}};
  EXPECT_EQ(count_of(render_html(with, ""), "verdict</th>"), 1u);
  EXPECT_EQ(count_of(render_html(with, ""), "badge fail"), 1u);
}

// The file can be opened to look at: $TEST_TMPDIR/agora-report-demo.html.
TEST(Html, WritesTheDemoPage) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "agora-report-demo.html";
  write_html(file, demo_page());
  const std::string html = read_file(file);
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

TEST(Text, Escapes) {
  EXPECT_EQ(escape_markup("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escape_markup("\xff é \x01 \xc3"), "\xEF\xBF\xBD é \xEF\xBF\xBD \xEF\xBF\xBD");
  EXPECT_EQ(escape_json_for_script(R"({"a":"</script>&"})"),
            R"({"a":"\u003c/script\u003e\u0026"})");
  EXPECT_EQ(escape_javascript_for_script("a</SCRIPT>b<!--"), "a<\\/SCRIPT>b<\\!--");
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(shorten("éééé", 4), "éééé");
  EXPECT_EQ(shorten("ééééé", 4), "ééé…");
  EXPECT_EQ(coordinate(1.5), "1.5");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(200), "200");
}

}  // namespace
}  // namespace agora::report
