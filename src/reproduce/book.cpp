#include "reproduce/book.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/build.h"
#include "base/error.h"
#include "base/features.h"
#include "base/files.h"
#include "report/html.h"
#include "report/run_page.h"
#include "report/svg.h"
#include "report/text.h"

namespace agora::reproduce {
namespace {

constexpr const char* kHowToRead[] = {
    "A rule holds if it holds for every seed. Quick scale runs the shipped recipes with fewer "
    "iterations: what reaches a looser rule only \"holds, looser than published\"; what so short a "
    "training cannot show is not judged and does not count as reproduced.",
    "\"The thesis's test\" of regret is the printed one with its choices fixed, and differs from "
    "it "
    "in two ways. Printed: gradient ascent on the bid in steps of .001, 300 or 500 of them, from "
    "100 or 300 random bids, the best of which is reported. Here: 300 steps from 100 bids drawn "
    "from the law of values (20 at quick scale), by Adam, projected to the domain; and a step is "
    ".001 of the width of the domain, not of the unit of money, so that values up to 16 are "
    "searched like those up to 1. No start moves by more than about .3 of the domain; the strong "
    "test has no such limit."};

size_t passes(const std::vector<Finding>& findings) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(), [](const Finding& each) {
        return each.verdict == Verdict::kReproduced || each.verdict == Verdict::kLooser;
      }));
}

size_t judged(const std::vector<Finding>& findings) {
  return static_cast<size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [](const Finding& each) { return each.verdict != Verdict::kNotJudged; }));
}

Fate fate_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReproduced:
      return Fate::kReproduced;
    case Verdict::kLooser:
      return Fate::kLooser;
    case Verdict::kNotJudged:
      return Fate::kNotJudged;
    case Verdict::kMissed:
      break;
  }
  return Fate::kMissed;
}

report::Verdict shown_as(Fate fate) {
  switch (fate) {
    case Fate::kReproduced:
      return report::Verdict::kPass;
    case Fate::kLooser:
      return report::Verdict::kLooser;
    case Fate::kMissed:
    case Fate::kFailed:
      return report::Verdict::kFail;
    case Fate::kPartly:
    case Fate::kNotJudged:
    case Fate::kOnRequest:
    case Fate::kNotRun:
      break;
  }
  return report::Verdict::kMissing;
}

std::string number_in_words(int number, Fate fate) {
  if (fate == Fate::kLooser) return fmt::format("{} hold looser than published", number);
  return fmt::format("{} {}", number, fate_words(fate));
}

std::string command_of(const Chapter& chapter, const Order& order) {
  const std::string seeds = order.seeds.empty()
                                ? fmt::format("--seed {}", order.seed)
                                : fmt::format("--seeds {}", fmt::join(order.seeds, ","));
  return fmt::format("agora reproduce {} --scale {} {}", chapter.experiment->name,
                     scale_name(order.scale), seeds);
}

// Why the chapter has no outcome; an error is told rather than the interrupt of another seed.
void explain(Chapter& chapter, const Job& job) {
  if (chapter.fate == Fate::kFailed) return;
  const bool failed = job.state == Job::State::kFailed;
  if (!failed && !chapter.why.empty()) return;
  if (failed) chapter.fate = Fate::kFailed;
  chapter.why = job.failure.empty() ? "it was not begun" : job.failure;
  if (chapter.jobs.size() > 1) chapter.why = fmt::format("seed {}: {}", job.seed, chapter.why);
}

// The results of all seeds, in their order; none if one is missing.
std::vector<Json> results_of(Chapter& chapter, const Order& order) {
  std::vector<Json> results;
  for (const Job& job : chapter.jobs) {
    const Json result = finished_result(job, order);
    if (result.is_null()) {
      explain(chapter, job);
      continue;
    }
    results.push_back(result.at("values"));
    chapter.seconds += result.at("seconds").get<double>();
    chapter.other_build |= result.at("build") != build_id();
    const auto commit = result.at("commit").get<std::string>();
    if (std::find(chapter.commits.begin(), chapter.commits.end(), commit) ==
        chapter.commits.end()) {
      chapter.commits.push_back(commit);
    }
  }
  if (results.size() < chapter.jobs.size()) results.clear();
  return results;
}

