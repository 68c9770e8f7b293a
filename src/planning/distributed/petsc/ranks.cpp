#include "planning/distributed/petsc/ranks.h"

#include <csignal>

#include "base/signals.h"

namespace agora::planning {

const Ranks& Ranks::all() {
  static const Ranks ranks;
  return ranks;
}

Ranks::Ranks() {
  ok(PetscInitialize(nullptr, nullptr, nullptr, nullptr));
  PetscPopSignalHandler();  // ours stay
  PetscPushErrorHandler(PetscReturnErrorHandler, nullptr);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank_);
  MPI_Comm_size(PETSC_COMM_WORLD, &size_);
}

Ranks::~Ranks() { PetscFinalize(); }

double Ranks::reduced(double mine, MPI_Op op) const {
  double result = mine;
  MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, op, PETSC_COMM_WORLD);
  return result;
}

int64_t Ranks::before(int64_t mine) const {
  int64_t sum = 0;
  MPI_Exscan(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, PETSC_COMM_WORLD);
  return rank_ == 0 ? 0 : sum;
}

std::vector<std::string> Ranks::gathered(const std::vector<std::string>& mine) const {
  std::vector<char> bytes;
  for (const std::string& text : mine) {
    bytes.insert(bytes.end(), text.begin(), text.end());
    bytes.push_back('\0');
  }
  std::vector<std::string> all;
  const std::vector<char> joined = gathered(bytes);
  for (size_t at = 0; at < joined.size(); at += all.back().size() + 1) {
    all.emplace_back(joined.data() + at);
  }
  return all;
}

void Ranks::throw_first(const std::string& mistake) const {
  const std::vector<std::string> all =
      gathered(mistake.empty() ? std::vector<std::string>() : std::vector{mistake});
  if (!all.empty()) throw user_error("{}", all[0]);
}

void Ranks::throw_if_any_stopped() const {
  const bool stopped = any(stop_requested());
  throw_if_stopped();
  if (stopped) throw Interrupted(SIGINT);
}

}  // namespace agora::planning
