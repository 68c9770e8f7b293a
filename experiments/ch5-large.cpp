// RegretNet and ALGnet on n x m uniform values: the sizes that take hours.
#include "experiments/auction_sizes.h"

namespace agora::reproduce::kind_ch5_large {
namespace {

const std::vector<SizeLine>& lines() {
  static const std::vector<SizeLine> all{
      {.size = "1x10",
       .regretnet = {"3.461", "< 0.003"},
       .algnet = {"3.487 ± 0.0135", "0.00165 ± 0.00057"},
       .truthful = 3.4777,
       .truthful_words = "the straight-jacket auction",
       .revenue = 3.40,
       .regret = 3e-3,
       .strong = 6e-3},
      {.size = "3x10",
       .regretnet = {"5.541", "< 0.002"},
       .algnet = {"5.562 ± 0.0308", "0.00193 ± 0.00033"},
       .truthful = 5.3125,
       .truthful_words = "item-wise Myerson",
       .revenue = 5.4,
       .regret = 3e-3,
       .strong = 6e-3},
      {.size = "5x10",
       .regretnet = {"6.778", "< 0.005"},
       .algnet = {"6.781 ± 0.0504", "0.00385 ± 0.00043"},
       .truthful = 6.71875,
       .truthful_words = "item-wise Myerson",
       .revenue = 6.6,
       .regret = 5e-3,
       .strong = 1e-2},
  };
  return all;
}

}  // namespace

Experiment entry_ch5_large() {
  return {.name = "ch5-large",
          .chapter = 5,
          .title = "RegretNet and ALGnet on 1x10, 3x10 and 5x10",
          .source = "ch. 5, Unknown and large-scale auctions, table",
          .quick = {.seeds = {1}, .expected_seconds = 300, .words = "150 iterations"},
          .full = {.seeds = {1}, .expected_seconds = 10 * 3600, .words = "the shipped recipes"},
          .on_request = true,
          .run =
              [](Task& task) {
                return run_sizes(task, lines(), {150, 150});
              },
          .judge =
              [](Scale scale, const std::vector<Json>& results) {
                return judge_sizes(scale, lines(), results, "150 iterations are a beginning only");
              }};
}

}  // namespace agora::reproduce::kind_ch5_large