std::string seeds_in_words(const Finding& found) {
  std::string words;
  for (const double one : found.seeds) {
    words += fmt::format("{}{:.6g}", words.empty() ? "" : ", ", one);
  }
  return words;
}

// The worst finding decides; the first of equals is told.
const Finding& worst_of(const std::vector<Finding>& findings) {
  return *std::max_element(
      findings.begin(), findings.end(),
      [](const Finding& a, const Finding& b) { return a.verdict < b.verdict; });
}

// Nothing where it is reproduced.
std::string why_not(const Finding& found) {
  if (found.verdict == Verdict::kReproduced) return "";
  if (found.verdict == Verdict::kNotJudged) return fmt::format("{}: {}", found.what, found.rule);
  return fmt::format("{}: {}, expected {}", found.what, seeds_in_words(found), found.rule);
}

void judge(Chapter& chapter, const Order& order) {
  const std::vector<Json> results = results_of(chapter, order);
  if (results.empty()) return;
  try {
    chapter.outcome = chapter.experiment->judge(order.scale, results);
    CHECK(!chapter.outcome.findings.empty(), "no finding");
  } catch (const std::exception& fault) {
    chapter.outcome = {};
    chapter.fate = Fate::kFailed;
    chapter.why = fmt::format("its results cannot be judged: {}", fault.what());
    return;
  }
  const auto& findings = chapter.outcome.findings;
  const Finding& decides = worst_of(findings);
  chapter.fate = fate_of(decides.verdict);
  chapter.why = why_not(decides);
  if (chapter.fate == Fate::kNotJudged && judged(findings) > 0) {
    chapter.fate = Fate::kPartly;
    chapter.why = fmt::format("{} of {} hold; {}", passes(findings), findings.size(), chapter.why);
  }
}

std::string ours_in_words(const Finding& found) {
  if (found.seeds.empty()) return "";
  if (!found.half_width) return report::readable(found.ours);
  return fmt::format("{} ± {:.2g}", report::readable(found.ours), *found.half_width);
}

std::string seconds_in_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

// Of one seed, if all are done.
report::ChartBlock films_of(const Chapter& chapter) {
  if (chapter.outcome.findings.empty()) return {};
  return report::pictures_of(chapter.jobs.front().folder);
}

// The findings, the remark and the charts.
void show_outcome(const Judgement& outcome, report::Section& section) {
  if (!outcome.findings.empty()) {
    report::Table table{.columns = {{.name = "What"},
                                    {.name = "Published", .numeric = true, .published = true},
                                    {.name = "Ours", .numeric = true},
                                    {.name = "Counts as reproduced, for every seed"}}};
    for (const Finding& each : outcome.findings) {
      table.rows.push_back({.cells = {each.what, each.published, ours_in_words(each), each.rule},
                            .verdict = shown_as(fate_of(each.verdict)),
                            .verdict_text = std::string(verdict_words(each.verdict))});
    }
    section.blocks.emplace_back(std::move(table));
  }
  if (!outcome.remark.empty()) section.blocks.emplace_back(report::Paragraph{outcome.remark});
  if (!outcome.charts.empty()) section.blocks.emplace_back(report::ChartBlock{outcome.charts});
}

