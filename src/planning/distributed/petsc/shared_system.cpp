#include "planning/distributed/petsc/shared_system.h"

#include <algorithm>
#include <cmath>

#include "planning/model/parts.h"

namespace agora::planning {
namespace {

constexpr double kSameSeam = 0.5;    // changes of log Z between ranks below this are small
constexpr double kCloseSeam = 30.0;  // larger ones are waited for
constexpr int kMostRounds = 5000, kPolish = 4;
constexpr double kFarSeam = 200.0;  // more than this is taken over in several cycles
constexpr int kCycles = 8;          // of sweeps, then it is seen whether they help
constexpr double kMostOverlap = 4.0;
constexpr PetscInt kShortRow = 8;  // entries
constexpr double kNear = 0.03;     // a residual that PETSc can start from
constexpr int64_t kMostSweeps = 2000;

}  // namespace

SharedSystem::SharedSystem(const Ranks& ranks, const ModelShare& share, double beta, double mu)
    : ranks_(ranks), share_(share), beta_(beta), mu_(mu) {
  const std::vector<PetscInt> ghosts(share.ghosts.begin(), share.ghosts.end());
  ok(VecCreateGhost(PETSC_COMM_WORLD, share.own, share.total, static_cast<PetscInt>(ghosts.size()),
                    ghosts.data(), &halo_));
  phi_.assign(static_cast<size_t>(share.own) + ghosts.size(), -INFINITY);
  first_estimate();
  number_rows();

  std::vector<PetscInt> inside, outside;  // entries of a row in this rank's block and elsewhere
  for (const State s : order_) {
    inside.push_back(1);
    outside.push_back(0);
    for (Action a = 0; a < share.model.actions(); ++a) {
      if (!share.model.has(s, a)) continue;
      ++(share.model.transition(s, a, 0).next < share.own ? inside : outside).back();
    }
  }
  for (PetscInt& count : inside) count = std::min(count, share.own);
  ok(MatCreateAIJ(PETSC_COMM_WORLD, share.own, share.own, share.total, share.total, 0,
                  inside.data(), 0, outside.data(), &matrix_));
  ok(MatSetOption(matrix_, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  ok(MatCreateVecs(matrix_, &x_, &right_));
  ok(KSPCreate(PETSC_COMM_WORLD, &ksp_));
  ok(KSPSetType(ksp_, KSPBCGS));
  ok(KSPSetPCSide(ksp_, PC_RIGHT));
  ok(KSPSetNormType(ksp_, KSP_NORM_UNPRECONDITIONED));
  ok(KSPSetInitialGuessNonzero(ksp_, PETSC_TRUE));
  choose_preconditioner(inside, outside);
  ok(KSPSetFromOptions(ksp_));
}

SharedSystem::~SharedSystem() {
  KSPDestroy(&ksp_);
  MatDestroy(&matrix_);
  for (Vec* vector : {&halo_, &right_, &x_}) VecDestroy(vector);
}

// Each rank factors its rows, in path order, and those a few steps around them: incompletely, with
// as much memory as the model's shape allows. PETSC_OPTIONS may choose otherwise.
void SharedSystem::choose_preconditioner(const std::vector<PetscInt>& inside,
                                         const std::vector<PetscInt>& outside) {
  const double seam = ranks_.largest(static_cast<double>(share_.ghosts.size()));
  const double own = static_cast<double>(share_.total) / ranks_.size();
  const int overlap = static_cast<int>(std::min(kMostOverlap, 0.25 * own / std::max(seam, 1.0)));
  PetscInt longest = 0;
  for (size_t i = 0; i < inside.size(); ++i) longest = std::max(longest, inside[i] + outside[i]);
  const int fill = ranks_.largest(longest) <= kShortRow ? 4 : 0;
  const auto preset = [](const char* name, const std::string& value) {
    PetscBool given;
    ok(PetscOptionsHasName(nullptr, nullptr, name, &given));
    if (!given) ok(PetscOptionsSetValue(nullptr, name, value.c_str()));
  };
  preset("-pc_type", PCASM);
  preset("-pc_asm_overlap", std::to_string(overlap));
  preset("-sub_pc_factor_levels", std::to_string(fill));
}

double SharedSystem::log_weight(State s, Action a) const {
  return beta_ * share_.model.rewards()[share_.model.row(s, a)] + mu_;
}

// phi as in path_order, by each rank for its own states from the values of the others at the
// seam, until these stay: the rounds are as many as a best path changes ranks.
void SharedSystem::first_estimate() {
  const Model& model = share_.model;
  LogWeights weights;
  weights.transition = [&](State s, Action a, int64_t) { return log_weight(s, a); };
  bool changed = share_.own > 0;
  order_.clear();
  int polish = 0;
  for (rounds_ = 0; rounds_ < kMostRounds; ++rounds_) {
    if (changed) {
      weights.end.clear();
      for (const auto& [s, reward] : model.terminals()) {
        weights.end.push_back(s < share_.own ? beta_ * reward : phi_[static_cast<size_t>(s)]);
      }
      path_order_ = path_order(model, weights);
      order_.clear();
      for (size_t p = 0; p < path_order_.state.size(); ++p) {
        const State s = path_order_.state[p];
        if (s >= share_.own) continue;
        order_.push_back(s);
        phi_[static_cast<size_t>(s)] = path_order_.log_sum[p];
      }
    }
    std::vector<double> next = phi_;
    exchange(next);
    double change = 0.0;
    for (size_t i = static_cast<size_t>(share_.own); i < next.size(); ++i) {
      if (next[i] != phi_[i]) change = std::max(change, std::abs(next[i] - phi_[i]));
    }
    phi_ = std::move(next);
    changed = change > kSameSeam && share_.own > 0;
    const double most = ranks_.largest(change);
    if (most <= kSameSeam || (most <= kCloseSeam && ++polish > kPolish)) break;
    ranks_.throw_if_any_stopped();
  }
}

void SharedSystem::number_rows() {
  std::vector<char> placed(static_cast<size_t>(share_.own), 0);
  for (const State s : order_) placed[static_cast<size_t>(s)] = 1;
  for (State s = 0; s < share_.own; ++s) {
    if (!placed[static_cast<size_t>(s)]) order_.push_back(s);  // no end in reach
  }
  std::vector<double> number(phi_.size(), 0.0);
  const int64_t begin = ranks_.before(share_.own);
  for (size_t i = 0; i < order_.size(); ++i) {
    number[static_cast<size_t>(order_[i])] = static_cast<double>(begin) + static_cast<double>(i);
  }
  exchange(number);
  column_.assign(number.begin(), number.end());
}

void SharedSystem::exchange(std::vector<double>& values) const {
  Vec local;
  double* data;
  ok(VecGhostGetLocalForm(halo_, &local));
  ok(VecGetArray(local, &data));
  std::copy(values.begin(), values.begin() + share_.own, data);
  ok(VecRestoreArray(local, &data));
  ok(VecGhostUpdateBegin(halo_, INSERT_VALUES, SCATTER_FORWARD));
  ok(VecGhostUpdateEnd(halo_, INSERT_VALUES, SCATTER_FORWARD));
  ok(VecGetArray(local, &data));
  std::copy(data + share_.own, data + values.size(), values.begin() + share_.own);
  ok(VecRestoreArray(local, &data));
  ok(VecGhostRestoreLocalForm(halo_, &local));
}

// Returns the largest relative residual.
double SharedSystem::run_cycles(PathSystem& rows, std::vector<double>& z) {
  const auto look_over_the_seam = [&] {
    for (int32_t p = 0; p < rows.ends(); ++p) {
      if (rows.state(p) < share_.own) continue;
      const double log_z = phi_[static_cast<size_t>(rows.state(p))];
      z[static_cast<size_t>(p)] =
          std::exp(std::clamp(log_z - rows.phi()[static_cast<size_t>(p)], -kFarSeam, kFarSeam));
    }
  };
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    look_over_the_seam();
    if (rows.size() > rows.ends()) rows.z_cycle(z);
    for (int32_t p = rows.ends(); p < rows.size(); ++p) {
      phi_[static_cast<size_t>(rows.state(p))] =
          rows.phi()[static_cast<size_t>(p)] + std::log(z[static_cast<size_t>(p)]);
    }
    exchange(phi_);
  }
  look_over_the_seam();
  const double mine = rows.residual(z);
  return ranks_.largest(std::isnan(mine) ? INFINITY : mine);
}

int64_t SharedSystem::sweep() {
  LogWeights weights;
  weights.transition = [&](State s, Action a, int64_t) { return log_weight(s, a); };
  PathSystem rows(share_.model, std::move(path_order_), weights);
  if (ranks_.any(rows.loops_diverge())) return 0;
  std::vector<double> z(static_cast<size_t>(rows.size()), 1.0), before;
  int64_t sweeps = 0;
  for (double residual = INFINITY, last = INFINITY; residual > kNear; last = residual) {
    before = phi_;
    residual = run_cycles(rows, z);
    if (!std::isfinite(residual)) {
      phi_ = before;
      break;
    }
    sweeps += 2 * kCycles * PathSystem::kCycle;
    if (residual > 0.9 * last || sweeps > kMostSweeps) break;
    ranks_.throw_if_any_stopped();
  }
  return sweeps;
}

double SharedSystem::assemble() {
  const Model& model = share_.model;
  excess_.assign(static_cast<size_t>(share_.own), 0.0);
  leave_.assign(static_cast<size_t>(share_.own), 1.0);
  fixed_.assign(static_cast<size_t>(share_.own), 0);
  std::vector<PetscInt> columns;
  std::vector<double> values;
  double worst = 0.0;
  for (const State s : order_) {
    const size_t i = static_cast<size_t>(s);
    columns.assign(1, column_[i]);
    values.assign(1, 1.0);
    double stay = 0.0, sum = 0.0;
    for (Action a = 0; live(s) && a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const State next = model.transition(s, a, 0).next;
      if (!live(next)) continue;
      const double weight = std::exp(log_weight(s, a) + phi_[static_cast<size_t>(next)] - phi_[i]);
      if (next == s) {
        stay += weight;
        continue;
      }
      const PetscInt column = column_[static_cast<size_t>(next)];
      const auto same = std::find(columns.begin(), columns.end(), column);
      if (same != columns.end()) {
        values[static_cast<size_t>(same - columns.begin())] -= weight;
      } else {
        columns.push_back(column);
        values.push_back(-weight);
      }
      sum += weight;
    }
    leave_[i] = 1.0 - stay;
    if (!(leave_[i] > 0.0)) worst = INFINITY;
    for (size_t k = 1; k < values.size(); ++k) values[k] /= leave_[i];
    fixed_[i] = columns.size() == 1;
    if (!fixed_[i]) excess_[i] = sum / leave_[i] - 1.0;
    worst = larger(worst, std::abs(excess_[i]));
    ok(MatSetValues(matrix_, 1, columns.data(), static_cast<PetscInt>(columns.size()),
                    columns.data(), values.data(), INSERT_VALUES));
  }
  ok(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
  ok(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  ok(KSPSetOperators(ksp_, matrix_, matrix_));
  return ranks_.largest(std::isnan(worst) ? INFINITY : worst);
}

std::vector<double> SharedSystem::step_rewards(const std::function<double(double)>& reward) const {
  const Model& model = share_.model;
  std::vector<double> rewards(static_cast<size_t>(share_.own), 0.0);
  for (const State s : order_) {
    const size_t i = static_cast<size_t>(s);
    double sum = 0.0;
    for (Action a = 0; live(s) && a < model.actions(); ++a) {
      if (!model.has(s, a)) continue;
      const auto t = model.transition(s, a, 0);
      if (!live(t.next)) continue;
      sum += reward(t.reward) *
             std::exp(log_weight(s, a) + phi_[static_cast<size_t>(t.next)] - phi_[i]);
    }
    rewards[i] = sum / leave_[i];
  }
  return rewards;
}

void SharedSystem::put(const std::vector<double>& values, Vec to) const {
  double* data;
  ok(VecGetArray(to, &data));
  for (size_t i = 0; i < order_.size(); ++i) data[i] = values[static_cast<size_t>(order_[i])];
  ok(VecRestoreArray(to, &data));
}

int SharedSystem::solve(const std::vector<double>& right, std::vector<double>& x, double relative,
                        double absolute) {
  put(right, right_);
  put(x, x_);
  ok(KSPSetTolerances(ksp_, relative, absolute, 1e30, 2000));
  ok(KSPSolve(ksp_, right_, x_));
  const double* data;
  ok(VecGetArrayRead(x_, &data));
  for (size_t i = 0; i < order_.size(); ++i) x[static_cast<size_t>(order_[i])] = data[i];
  ok(VecRestoreArrayRead(x_, &data));
  PetscInt iterations = 0;
  ok(KSPGetIterationNumber(ksp_, &iterations));
  ranks_.throw_if_any_stopped();
  return iterations;
}

void SharedSystem::residual(const std::vector<double>& right, const std::vector<double>& x,
                            std::vector<double>& out) {
  put(x, x_);
  ok(MatMult(matrix_, x_, right_));
  const double* data;
  ok(VecGetArrayRead(right_, &data));
  out.resize(right.size());
  for (size_t i = 0; i < order_.size(); ++i) {
    const size_t s = static_cast<size_t>(order_[i]);
    out[s] = right[s] - data[i];
  }
  ok(VecRestoreArrayRead(right_, &data));
}

void SharedSystem::fold(const std::vector<double>& z) {
  for (size_t i = 0; i < z.size(); ++i) {
    if (!fixed_[i]) phi_[i] += std::log(z[i]);
  }
  exchange(phi_);
}

std::vector<double> SharedSystem::policy(State own) const {
  const Model& model = share_.model;
  std::vector<double> all(static_cast<size_t>(model.actions()), -1.0);
  double sum = 0.0;
  for (Action a = 0; a < model.actions(); ++a) {
    if (!model.has(own, a)) continue;
    const size_t next = static_cast<size_t>(model.transition(own, a, 0).next);
    double& p = all[static_cast<size_t>(a)];
    p = std::exp(log_weight(own, a) + phi_[next] - phi_[static_cast<size_t>(own)]);
    sum += p;
  }
  for (double& p : all) {
    if (p > 0.0) p /= sum;
  }
  return all;
}

std::string SharedSystem::solver_words() const {
  KSPType type;
  PC pc;
  PCType preconditioner;
  ok(KSPGetType(ksp_, &type));
  ok(KSPGetPC(ksp_, &pc));
  ok(PCGetType(pc, &preconditioner));
  return fmt::format("PETSc {}.{}.{}: {}, preconditioner {}", PETSC_VERSION_MAJOR,
                     PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, type,
                     preconditioner ? preconditioner : "none");
}

}  // namespace agora::planning
