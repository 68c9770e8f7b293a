#include "base/thread_pool.h"

#include <agora/threads.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace agora {
namespace {

// How long a waiting thread spins before it sleeps: longer than the pause between two steps of a
// training, shorter than what another process would miss.
constexpr auto kSpinTime = std::chrono::microseconds(20);
constexpr int kPausesPerLook = 16;  // at the clock

thread_local bool inside_part = false;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// True as soon as the condition holds; false if it does not hold for kSpinTime.
template <typename Condition>
bool spin_until(const Condition& holds) {
  if (holds()) return true;
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      relax();
      if (holds()) return true;
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

struct ThreadPool::Team {
  static constexpr int kClosed = std::numeric_limits<int>::min();

  std::vector<std::thread> workers;
  bool spins = false;
  std::mutex submit;  // one run at a time

  // Workers at the current job; kClosed is added while none may join. A run ends when its parts are
  // done: a worker that the system did not wake in time is not waited for.
  std::atomic<int> gate{kClosed};
  std::atomic<uint32_t> generation{0};  // counts the jobs; workers sleep on it
  std::atomic<bool> stopping{false};

  // The current job; written while the gate is closed and nobody is inside.
  void* context = nullptr;
  void (*call)(void*, int64_t) = nullptr;
  int64_t parts = 0;
  std::atomic<int64_t> next{0};

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

  bool enter() {
    int inside = gate.load(std::memory_order_relaxed);
    while (inside >= 0) {
      if (gate.compare_exchange_weak(inside, inside + 1, std::memory_order_acquire)) return true;
    }
    return false;
  }

  void leave() {
    if (gate.fetch_sub(1) == kClosed + 1) gate.notify_one();
  }

  void loop() {
    uint32_t seen = 0;
    while (true) {
      const auto called = [&] { return generation.load(std::memory_order_acquire) != seen; };
      if (!spins || !spin_until(called)) generation.wait(seen, std::memory_order_acquire);
      seen = generation.load(std::memory_order_acquire);
      if (stopping.load(std::memory_order_acquire)) return;
      if (!enter()) continue;
      work();
      leave();
    }
  }

  void call_workers() {
    generation.fetch_add(1);
    generation.notify_all();
  }

  void wait_for_workers() {
    gate.fetch_add(kClosed);
    const auto empty = [&] { return gate.load(std::memory_order_acquire) == kClosed; };
    if (spins && spin_until(empty)) return;
    for (int inside; (inside = gate.load(std::memory_order_acquire)) != kClosed;) {
      gate.wait(inside, std::memory_order_acquire);
    }
  }
};

ThreadPool::ThreadPool(int threads) : team_(std::make_unique<Team>()) {
  CHECK(threads >= 1, "threads is {}", threads);
  // Where threads outnumber the cores, one that spins keeps another from its work.
  team_->spins = threads <= hardware_threads();
  for (int i = 1; i < threads; ++i)
    team_->workers.emplace_back([team = team_.get()] { team->loop(); });
}

ThreadPool::~ThreadPool() {
  team_->stopping.store(true, std::memory_order_release);
  team_->call_workers();
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
  team.gate.store(0, std::memory_order_release);
  team.call_workers();
  team.work();
  team.wait_for_workers();
  if (team.error) std::rethrow_exception(std::exchange(team.error, nullptr));
}

int hardware_threads() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

namespace {
std::mutex pool_mutex;
std::unique_ptr<ThreadPool> pool;
thread_local ThreadPool* own_pool = nullptr;
}  // namespace

UsePool::UsePool(ThreadPool& pool) : before_(std::exchange(own_pool, &pool)) {}
UsePool::~UsePool() { own_pool = before_; }

ThreadPool& default_pool() {
  if (own_pool != nullptr) return *own_pool;
  std::lock_guard lock(pool_mutex);
  if (!pool) pool = std::make_unique<ThreadPool>(hardware_threads());
  return *pool;
}

void set_default_threads(int threads) {
  std::lock_guard lock(pool_mutex);
  if (!pool || pool->threads() != threads) pool = std::make_unique<ThreadPool>(threads);
}

void set_threads(int threads) {
  constexpr int kMost = 1024;
  if (threads < 0 || threads > kMost) {
    throw user_error("threads: expected 0 to {}, found {}", kMost, threads);
  }
  set_default_threads(threads == 0 ? hardware_threads() : threads);
}

int threads() { return default_pool().threads(); }

}  // namespace agora