report::Section section_of(const Chapter& chapter, const Order& order) {
  const Experiment& experiment = *chapter.experiment;
  report::Section section{.heading = fmt::format("{}: {}", experiment.name, experiment.title),
                          .verdict = shown_as(chapter.fate),
                          .anchor = experiment.name,
                          .verdict_text = std::string(fate_words(chapter.fate))};
  const Configuration& configuration = configuration_of(experiment, order.scale);
  std::string seeds;
  for (const Job& job : chapter.jobs)
    seeds += fmt::format("{}{}", seeds.empty() ? "" : ", ", job.seed);
  report::Facts facts{
      {{"thesis", experiment.source},
       {"scale", fmt::format("{} ({})", scale_name(order.scale), configuration.words)}}};
  if (configuration.gpu) facts.items.push_back({"takes", "a GPU"});
  if (!seeds.empty()) facts.items.push_back({"seeds", seeds});
  if (chapter.seconds > 0) facts.items.push_back({"time", seconds_in_words(chapter.seconds)});
  if (chapter.commits.size() > 1 ||
      (!chapter.commits.empty() && chapter.commits[0] != build_commit())) {
    facts.items.push_back({"made by commit", fmt::format("{}", fmt::join(chapter.commits, ", "))});
  }
  if (chapter.other_build) facts.items.push_back({"build", "another one"});
  section.blocks.emplace_back(std::move(facts));
  if (chapter.outcome.findings.empty()) {
    section.blocks.emplace_back(
        report::Paragraph{fmt::format("{}: {}", fate_words(chapter.fate), chapter.why)});
  }
  show_outcome(chapter.outcome, section);
  if (report::ChartBlock films = films_of(chapter); !films.charts.empty()) {
    section.blocks.emplace_back(report::Paragraph{
        fmt::format("At play, with seed {}: an episode's last picture has a border, green if "
                    "something was earned.",
                    chapter.jobs.front().seed)});
    section.blocks.emplace_back(std::move(films));
  }
  section.blocks.emplace_back(report::Code{.text = command_of(chapter, order), .label = "Command"});
  if (!chapter.elsewhere_outcome.findings.empty()) {
    section.blocks.emplace_back(report::Paragraph{
        fmt::format("Made elsewhere, judged by the same rules: {}.", elsewhere_in_words(chapter))});
    show_outcome(chapter.elsewhere_outcome, section);
  }
  for (report::Block& block : blocks_of(chapter.elsewhere)) {
    section.blocks.push_back(std::move(block));
  }
  return section;
}

Json to_json(const std::vector<Finding>& findings) {
  Json all = Json::array();
  for (const Finding& each : findings) {
    all.push_back({{"what", each.what},
                   {"published", each.published},
                   {"ours", std::isfinite(each.ours) ? Json(each.ours) : Json(nullptr)},
                   {"seeds", each.seeds},
                   {"half_width", each.half_width ? Json(*each.half_width) : Json(nullptr)},
                   {"rule", each.rule},
                   {"verdict", verdict_words(each.verdict)}});
  }
  return all;
}

// Nothing where no published value was judged at this scale.
Json is_reproduced(Fate fate) {
  if (fate == Fate::kReproduced) return true;
  if (fate == Fate::kMissed || fate == Fate::kFailed) return false;
  return nullptr;
}

}  // namespace

std::string_view fate_words(Fate fate) {
  constexpr std::string_view kWords[] = {"reproduced",
                                         "holds, looser than published",
                                         "partly judged at quick scale",
                                         "not judged at quick scale",
                                         "missed",
                                         "failed",
                                         "on request",
                                         "not run"};
  return kWords[static_cast<int>(fate)];
}

std::vector<Chapter> judge(const std::vector<Job>& jobs, const Order& order,
                           const std::vector<const Experiment*>& left_out,
                           const Elsewhere& elsewhere) {
  std::map<std::string, Chapter> by_name;
  for (const Job& job : jobs) {
    Chapter& chapter = by_name[job.experiment->name];
    chapter.experiment = job.experiment;
    chapter.jobs.push_back(job);
  }
  for (auto& [name, chapter] : by_name) {
    std::sort(chapter.jobs.begin(), chapter.jobs.end(),
              [](const Job& a, const Job& b) { return a.seed < b.seed; });
    judge(chapter, order);
  }
  for (const Experiment* each : left_out) {
    Chapter& chapter = by_name[each->name];
    chapter = {.experiment = each, .fate = Fate::kOnRequest, .why = missing_here(*each, order)};
    if (!chapter.why.empty()) {
      chapter.fate = Fate::kNotRun;
      continue;
    }
    chapter.why =
        fmt::format("`{}` runs it, about {}", command_of(chapter, order),
                    seconds_in_words(configuration_of(*each, order.scale).expected_seconds));
  }
  std::vector<Chapter> chapters;
  for (auto& [name, chapter] : by_name) {
    if (const auto found = elsewhere.find(name); found != elsewhere.end()) {
      chapter.elsewhere = found->second;
      chapter.elsewhere_outcome =
          judge_elsewhere(*chapter.experiment, order.scale, chapter.elsewhere);
    }
    chapters.push_back(std::move(chapter));
  }
  return chapters;
}

