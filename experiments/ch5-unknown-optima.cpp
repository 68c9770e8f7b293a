// RegretNet and ALGnet on n x m uniform values: the sizes that take minutes.
#include "experiments/auction_sizes.h"

namespace agora::reproduce::kind_ch5_unknown_optima {
namespace {

const std::vector<SizeLine>& lines() {
  static const std::vector<SizeLine> all{
      {.size = "1x2",
       .regretnet = {"0.554", "< 0.001"},
       .algnet = {"0.555 ± 0.0019", "0.00055 ± 0.00014"},
       .truthful = 0.549201,
       .truthful_words = "the optimum",
       .revenue = 0.545,
       .regret = 1e-3,
       .strong = 2e-3},
      {.size = "2x2",
       .regretnet = {"0.878", "< 0.001"},
       .algnet = {"0.879 ± 0.0024", "0.00058 ± 0.00023"},
       .truthful = 0.8742,
       .truthful_words = "an affine maximiser",
       .revenue = 0.87,
       .regret = 1e-3,
       .strong = 2e-3},
  };
  return all;
}

}  // namespace

Experiment entry_ch5_unknown_optima() {
  return {.name = "ch5-unknown-optima",
          .chapter = 5,
          .title = "RegretNet and ALGnet on 1x2 and 2x2",
          .source = "ch. 5, Unknown and large-scale auctions, table",
          .quick = {.seeds = {1}, .expected_seconds = 30, .words = "150 and 1,350 iterations"},
          .full = {.seeds = {1}, .expected_seconds = 900, .words = "the shipped recipes"},
          .run =
              [](Task& task) {
                return run_sizes(task, lines(), {1'350, 150});
              },
          .judge =
              [](Scale scale, const std::vector<Json>& results) {
                return judge_sizes(scale, lines(), results);
              }};
}

}  // namespace agora::reproduce::kind_ch5_unknown_optima
