#pragma once
#include <memory>
#include <vector>

namespace agora::auctions {

// Maximises a linear function of bounded columns under rows low <= a x <= high. Rows may be added
// after a solution, which then starts the next one. Needs Clp: without it, construction is a
// UserError that says so.
class LinearProgram {
 public:
  static constexpr double kUnbounded = 1e300;

  LinearProgram();
  ~LinearProgram();
  LinearProgram(const LinearProgram&) = delete;
  LinearProgram& operator=(const LinearProgram&) = delete;

  int add_column(double gain, double low, double high);
  // Collected and given to the solver by the next solve().
  void add_row(const std::vector<int>& columns, const std::vector<double>& coefficients, double low,
               double high);
  double solve();  // the optimal value; anything but an optimum is a fault of ours
  const std::vector<double>& solution() const { return solution_; }  // (columns)
  int rows() const;

 private:
  struct Solver;
  std::unique_ptr<Solver> solver_;
  std::vector<double> solution_;
};

}  // namespace agora::auctions
