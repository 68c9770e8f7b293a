#include <gtest/gtest.h>

#include <cmath>

#include "planning/builtin.h"
#include "planning/cassandra_parser.h"
#include "planning/files.h"
#include "planning/model_part.h"

namespace agora::planning {
namespace {

// A part made by itself is the part cut out of the whole model.
void expect_same(const ModelPart& made, const ModelPart& cut) {
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
    for (const int parts : {1, 2, 3, 7, 30}) {
      State next = 0;
      for (int part = 0; part < parts; ++part) {
        SCOPED_TRACE(part);
        const ModelPart made = builtin_part(source, part, parts);
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

// Cassandra's rules for the states of a part are those of the whole file.
TEST(Parts, OfCassandraFilesMakeTheWhole) {
  const testing::Folder folder;
  const std::string file = folder.write("m.pomdp", R"(discount: 1
values: reward
states: 5
actions: l r
observations: x y
start: 0 .5 .5 0 0
T: * : * uniform
T: l : 3 reset
T: r
identity
T: r : 1
0 .25 .75 0 0
T: l : 4 : * 0
T: l : 4 : 2 1
O: * uniform
O: r : 2
.9 .1
R: * : * : * : * -1
R: r : 1 : 2 : x 3
R: l : 3
1 2
3 4
5 6
7 8
9 10
)");
  const Model whole = load(file);
  for (const int parts : {1, 2, 4, 7}) {
    State next_own = 0;
    for (int part = 0; part < parts; ++part) {
      int64_t given = 0, expected = 0;
      const auto check = [&](State s, Action a, State next, double probability, double reward,
                             int64_t) {
        ++given;
        bool same = false;
        for (int64_t i = 0; i < whole.transition_count(s, a); ++i) {
          const auto t = whole.transition(s, a, i);
          same |=
              t.next == next && t.reward == reward && std::abs(t.probability - probability) < 1e-12;
        }
        EXPECT_TRUE(same) << s << " " << a << " " << next;
      };
      const auto found = CassandraParser(file, part, parts).parse_part(check);
      EXPECT_EQ(found.total, whole.states());
      EXPECT_EQ(found.own.begin, next_own);
      for (State s = next_own; s < found.own.end; ++s) {
        for (Action a = 0; a < 2; ++a) expected += whole.transition_count(s, a);
      }
      EXPECT_EQ(given, expected);
      next_own = static_cast<State>(found.own.end);
      ASSERT_EQ(found.start.size(), 2u);
      EXPECT_EQ(found.start[0].state, 1);
    }
    EXPECT_EQ(next_own, whole.states());
  }
}

}  // namespace
}  // namespace agora::planning
