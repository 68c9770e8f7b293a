#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "cli/plan_model.h"
#include "cli/verb.h"

namespace agora::cli::kind_plan_convert {

Verb entry_plan_convert() {
  return {.name = "plan convert",
          .summary = "Write a model as CSV or DRN, for other programs",
          .example = "agora plan convert frozenlake4x4 --out lake.csv",
          .declare = [](OptionList& app) {
            auto model = declare_model(app);
            auto out = std::make_shared<std::string>();
            auto format = std::make_shared<std::string>();
            app.add("--out", *out, "File to write: .csv or .drn").required();
            app.add("--out-format", *format, "csv or drn, if the extension does not say");
            return [=](const Common& common) {
              const planning::Model read = model->read();
              for (const std::string& lost : planning::save(read, *out, *format)) {
                tell("agora: not kept in {}: {}\n", *out, lost);
              }
              if (common.json) {
                print_json({{"model", model->source},
                            {"states", read.states()},
                            {"transitions", read.transitions()},
                            {"out", *out}});
              } else {
                fmt::print("{}: {}\n", *out, describe(read));
              }
            };
          }};
}

}  // namespace agora::cli::kind_plan_convert
