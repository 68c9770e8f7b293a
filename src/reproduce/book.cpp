#include "reproduce/book.h"

#include <algorithm>
#include <map>

#include "base/commit.h"
#include "base/error.h"
#include "base/features.h"
#include "base/files.h"
#include "report/html.h"
#include "report/svg.h"

namespace agora::reproduce {
namespace {

const Configuration& configuration_of(const Experiment& experiment, Scale scale) {
  return scale == Scale::kQuick ? experiment.quick : experiment.full;
}

size_t passes(const Chapter& chapter) {
  const auto& findings = chapter.outcome.findings;
  return static_cast<size_t>(std::count_if(findings.begin(), findings.end(),
                                           [](const Finding& each) { return each.pass; }));
}

report::Verdict verdict_of(const Chapter& chapter) {
  if (!chapter.ran()) return report::Verdict::kMissing;
  return chapter.reproduced() ? report::Verdict::kPass : report::Verdict::kFail;
}

// Why a chapter is not reproduced, in a few words.
std::string why(const Chapter& chapter) {
  if (!chapter.ran()) return chapter.failure;
  for (const Finding& each : chapter.outcome.findings) {
    if (!each.pass) return fmt::format("{}: {:.6g}, expected {}", each.what, each.ours, each.rule);
  }
  return "";
}

std::string ours_in_words(const Finding& found) {
  if (!found.half_width) return fmt::format("{:.6g}", found.ours);
  return fmt::format("{:.6g} ± {:.2g}", found.ours, *found.half_width);
}

std::string seconds_in_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

report::Section section_of(const Chapter& chapter, const Order& order) {
  const Experiment& experiment = *chapter.experiment;
  report::Section section{.heading = fmt::format("{}: {}", experiment.name, experiment.title),
                          .verdict = verdict_of(chapter),
                          .anchor = experiment.name};
  const Configuration& configuration = configuration_of(experiment, order.scale);
  std::string seeds;
  for (const Job& job : chapter.jobs)
    seeds += fmt::format("{}{}", seeds.empty() ? "" : ", ", job.seed);
  report::Facts facts{
      {{"thesis", experiment.source},
       {"scale", fmt::format("{} ({})", scale_name(order.scale), configuration.words)},
       {"seeds", seeds},
       {"time", seconds_in_words(chapter.seconds)}}};
  if (chapter.commits.size() > 1 ||
      (!chapter.commits.empty() && chapter.commits[0] != AGORA_COMMIT)) {
    facts.items.push_back({"made by commit", fmt::format("{}", fmt::join(chapter.commits, ", "))});
  }
  section.blocks.emplace_back(std::move(facts));
  if (!chapter.ran()) {
    section.blocks.emplace_back(report::Paragraph{"It did not run to its end: " + chapter.failure});
  }
  if (!chapter.outcome.findings.empty()) {
    report::Table table{.columns = {{.name = "What"},
                                    {.name = "Published", .numeric = true, .published = true},
                                    {.name = "Ours", .numeric = true},
                                    {.name = "Counts as reproduced"}}};
    for (const Finding& each : chapter.outcome.findings) {
      table.rows.push_back(
          {.cells = {each.what, each.published, ours_in_words(each), each.rule},
           .verdict = each.pass ? report::Verdict::kPass : report::Verdict::kFail});
    }
    section.blocks.emplace_back(std::move(table));
  }
  if (!chapter.outcome.remark.empty()) {
    section.blocks.emplace_back(report::Paragraph{chapter.outcome.remark});
  }
  if (!chapter.outcome.charts.empty()) {
    section.blocks.emplace_back(report::ChartBlock{chapter.outcome.charts});
  }
  section.blocks.emplace_back(
      report::Code{.text = fmt::format("agora reproduce {} --scale {} --seed {}", experiment.name,
                                       scale_name(order.scale), order.seed),
                   .label = "Command"});
  return section;
}

}  // namespace

bool Chapter::reproduced() const { return ran() && passes(*this) == outcome.findings.size(); }

std::vector<Chapter> judge(const std::vector<Job>& jobs, Scale scale) {
  std::map<std::string, Chapter> by_name;
  for (const Job& job : jobs) {
    Chapter& chapter = by_name[job.experiment->name];
    chapter.experiment = job.experiment;
    chapter.jobs.push_back(job);
  }
  std::vector<Chapter> chapters;
  for (auto& [name, chapter] : by_name) {
    std::sort(chapter.jobs.begin(), chapter.jobs.end(),
              [](const Job& a, const Job& b) { return a.seed < b.seed; });
    std::vector<Json> results;
    for (const Job& job : chapter.jobs) {
      const Json result = finished_result(job.folder);
      if (result.is_null()) {
        chapter.failure = job.failure.empty() ? "it was not run" : job.failure;
        break;
      }
      results.push_back(result.at("values"));
      chapter.seconds += result.at("seconds").get<double>();
      const auto commit = result.at("commit").get<std::string>();
      if (std::find(chapter.commits.begin(), chapter.commits.end(), commit) ==
          chapter.commits.end()) {
        chapter.commits.push_back(commit);
      }
    }
    if (chapter.ran()) chapter.outcome = chapter.experiment->judge(scale, results);
    chapters.push_back(std::move(chapter));
  }
  return chapters;
}

Json to_json(const std::vector<Chapter>& chapters, Scale scale) {
  Json list = Json::array();
  int reproduced = 0;
  int failed = 0;
  for (const Chapter& chapter : chapters) {
    reproduced += chapter.reproduced();
    failed += !chapter.ran();
    Json findings = Json::array();
    for (const Finding& each : chapter.outcome.findings) {
      findings.push_back({{"what", each.what},
                          {"published", each.published},
                          {"ours", each.ours},
                          {"half_width", each.half_width ? Json(*each.half_width) : Json(nullptr)},
                          {"rule", each.rule},
                          {"pass", each.pass}});
    }
    list.push_back({{"name", chapter.experiment->name},
                    {"reproduced", chapter.reproduced()},
                    {"failure", chapter.ran() ? Json(nullptr) : Json(chapter.failure)},
                    {"seconds", chapter.seconds},
                    {"findings", std::move(findings)}});
  }
  return {{"scale", scale_name(scale)},
          {"reproduced", reproduced},
          {"missed", static_cast<int>(chapters.size()) - reproduced - failed},
          {"failed", failed},
          {"experiments", std::move(list)}};
}

void write_report(const std::filesystem::path& file, const std::vector<Chapter>& chapters,
                  const Order& order) {
  const Json totals = to_json(chapters, order.scale);
  report::Page page{
      .title = "The thesis, reproduced",
      .subtitle = fmt::format("agora {} ({}), scale {}, {} experiments", AGORA_VERSION,
                              AGORA_COMMIT, scale_name(order.scale), chapters.size())};
  page.summary.emplace_back(report::Badges{
      {{report::Verdict::kPass, fmt::format("{} reproduced", totals["reproduced"].get<int>())},
       {report::Verdict::kFail, fmt::format("{} missed", totals["missed"].get<int>())},
       {report::Verdict::kMissing, fmt::format("{} not run", totals["failed"].get<int>())}}});
  report::Table table{.columns = {{.name = "Experiment"},
                                  {.name = "What"},
                                  {.name = "Rules met", .numeric = true},
                                  {.name = "Time", .numeric = true},
                                  {.name = "Why not"}}};
  for (const Chapter& chapter : chapters) {
    table.rows.push_back(
        {.cells = {chapter.experiment->name, chapter.experiment->title,
                   fmt::format("{} of {}", passes(chapter), chapter.outcome.findings.size()),
                   seconds_in_words(chapter.seconds), why(chapter)},
         .verdict = verdict_of(chapter)});
    page.sections.push_back(section_of(chapter, order));
  }
  page.summary.emplace_back(std::move(table));
  report::write_html(file, page);
}

void write_pictures(const std::filesystem::path& folder, const std::vector<Chapter>& chapters) {
  make_folder(folder);
  for (const Chapter& chapter : chapters) {
    int number = 0;
    for (const report::Chart& chart : chapter.outcome.charts) {
      report::write_svg(folder / fmt::format("{}-{}.svg", chapter.experiment->name, ++number),
                        chart);
    }
  }
}

}  // namespace agora::reproduce
