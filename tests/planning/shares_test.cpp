#include <gtest/gtest.h>

#include "planning/distributed/model_share.h"
#include "planning/models/builtin.h"

namespace agora::planning {
namespace {

// A share made by itself is the share cut out of the whole model.
void expect_same(const ModelShare& made, const ModelShare& cut) {
  ASSERT_EQ(made.own, cut.own);
  EXPECT_EQ(made.total, cut.total);
  EXPECT_EQ(made.ghosts, cut.ghosts);
  if (cut.own == 0) return;
  EXPECT_EQ(made.first, cut.first);
  ASSERT_EQ(made.model.actions(), cut.model.actions());
  const auto ours = made.model.successors(), theirs = cut.model.successors();
  EXPECT_TRUE(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end()));
  for (State s = 0; s < cut.own; ++s) {
    EXPECT_EQ(made.name_of(s), cut.name_of(s));
    EXPECT_EQ(made.model.terminal(s), cut.model.terminal(s));
    if (cut.model.terminal(s)) {
      EXPECT_EQ(made.model.terminal_reward(s), cut.model.terminal_reward(s));
    }
    for (Action a = 0; a < cut.model.actions(); ++a) {
      EXPECT_EQ(made.model.action_name(a), cut.model.action_name(a));
      if (!cut.model.has(s, a)) continue;
      EXPECT_EQ(made.model.transition(s, a, 0).reward, cut.model.transition(s, a, 0).reward);
    }
  }
}

TEST(Parts, OfBuiltInModelsMakeTheWhole) {
  for (const char* source :
       {"maze(rows=3,cols=3)", "maze(rows=21,cols=9,seed=5)",
        "maze(rows=9,cols=33,seed=2,loops=1/3)", "maze(rows=41,cols=41,seed=8,loops=.05,step=-2)",
        "maze(rows=101,cols=5,loops=1)", "benchmark-grid(n=2)", "benchmark-grid(n=23,seed=4)",
        "random(states=50,branching=1,actions=3)", "slippery-cliff(rows=5,slip=0)", "cliffwalking",
        "decision-tree"}) {
    SCOPED_TRACE(source);
    const Model whole = make_builtin(source);
    for (const int shares : {1, 2, 3, 7, 30}) {
      State next = 0;
      for (int share = 0; share < shares; ++share) {
        SCOPED_TRACE(share);
        const ModelShare made = builtin_share(source, share, shares);
        if (made.own > 0) {
          EXPECT_EQ(made.first, next);
        }
        next += made.own;
        expect_same(made, cut_states(whole, made.first, made.own));
        for (const Start& start : made.start) EXPECT_EQ(start.state, whole.start()[0].state);
      }
      EXPECT_EQ(next, whole.states());
    }
  }
}

}  // namespace
}  // namespace agora::planning
