#include "auctions/exact/linear_program.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/features.h"
#include "base/signals.h"

#if AGORA_HAS_CLP
#include <ClpEventHandler.hpp>
#include <ClpSimplex.hpp>
#include <ClpSolve.hpp>

namespace agora::auctions {
namespace {

constexpr double kTooLarge = 1e12;  // beside the tolerances of the simplex method

// Ends the simplex method after a signal.
class Stop : public ClpEventHandler {
 public:
  int event(Event) override { return stop_requested() ? 5 : -1; }
  ClpEventHandler* clone() const override { return new Stop(*this); }
};

}  // namespace

struct LinearProgram::Solver {
  ClpSimplex model;
  std::vector<double> gain, low, high;  // (columns)
  // Rows not yet given to the model, compressed.
  std::vector<double> row_low, row_high, coefficients;
  std::vector<int> columns;
  std::vector<int> starts{0};
  double largest = 0.0;  // of the coefficients of rows
  bool solved = false;
};

LinearProgram::LinearProgram() : solver_(std::make_unique<Solver>()) {
  const Stop stop;
  solver_->model.passInEventHandler(&stop);
  solver_->model.setLogLevel(0);
  solver_->model.setOptimizationDirection(-1);
  solver_->model.setPrimalTolerance(1e-9);
  solver_->model.setDualTolerance(1e-9);
}

LinearProgram::~LinearProgram() = default;

int LinearProgram::add_column(double gain, double low, double high) {
  CHECK(!solver_->solved, "columns come before the first solution");
  solver_->gain.push_back(gain);
  solver_->low.push_back(low);
  solver_->high.push_back(high);
  return static_cast<int>(solver_->gain.size()) - 1;
}

void LinearProgram::add_row(const std::vector<int>& columns,
                            const std::vector<double>& coefficients, double low, double high) {
  throw_if_stopped();
  Solver& s = *solver_;
  s.columns.insert(s.columns.end(), columns.begin(), columns.end());
  s.coefficients.insert(s.coefficients.end(), coefficients.begin(), coefficients.end());
  for (const double each : coefficients) s.largest = std::max(s.largest, std::abs(each));
  s.starts.push_back(static_cast<int>(s.columns.size()));
  s.row_low.push_back(low);
  s.row_high.push_back(high);
}

double LinearProgram::solve() {
  Solver& s = *solver_;
  if (!s.solved) {
    s.model.resize(0, static_cast<int>(s.gain.size()));
    for (size_t c = 0; c < s.gain.size(); ++c) {
      const int column = static_cast<int>(c);
      s.model.setObjectiveCoefficient(column, s.gain[c]);
      s.model.setColumnBounds(column, s.low[c], s.high[c]);
    }
  }
  if (!s.row_low.empty()) {
    s.model.addRows(static_cast<int>(s.row_low.size()), s.row_low.data(), s.row_high.data(),
                    s.starts.data(), s.columns.data(), s.coefficients.data());
    s.row_low.clear();
    s.row_high.clear();
    s.columns.clear();
    s.coefficients.clear();
    s.starts = {0};
  }
  if (s.solved) {
    s.model.dual();  // new rows leave the old basis dual feasible
  } else {
    ClpSolve how;
    how.setSpecialOption(2, 1);  // leaves SIGINT to us
    s.model.initialSolve(how);
    s.solved = true;
  }
  throw_if_stopped();
  if (!s.model.isProvenOptimal() && s.largest > kTooLarge) {
    throw user_error("a linear program with numbers up to {:.2g} could not be solved", s.largest);
  }
  CHECK(s.model.isProvenOptimal(), "the linear program ended with status {}", s.model.status());
  solution_.assign(s.model.getColSolution(), s.model.getColSolution() + s.model.numberColumns());
  return s.model.objectiveValue();
}

int LinearProgram::rows() const {
  return solver_->model.numberRows() + static_cast<int>(solver_->row_low.size());
}

}  // namespace agora::auctions

#else

namespace agora::auctions {

struct LinearProgram::Solver {};
LinearProgram::LinearProgram() {
  throw user_error("lp needs Clp: install coinor-libclp-dev and configure again");
}
LinearProgram::~LinearProgram() = default;
int LinearProgram::add_column(double, double, double) { return 0; }
void LinearProgram::add_row(const std::vector<int>&, const std::vector<double>&, double, double) {}
double LinearProgram::solve() { return 0.0; }
int LinearProgram::rows() const { return 0; }

}  // namespace agora::auctions
#endif
