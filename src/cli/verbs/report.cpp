#include <fmt/format.h>

#include <filesystem>

#include "cli/verb.h"
#include "report/run_page.h"

namespace agora::cli {

Verb entry_report() {
  return {.name = "report",
          .summary = "Write report.html of a run: its result, curves and options",
          .example = "agora report runs/reproduce/quick/ch1-optimal-auction-seed-1",
          .declare = [](CLI::App& app) {
            struct Options {
              std::string folder, out;
            };
            auto options = std::make_shared<Options>();
            app.add_option("folder", options->folder, "The run's folder")->required();
            app.add_option("--out", options->out,
                           "The file to write; FOLDER/report.html if not given");
            return [options](const Common& common) {
              const std::filesystem::path file =
                  options->out.empty() ? std::filesystem::path(options->folder) / "report.html"
                                       : std::filesystem::path(options->out);
              report::write_html(file, report::page_of_run(options->folder));
              const std::string path = std::filesystem::absolute(file).string();
              if (common.json) {
                print_json({{"report", path}});
              } else {
                fmt::print("report: {}\n", path);
              }
            };
          }};
}

}  // namespace agora::cli
