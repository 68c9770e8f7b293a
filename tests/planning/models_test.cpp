#include <agora/planning/load.h>
#include <agora/planning/solve.h>

#include <cmath>

#include "planning/model/drawing.h"
#include "planning/models/builtin.h"
#include "support/scratch.h"

namespace agora::planning {
namespace {

// Nothing that no policy can leave: from the start, an end is in reach.
bool reaches_an_end(const Model& model) {
  std::vector<char> seen(static_cast<size_t>(model.states()));
  std::vector<State> queue;
  for (const auto& [s, p] : model.start()) queue.push_back(s);
  for (size_t head = 0; head < queue.size(); ++head) {
    const State s = queue[head];
    if (model.terminal(s)) return true;
    for (Action a = 0; a < model.actions(); ++a) {
      for (int64_t i = 0; i < model.transition_count(s, a); ++i) {
        const State next = model.transition(s, a, i).next;
        if (!std::exchange(seen[static_cast<size_t>(next)], 1)) queue.push_back(next);
      }
    }
  }
  return false;
}

TEST(BuiltIns, EveryOneIsAModelWithAnEnd) {
  for (const BuiltIn& builtin : builtins()) {
    const Model model = make_builtin(builtin.name);
    EXPECT_GT(model.states(), 1) << builtin.name;
    EXPECT_FALSE(builtin.summary.empty());
    EXPECT_TRUE(reaches_an_end(model)) << builtin.name;
    EXPECT_EQ(make_builtin(signature(builtin)).states(), model.states());
  }
}

TEST(BuiltIns, ParametersAreChecked) {
  expect_user_error([] { make_builtin("mazze"); }, {"did you mean 'maze'?"});
  expect_user_error([] { make_builtin("m\naze"); }, {"m\\x0aaze"});
  expect_user_error([] { make_builtin("maze(ro\nws=3)"); }, {"ro\\x0aws"});
  expect_user_error([] { make_builtin("maze(rows=\n3)"); }, {"\\x0a3"});
  expect_user_error([] { make_builtin("maze(rows=3\n"); }, {"maze(rows=3\\x0a"});
  expect_user_error([] { make_builtin("maze(row=3)"); }, {"unknown parameter 'row'", "'rows'"});
  expect_user_error([] { make_builtin("maze(rows=four)"); }, {"rows is 'four'", "a number"});
  expect_user_error([] { make_builtin("maze(rows=7.5)"); }, {"rows is 7.5", "whole number"});
  expect_user_error([] { make_builtin("maze(rows=2)"); }, {"rows is 2, expected 3 to 30001"});
  expect_user_error([] { make_builtin("maze(rows=8)"); }, {"odd"});
  expect_user_error([] { make_builtin("maze(rows=7,rows=9)"); }, {"rows is given twice"});
  expect_user_error([] { make_builtin("maze(rows=7"); }, {"expected ')'"});
  expect_user_error([] { make_builtin("maze(7)"); }, {"NAME=VALUE"});
  expect_user_error([] { make_builtin("taxi(rain=1)"); }, {"no parameters"});
  expect_user_error([] { make_builtin("random(states=5,terminals=5)"); }, {"expected fewer"});
  EXPECT_EQ(make_builtin(" maze( rows = 7 , cols=9 ) ").grid().cols, 9);
}

TEST(BuiltIns, FrozenLakeIsSlippery) {
  const Model lake = make_builtin("frozenlake4x4");
  EXPECT_EQ(lake.states(), 16);
  EXPECT_EQ(lake.terminals().size(), 5u);
  // In the corner, left: down with 1/3, stay with 2/3 (the wall to the left and above).
  ASSERT_EQ(lake.transition_count(0, 0), 2);
  EXPECT_NEAR(lake.transition(0, 0, 0).probability, 2.0 / 3, 1e-15);
  EXPECT_TRUE(make_builtin("frozenlake8x8(slip=0)").is_deterministic());
  // Gymnasium's own optimum for the 4x4 map without a discount.
  SolveOptions options;
  options.tolerance = 1e-10;
  EXPECT_NEAR(start_value(lake, solve(lake, "vi", options)), 14.0 / 17.0, 1e-9);
}

TEST(BuiltIns, TaxiDelivers) {
  const Model taxi = make_builtin("taxi");
  EXPECT_EQ(taxi.states(), 501);
  EXPECT_EQ(taxi.start().size(), 300u);
  const Solution best = solve(taxi, "vi");
  // Beside the passenger at R, on the way to G: one pickup, eight moves, one delivery.
  EXPECT_NEAR(best.value[static_cast<size_t>(taxi.find_state("0.0.R.G"))], 20 - 9, 1e-6);
}

TEST(BuiltIns, MazesAreConnectedAndSeeded) {
  const Model maze = make_builtin("maze(rows=15,cols=21,seed=3)");
  const Solution best = solve(maze, "vi");
  for (State s = 0; s < maze.states(); ++s) EXPECT_GT(best.value[static_cast<size_t>(s)], -1000);
  EXPECT_NE(draw_map(maze), draw_map(make_builtin("maze(rows=15,cols=21,seed=4)")));
  EXPECT_EQ(draw_map(maze), draw_map(make_builtin("maze(rows=15,cols=21,seed=3)")));
  // A tree has one cell more than passages between cells.
  EXPECT_EQ(maze.states(), 2 * 8 * 11 - 1);
}

TEST(BuiltIns, RandomModelsKeepTheirShape) {
  const Model model = make_builtin("random(states=200,actions=3,branching=4,band=10,seed=2)");
  for (State s = 0; s < 199; ++s) {
    for (Action a = 0; a < 3; ++a) {
      EXPECT_EQ(model.transition_count(s, a), 4);
      for (int64_t i = 0; i < 4; ++i) {
        EXPECT_LE(std::abs(model.transition(s, a, i).next - s), 10);
      }
    }
  }
  EXPECT_TRUE(model.terminal(199));
}

TEST(Drawing, PolicyOfASmallGrid) {
  const Model model = load(std::string(AGORA_SOURCE) + "/examples/rooms.map");
  EXPECT_EQ(draw_policy(model, solve(model, "vi").policy), R"(>>>>v#>vvvv
>>>>v#>vvvv
>>>>>>>v<<<
>>v^^#>v<^^
>>v<^#>v<<<
##v####v###
>>>>v#>>>>v
>>>>>>v!>>v
^^^^^#>>>>G
)");
}

}  // namespace
}  // namespace agora::planning
