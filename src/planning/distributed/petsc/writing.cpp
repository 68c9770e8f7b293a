#include "base/files.h"
#include "planning/distributed/distributed.h"
#include "planning/distributed/petsc/ranks.h"

namespace agora::planning {
namespace {

// Until an empty one.
void send_pieces(const std::function<void(std::string&)>& next) {
  std::string piece;
  do {
    next(piece);
    MPI_Send(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, 0, 0, PETSC_COMM_WORLD);
  } while (!piece.empty());
}

void receive_piece(int rank, std::string& piece) {
  MPI_Status status;
  int size;
  MPI_Probe(rank, 0, PETSC_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &size);
  piece.resize(static_cast<size_t>(size));
  MPI_Recv(piece.data(), size, MPI_BYTE, rank, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

void write_together(const std::filesystem::path& file, std::string_view head,
                    const std::function<void(std::string&)>& next) {
  const Ranks& ranks = Ranks::all();
  ranks.together([&] {
    if (ranks.rank() > 0) return send_pieces(next);
    int rank = 0;
    std::string piece;
    const auto take = [&] {
      rank == 0 ? next(piece) : receive_piece(rank, piece);
      rank += piece.empty();
    };
    try {
      AtomicFile out(file);
      out.write(head);
      while (rank < ranks.size()) {
        take();
        out.write(piece);
      }
      out.commit();
    } catch (const UserError&) {
      while (rank < ranks.size()) take();  // nobody waits for ever
      throw;
    }
  });
}

}  // namespace agora::planning
