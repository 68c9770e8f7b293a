// What a user of the installed library would write: both jobs, standard types only.
#include <agora/agora.h>

#include <iostream>

int main() {
  std::cout << agora::version() << '\n';

  const auto maze = agora::planning::load("maze(rows=5,cols=5,seed=1)");
  const auto answer = agora::planning::PartitionFunction{.beta = 2.0}(maze);
  const double value = agora::planning::start_value(maze, answer);

  const auto market = agora::auctions::setting("2x1 uniform(0,1)");
  const auto auction = agora::auctions::exact("myerson", market);
  const auto outcome = agora::auctions::run(*auction, {0.9, 0.7});

  return value < 0 && outcome.payments.at(0) > 0.69 ? 0 : 1;
}
