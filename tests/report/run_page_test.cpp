#include "report/run_page.h"

#include <gtest/gtest.h>

#include "base/run_folder.h"
#include "support/scratch.h"

namespace agora::report {
namespace {

namespace fs = std::filesystem;

fs::path make_run(const fs::path& path, const Json& settings, const std::string& metric,
                  const std::vector<double>& values, const Json& result) {
  RunFolder run = RunFolder::create(path, settings);
  for (size_t k = 0; k < values.size(); ++k) {
    run.metrics().record(static_cast<int64_t>(10 * k), metric, values[k]);
    run.metrics().record(static_cast<int64_t>(10 * k), "loss", -values[k]);
  }
  if (!result.is_null()) run.finish(result);
  if (result.is_null()) run.save(100, {});
  return path;
}

const LineChart& chart(const Page& page, const std::string& title) {
  for (const Section& section : page.sections) {
    for (const Block& block : section.blocks) {
      const auto* charts = std::get_if<ChartBlock>(&block);
      if (charts == nullptr) continue;
      for (const Chart& each : charts->charts) {
        if (chart_title(each) == title) return std::get<LineChart>(each);
      }
    }
  }
  throw user_error("no chart '{}'", title);
}

const Table& table(const Page& page, const std::string& heading) {
  for (const Section& section : page.sections) {
    if (section.heading != heading) continue;
    for (const Block& block : section.blocks) {
      if (const auto* found = std::get_if<Table>(&block)) return *found;
    }
  }
  throw user_error("no table '{}'", heading);
}

using Cells = std::vector<std::vector<std::string>>;
Cells cells(const Table& table) {
  Cells all;
  for (const Row& row : table.rows) all.push_back(row.cells);
  return all;
}

class Pages : public ::testing::Test {
 protected:
  const Scratch scratch;
  const fs::path first =
      make_run(scratch / "first", {{"verb", "auction train"}, {"rate", 0.001}, {"batch", 128}},
               "regret", {0.5, 0.1, 0.004}, {{"revenue", {{"mean", 0.123456}}}, {"file", "a"}});
  const fs::path second =
      make_run(scratch / "second", {{"verb", "auction train"}, {"rate", 0.01}, {"batch", 128}},
               "regret", {0.4, 0.2, 0.1}, {{"revenue", {{"mean", 2.0}}}, {"long", {1, 2}}});
  const fs::path third = make_run(scratch / "third", {{"verb", "plan learn"}, {"episodes", 7}},
                                  "return", {1, 200, 300}, nullptr);
};

TEST_F(Pages, PutRunsBesideEachOther) {
  const Page page = page_of_runs({first, second, third});
  EXPECT_EQ(page.title, "3 runs");
  const LineChart& regret = chart(page, "regret");
  ASSERT_EQ(regret.series.size(), 2u);
  EXPECT_EQ(regret.series[0].name, "first");
  EXPECT_EQ(regret.series[1].name, "second");
  EXPECT_EQ(regret.series[1].x, (std::vector<double>{0, 10, 20}));
  EXPECT_EQ(regret.series[1].y, (std::vector<double>{0.4, 0.2, 0.1}));
  EXPECT_TRUE(regret.y.log);  // .5 to .004, in two runs
  EXPECT_EQ(chart(page, "loss").series.size(), 3u);
  EXPECT_FALSE(chart(page, "loss").y.log);  // not positive
  EXPECT_EQ(chart(page, "return").series.size(), 1u);
  EXPECT_TRUE(chart(page, "return").y.log);
  EXPECT_EQ(cells(table(page, "Options that differ")),
            (Cells{{"batch", "128", "128", ""},
                   {"rate", "0.001", "0.01", ""},
                   {"verb", "auction train", "auction train", "plan learn"},
                   {"episodes", "", "", "7"}}));
  EXPECT_EQ(cells(table(page, "Final numbers")),
            (Cells{{"revenue.mean", "0.1235", "2", ""}, {"file", "a", "", ""}}));
  const Page alike = page_of_runs({first, second});
  EXPECT_EQ(cells(table(alike, "Options that differ")), (Cells{{"rate", "0.001", "0.01"}}));
  EXPECT_FALSE(render_html(page, "").empty());
}

TEST_F(Pages, OneRunHasItsCurves) {
  const Page page = page_of_run(first);
  EXPECT_EQ(page.title, "first");
  EXPECT_EQ(chart(page, "regret").series.size(), 1u);
  EXPECT_TRUE(chart(page, "regret").y.log);
  EXPECT_EQ(cells(table(page, "Result")), (Cells{{"revenue.mean", "0.123456"}, {"file", "a"}}));
}

TEST_F(Pages, SeedsOfARunShareItsCharts) {
  const fs::path both = scratch / "both";
  RunFolder::create(both, {{"verb", "auction train"}, {"seeds", "2,10"}})
      .finish({{"summary", {{"revenue", 1}}}});
  fs::rename(first, both / "seed-10");
  fs::rename(second, both / "seed-2");
  const Page page = page_of_run(both);
  const LineChart& regret = chart(page, "regret");
  ASSERT_EQ(regret.series.size(), 2u);
  EXPECT_EQ(regret.series[0].name, "seed-2");
  EXPECT_EQ(regret.series[1].name, "seed-10");
  EXPECT_EQ(chart(page_of_runs({both, third}), "regret").series[1].name, "both/seed-10");
}

TEST_F(Pages, FoldersOfOneNameAreToldApart) {
  fs::create_directories(scratch / "elsewhere");
  fs::rename(second, scratch / "elsewhere/first");
  const Page page = page_of_runs({first, scratch / "elsewhere/first"});
  EXPECT_EQ(chart(page, "regret").series[0].name, first.string());
  expect_user_error([&] { page_of_runs({first, scratch / "elsewhere"}); }, {"not a run folder"});
}

}  // namespace
}  // namespace agora::report
