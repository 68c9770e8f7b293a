#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

namespace agora {

// A fixed team of threads. Work is given as `parts`, a number the caller fixes whatever the
// number of threads; results combined in the order of the parts are the same bits always.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls body(part) for part in [0, parts) on the team and returns when all are done. The first
  // exception by part order is rethrown. Allocates nothing. From inside a part it runs serially.
  template <typename Body>
  void run(int64_t parts, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    run_erased(parts, const_cast<void*>(static_cast<const void*>(&body)),
               [](void* context, int64_t part) { (*static_cast<Plain*>(context))(part); });
  }

 private:
  void run_erased(int64_t parts, void* context, void (*call)(void*, int64_t));
  struct Team;
  std::unique_ptr<Team> team_;
};

// The program's own pool: --threads decides its size, hardware_threads() if nobody did.
ThreadPool& default_pool();
void set_default_threads(int threads);
int hardware_threads();

// While it lives, default_pool() of this thread is that pool, which outlives it.
class UsePool {
 public:
  explicit UsePool(ThreadPool& pool);
  ~UsePool();
  UsePool(const UsePool&) = delete;
  UsePool& operator=(const UsePool&) = delete;

 private:
  ThreadPool* before_;
};

// The half-open range of `total` items that belongs to `part` of `parts`.
struct Range {
  int64_t begin, end;
};
constexpr Range part_range(int64_t total, int64_t part, int64_t parts) {
  return {total * part / parts, total * (part + 1) / parts};
}

}  // namespace agora
