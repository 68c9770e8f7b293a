#include <fmt/format.h>

#include <filesystem>

#include "cli/verb.h"
#include "report/run_page.h"

namespace agora::cli::kind_report {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  std::string out;
};

void write_report(const Options& options, const Common& common) {
  const bool one = options.folders.size() == 1;
  fs::path file = options.out;
  if (file.empty()) file = one ? fs::path(options.folders[0]) / "report.html" : "report.html";
  report::write_html(file,
                     one ? report::page_of_run(options.folders[0])
                         : report::page_of_runs({options.folders.begin(), options.folders.end()}));
  const std::string path = fs::absolute(file).string();
  common.json ? print_json({{"report", path}}) : fmt::print("report: {}\n", path);
}

}  // namespace

Verb entry_report() {
  return {.name = "report",
          .summary = "Write a page of one run, or of several beside each other",
          .example = "agora report runs/reproduce/quick/ch1-optimal-auction-seed-1",
          .declare = [](OptionList& app) {
            auto options = std::make_shared<Options>();
            app.add("folder", options->folders,
                    "Folders of runs: curves of the same metric share a chart")
                .required();
            app.add("--out", options->out,
                    "The file to write; FOLDER/report.html if not given, of several runs "
                    "report.html here");
            return [options](const Common& common) { write_report(*options, common); };
          }};
}

}  // namespace agora::cli::kind_report