std::string elsewhere_in_words(const Chapter& chapter) {
  const auto& findings = chapter.elsewhere_outcome.findings;
  if (findings.empty()) return "";
  const std::string why = why_not(worst_of(findings));
  return fmt::format("{} of {} rules hold{}{}", passes(findings), judged(findings),
                     why.empty() ? "" : "; ", why);
}

int count(const std::vector<Chapter>& chapters, Fate fate) {
  return static_cast<int>(
      std::count_if(chapters.begin(), chapters.end(),
                    [&](const Chapter& chapter) { return chapter.fate == fate; }));
}

std::string in_words(const std::vector<Chapter>& chapters) {
  std::string words;
  for (const Fate fate : kFates) {
    const int number = count(chapters, fate);
    const bool rare = fate == Fate::kLooser || fate == Fate::kPartly || fate == Fate::kNotJudged ||
                      fate == Fate::kNotRun;
    if (rare && number == 0) continue;
    words += fmt::format("{}{}", words.empty() ? "" : ", ", number_in_words(number, fate));
  }
  return words;
}

Json to_json(const std::vector<Chapter>& chapters, Scale scale) {
  Json list = Json::array();
  for (const Chapter& chapter : chapters) {
    list.push_back({{"name", chapter.experiment->name},
                    {"verdict", fate_words(chapter.fate)},
                    {"reproduced", is_reproduced(chapter.fate)},
                    {"why", chapter.why.empty() ? Json(nullptr) : Json(chapter.why)},
                    {"other_build", chapter.other_build},
                    {"seconds", chapter.seconds},
                    {"findings", to_json(chapter.outcome.findings)},
                    {"elsewhere", to_json(chapter.elsewhere)},
                    {"elsewhere_findings", to_json(chapter.elsewhere_outcome.findings)}});
  }
  return {{"scale", scale_name(scale)},
          {"reproduced", count(chapters, Fate::kReproduced)},
          {"looser", count(chapters, Fate::kLooser)},
          {"partly_judged", count(chapters, Fate::kPartly)},
          {"not_judged", count(chapters, Fate::kNotJudged)},
          {"missed", count(chapters, Fate::kMissed)},
          {"failed", count(chapters, Fate::kFailed)},
          {"on_request", count(chapters, Fate::kOnRequest)},
          {"not_run", count(chapters, Fate::kNotRun)},
          {"experiments", std::move(list)}};
}

void write_report(const std::filesystem::path& file, const std::vector<Chapter>& chapters,
                  const Order& order) {
  report::Page page{
      .title = "The thesis, reproduced",
      .subtitle = fmt::format("agora {} ({}), scale {}, {} experiments", AGORA_VERSION,
                              build_commit(), scale_name(order.scale), chapters.size())};
  report::Badges badges;
  for (const Fate fate : kFates) {
    const int number = count(chapters, fate);
    if (number == 0 && fate != Fate::kReproduced) continue;
    badges.items.push_back({shown_as(fate), number_in_words(number, fate)});
  }
  page.summary.emplace_back(std::move(badges));
  report::Table table{.columns = {{.name = "Experiment"},
                                  {.name = "What"},
                                  {.name = "Rules met", .numeric = true},
                                  {.name = "Time", .numeric = true},
                                  {.name = "Why not more"}}};
  for (const Chapter& chapter : chapters) {
    table.rows.push_back({.cells = {chapter.experiment->name, chapter.experiment->title,
                                    fmt::format("{} of {}", passes(chapter.outcome.findings),
                                                chapter.outcome.findings.size()),
                                    seconds_in_words(chapter.seconds), chapter.why},
                          .verdict = shown_as(chapter.fate),
                          .verdict_text = std::string(fate_words(chapter.fate))});
    page.sections.push_back(section_of(chapter, order));
  }
  page.summary.emplace_back(std::move(table));
  for (const char* each : kHowToRead) page.summary.emplace_back(report::Paragraph{each});
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
