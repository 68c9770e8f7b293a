#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "base/signals.h"
#include "cli/plan_answer.h"
#include "cli/plan_model.h"
#include "cli/plan_solving.h"
#include "cli/verb.h"
#include "report/grid_policy.h"
#include "report/html.h"
#include "report/png.h"
#include "report/svg.h"
#include "report/text.h"

namespace agora::cli::kind_plan_solve {
namespace {

using planning::Action;
using planning::Model;
using planning::Solution;
using planning::State;

struct Outputs {
  std::string table, picture, report;
};

std::vector<std::string> action_names(const Model& model) {
  std::vector<std::string> names;
  for (Action a = 0; a < model.actions(); ++a) names.push_back(model.action_name(a));
  return names;
}

CsvRow table_head(const std::vector<std::string>& actions) {
  CsvRow head;
  for (const char* column : {"state", "name", "value", "log_z", "action"}) head.add(column);
  for (const std::string& action : actions) head.add("p_" + action);
  head.end();
  return head;
}

void add_state(const Model& model, const Solution& solution, State s, int64_t number,
               const std::string& name, CsvRow& rows) {
  const auto add = [&](double value) { std::isfinite(value) ? rows.add(value) : rows.add(""); };
  const size_t i = static_cast<size_t>(s);
  rows.add(number).add(name);
  add(solution.value[i]);
  add(solution.log_z.empty() ? INFINITY : solution.log_z[i]);
  const bool acts = !model.terminal(s) && !solution.policy.empty();
  const Action best = acts ? solution.policy.best(s) : planning::kNone;
  rows.add(best == planning::kNone ? "" : model.action_name(best));
  for (Action a = 0; a < model.actions(); ++a) {
    add(acts && model.has(s, a) ? solution.policy(s, a) : INFINITY);
  }
  rows.end();
}

constexpr size_t kPiece = size_t{1} << 20;  // bytes of rows that are written together

void write_table(const Model& model, const Solution& solution, const std::string& file) {
  AtomicFile out(file);
  CsvRow rows = table_head(action_names(model));
  for (State s = 0; s < model.states(); ++s) {
    add_state(model, solution, s, s, model.state_name(s), rows);
    if (rows.text().size() < kPiece) continue;
    out.write(rows.text());
    rows.clear();
  }
  out.write(rows.text());
  out.commit();
}

// Each process writes its states, in their order.
void write_shared_table(const planning::DistributedSolution& shared, const std::string& file) {
  State s = 0;
  planning::write_together(file, table_head(shared.actions).text(), [&](std::string& piece) {
    CsvRow rows;
    for (; s < shared.share.own && rows.text().size() < kPiece; ++s) {
      add_state(shared.share.model, shared.solution, s, int64_t{shared.share.first} + s,
                shared.share.name_of(s), rows);
    }
    piece = rows.text();
  });
}

void write_picture(const report::GridPicture& picture, const std::string& file) {
  if (file.ends_with(".svg")) return report::write_svg(file, picture);
  report::write_png(file, report::draw(picture));
}

report::Page page(const std::string& source, const Common& common, const Model& model,
                  const Solution& solution) {
  report::Page page{.title = "Plan for " + source,
                    .summary = {report::Facts{plan_answer(source, model, solution).facts()},
                                report::Code{common.command, "Command"}}};
  if (!model.grid().empty()) {
    report::GridPicture picture = report::grid_policy(model, solution, "Policy and values");
    picture.caption =
        "Colours are the values of the cells, arrows the policy where cells are large enough.";
    page.sections.push_back({.heading = "The map", .blocks = {report::ChartBlock{{picture}}}});
  }
  constexpr State kMostRows = 200;
  report::Table table{.title = "States",
                      .caption = model.states() > kMostRows
                                     ? fmt::format("The first {} of {}; --out writes them all.",
                                                   kMostRows, model.states())
                                     : "",
                      .columns = {{"state"}, {"value", true}, {"log Z", true}, {"action"}}};
  for (State s = 0; s < std::min(model.states(), kMostRows); ++s) {
    const size_t i = static_cast<size_t>(s);
    const bool acts = !model.terminal(s) && !solution.policy.empty();
    const Action best = acts ? solution.policy.best(s) : planning::kNone;
    table.rows.push_back({{model.state_name(s), report::readable(solution.value[i]),
                           solution.log_z.empty() ? "" : report::readable(solution.log_z[i]),
                           best == planning::kNone ? "" : model.action_name(best)}});
  }
  page.sections.push_back({.heading = "The states", .blocks = {table}});
  return page;
}

void print(const PlanAnswer& answer, const Common& common) {
  if (common.json) return print_json(answer.json());
  for (const auto& [name, value] : answer.facts()) fmt::print("{:<13} {}\n", name, value);
}

// By several processes, of which the first prints.
void run_shared(const ModelOptions& source, const SolveChoice& choice, const Outputs& outputs,
                const Common& common) {
  planning::join_processes();
  if (!outputs.picture.empty() || !outputs.report.empty()) {
    throw user_error("--picture and --report need the solution in one process: method z");
  }
  const planning::DistributedSolution shared = choice.run_shared(source.source, source.load);
  if (!outputs.table.empty()) write_shared_table(shared, outputs.table);
  print(plan_answer(source.source, shared), common);
}

void run(const ModelOptions& source, const SolveChoice& choice, const Outputs& outputs,
         const Common& common) {
  if (choice.is_shared()) return run_shared(source, choice, outputs, common);
  const Model model = source.read();
  if (!outputs.picture.empty()) {
    if (model.grid().empty()) {
      throw user_error("--picture: '{}' is no map; --report and --out take any model",
                       source.source);
    }
    if (!outputs.picture.ends_with(".png") && !outputs.picture.ends_with(".svg")) {
      throw user_error("--picture: '{}' should end in .png or .svg", outputs.picture);
    }
  }
  throw_if_stopped();
  const Solution solution = choice.run(model);
  throw_if_stopped();
  if (!outputs.table.empty()) write_table(model, solution, outputs.table);
  if (!outputs.picture.empty()) {
    write_picture(report::grid_policy(model, solution, source.source), outputs.picture);
  }
  if (!outputs.report.empty()) {
    report::write_html(outputs.report, page(source.source, common, model, solution));
  }
  print(plan_answer(source.source, model, solution), common);
}

}  // namespace

Verb entry_plan_solve() {
  return {.name = "plan solve",
          .summary = "Value and policy of a model, by partition functions or classic methods",
          .example = "agora plan solve 'maze(rows=21,cols=21,seed=3)' --beta 2 --picture maze.png",
          .declare = [](OptionList& app) {
            auto model = declare_model(app);
            auto choice = declare_solving(app);
            auto outputs = std::make_shared<Outputs>();
            app.add("--out", outputs->table,
                    "CSV of every state: state,name,value,log_z,action,p_ACTION...");
            app.add("--picture", outputs->picture,
                    "Picture of a map's values and policy: .png or .svg");
            app.add("--report", outputs->report, "The same and more as one HTML file");
            return [=](const Common& common) { run(*model, *choice, *outputs, common); };
          }};
}

}  // namespace agora::cli::kind_plan_solve
