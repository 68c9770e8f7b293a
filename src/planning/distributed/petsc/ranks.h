#pragma once
#include <mpi.h>
#include <petscksp.h>

#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace agora::planning {

// A PETSc call that must succeed.
inline void ok(PetscErrorCode code) { CHECK(code == 0, "PETSc stopped with code {}", code); }

// The processes that work together. Made once: starts MPI and PETSc, which end with the program.
class Ranks {
 public:
  static const Ranks& all();

  int rank() const { return rank_; }
  int size() const { return size_; }

  double largest(double mine) const { return reduced(mine, MPI_MAX); }
  double least(double mine) const { return reduced(mine, MPI_MIN); }
  double sum(double mine) const { return reduced(mine, MPI_SUM); }
  bool any(bool mine) const { return largest(mine ? 1.0 : 0.0) > 0.0; }
  int64_t before(int64_t mine) const;  // the sum over the ranks before this one

  // Everybody's, in the order of the ranks; for small things.
  template <typename T>
  std::vector<T> gathered(const std::vector<T>& mine) const {
    return exchanged(std::vector<std::vector<T>>(static_cast<size_t>(size_), mine));
  }
  std::vector<std::string> gathered(const std::vector<std::string>& mine) const;

  // to[k] goes to rank k; what came, in the order of the ranks. `counts`: how many from each.
  template <typename T>
  std::vector<T> exchanged(const std::vector<std::vector<T>>& to,
                           std::vector<int>* counts = nullptr) const;

  // Runs body; where it throws a UserError on some rank, every rank throws that of the first.
  template <typename Body>
  void together(Body&& body) const {
    std::string mistake;
    try {
      body();
    } catch (const UserError& error) {
      mistake = error.what();
      if (mistake.empty()) mistake = "unknown mistake";
    }
    throw_first(mistake);
  }
  // Ctrl-C on any rank is one on all.
  void throw_if_any_stopped() const;

 private:
  Ranks();
  ~Ranks();
  double reduced(double mine, MPI_Op op) const;
  void throw_first(const std::string& mistake) const;

  int rank_ = 0, size_ = 1;
};

template <typename T>
std::vector<T> Ranks::exchanged(const std::vector<std::vector<T>>& to,
                                std::vector<int>* counts) const {
  static_assert(std::is_trivially_copyable_v<T>);
  const size_t n = static_cast<size_t>(size_);
  std::vector<int> send(n), receive(n), send_from(n), receive_from(n);
  std::vector<T> out;
  for (size_t k = 0; k < n; ++k) {
    send[k] = static_cast<int>(to[k].size());
    send_from[k] = static_cast<int>(out.size());
    out.insert(out.end(), to[k].begin(), to[k].end());
  }
  MPI_Alltoall(send.data(), 1, MPI_INT, receive.data(), 1, MPI_INT, PETSC_COMM_WORLD);
  std::exclusive_scan(receive.begin(), receive.end(), receive_from.begin(), 0);
  std::vector<T> in(static_cast<size_t>(receive_from.back() + receive.back()));
  MPI_Datatype item;
  MPI_Type_contiguous(sizeof(T), MPI_BYTE, &item);
  MPI_Type_commit(&item);
  MPI_Alltoallv(out.data(), send.data(), send_from.data(), item, in.data(), receive.data(),
                receive_from.data(), item, PETSC_COMM_WORLD);
  MPI_Type_free(&item);
  if (counts) *counts = std::move(receive);
  return in;
}

}  // namespace agora::planning
