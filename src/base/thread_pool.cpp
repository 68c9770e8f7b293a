#include "base/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace agora {
namespace {

constexpr int kSpins = 20000;  // about half a millisecond before a waiting thread sleeps

thread_local bool inside_part = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

struct ThreadPool::Team {
  std::vector<std::thread> workers;
  int spins = 0;
  std::mutex submit;  // one run at a time

  // The current job; written before `generation` is raised.
  void* context = nullptr;
  void (*call)(void*, int64_t) = nullptr;
  int64_t parts = 0;
  std::atomic<int64_t> next{0};
  std::atomic<int> busy{0};
  std::atomic<uint64_t> generation{0};
  std::atomic<bool> stopping{false};

  std::mutex sleep_mutex;
  std::condition_variable wake;
  std::condition_variable finished;

  std::mutex error_mutex;
  std::exception_ptr error;
  int64_t error_part = std::numeric_limits<int64_t>::max();

  void work() {
    inside_part = true;
    for (int64_t part; (part = next.fetch_add(1, std::memory_order_relaxed)) < parts;) {
      try {
        call(context, part);
      } catch (...) {
        next.store(parts, std::memory_order_relaxed);  // those not begun come later in the order
        std::lock_guard lock(error_mutex);
        if (part < error_part) {
          error = std::current_exception();
          error_part = part;
        }
      }
    }
    inside_part = false;
  }

  void loop() {
    uint64_t seen = 0;
    while (true) {
      for (int spin = 0; spin < spins && generation.load(std::memory_order_acquire) == seen;
           ++spin) {
        relax();
      }
      if (generation.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(sleep_mutex);
        wake.wait(lock, [&] { return generation.load(std::memory_order_acquire) != seen; });
      }
      seen = generation.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_acquire)) return;
      work();
      if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        std::lock_guard lock(sleep_mutex);
        finished.notify_one();
      }
    }
  }

  void start_generation() {
    {
      std::lock_guard lock(sleep_mutex);
      generation.fetch_add(1, std::memory_order_acq_rel);
    }
    wake.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : team_(std::make_unique<Team>()) {
  CHECK(threads >= 1, "threads is {}", threads);
  // Where threads outnumber the cores, one that spins keeps another from its work.
  team_->spins = threads <= hardware_threads() ? kSpins : 0;
  for (int i = 1; i < threads; ++i)
    team_->workers.emplace_back([team = team_.get()] { team->loop(); });
}

ThreadPool::~ThreadPool() {
  team_->stopping.store(true, std::memory_order_release);
  team_->start_generation();
  for (std::thread& worker : team_->workers) worker.join();
}

int ThreadPool::threads() const { return static_cast<int>(team_->workers.size()) + 1; }

void ThreadPool::run_erased(int64_t parts, void* context, void (*call)(void*, int64_t)) {
  if (parts <= 0) return;
  Team& team = *team_;
  if (inside_part || team.workers.empty() || parts == 1) {
    for (int64_t part = 0; part < parts; ++part) call(context, part);
    return;
  }
  std::lock_guard one_run(team.submit);
  team.context = context;
  team.call = call;
  team.parts = parts;
  team.next.store(0, std::memory_order_relaxed);
  team.error = nullptr;
  team.error_part = std::numeric_limits<int64_t>::max();
  team.busy.store(static_cast<int>(team.workers.size()), std::memory_order_relaxed);
  team.start_generation();
  team.work();
  for (int spin = 0; spin < team.spins && team.busy.load(std::memory_order_acquire) > 0; ++spin)
    relax();
  if (team.busy.load(std::memory_order_acquire) > 0) {
    std::unique_lock lock(team.sleep_mutex);
    team.finished.wait(lock, [&] { return team.busy.load(std::memory_order_acquire) == 0; });
  }
  if (team.error) std::rethrow_exception(std::exchange(team.error, nullptr));
}

int hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {
std::mutex pool_mutex;
std::unique_ptr<ThreadPool> pool;
}  // namespace

ThreadPool& default_pool() {
  std::lock_guard lock(pool_mutex);
  if (!pool) pool = std::make_unique<ThreadPool>(hardware_threads());
  return *pool;
}

void set_default_threads(int threads) {
  std::lock_guard lock(pool_mutex);
  if (!pool || pool->threads() != threads) pool = std::make_unique<ThreadPool>(threads);
}

}  // namespace agora
