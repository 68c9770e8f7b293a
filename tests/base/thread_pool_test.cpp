#include "base/thread_pool.h"

#include <agora/threads.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/allocations.h"

namespace agora {
namespace {

TEST(ThreadPool, EveryPartRunsOnce) {
  for (const int threads : {1, 2, 3, 16}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const int64_t parts : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(parts));
      pool.run(parts, [&](int64_t part) { ++runs[static_cast<size_t>(part)]; });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
    }
  }
}

TEST(ThreadPool, SameBitsWithAnyNumberOfThreads) {
  constexpr int64_t kParts = 64;
  const auto sum = [](ThreadPool& pool) {
    std::vector<float> partial(kParts);
    pool.run(kParts, [&](int64_t part) {
      Rng rng(9, 0, 0, static_cast<uint32_t>(part));
      for (int i = 0; i < 1000; ++i) {
        partial[static_cast<size_t>(part)] += static_cast<float>(rng.normal());
      }
    });
    return std::accumulate(partial.begin(), partial.end(), 0.0f);
  };
  ThreadPool alone(1);
  const float expected = sum(alone);
  for (const int threads : {2, 3, 16}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(sum(pool), expected) << threads;
  }
}

TEST(ThreadPool, NestedRunsAreSerialInsideAPart) {
  ThreadPool pool(3);
  std::vector<int64_t> sums(20);
  pool.run(20, [&](int64_t part) {
    const auto self = std::this_thread::get_id();
    pool.run(10, [&](int64_t inner) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      sums[static_cast<size_t>(part)] += inner;
    });
  });
  for (const int64_t sum : sums) EXPECT_EQ(sum, 45);
}

TEST(ThreadPool, TheFirstExceptionByPartIsRethrown) {
  for (const int threads : {1, 2, 16}) {
    ThreadPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        pool.run(100, [](int64_t part) {
          if (part % 10 == 7) throw user_error("part {}", part);
        });
        FAIL() << "no exception";
      } catch (const UserError& error) {
        EXPECT_STREQ(error.what(), "part 7");
      }
    }
    std::atomic<int> after{0};
    pool.run(10, [&](int64_t) { ++after; });
    EXPECT_EQ(after, 10);
  }
}

// Both parts are under way before either fails, in both orders of failing.
TEST(ThreadPool, OfTwoThatFailTogetherTheFirstIsRethrown) {
  for (const int64_t early : {0, 1}) {
    ThreadPool pool(2);
    std::atomic<int> begun{0}, failed{0};
    try {
      pool.run(2, [&](int64_t part) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
        while (part != early && failed == 0) std::this_thread::yield();
        if (part != early) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++failed;
        throw user_error("part {}", part);
      });
      FAIL() << "no exception";
    } catch (const UserError& error) {
      EXPECT_STREQ(error.what(), "part 0") << early;
    }
  }
}

TEST(ThreadPool, NestedExceptionsReachTheCaller) {
  ThreadPool pool(2);
  EXPECT_THROW(
      pool.run(4, [&](int64_t) { pool.run(2, [](int64_t) { throw user_error("inner"); }); }),
      UserError);
  // After it the thread is not taken to be inside a part any more.
  std::vector<std::thread::id> ids(64);
  pool.run(64, [&](int64_t part) {
    ids[static_cast<size_t>(part)] = std::this_thread::get_id();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  });
  std::sort(ids.begin(), ids.end());
  EXPECT_GE(std::unique(ids.begin(), ids.end()) - ids.begin(), 2);
}

TEST(ThreadPool, RunAllocatesNothing) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  const auto body = [&](int64_t part) { sum += part; };
  pool.run(16, body);
  const int64_t before = allocations_so_far();
  for (int repeat = 0; repeat < 100; ++repeat) pool.run(16, body);
  EXPECT_EQ(allocations_so_far() - before, 0);
  EXPECT_EQ(sum, 101 * 120);
}

TEST(ThreadPool, ManyShortRunsAndManyCallers) {
  ThreadPool pool(4);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 2000; ++repeat) {
        int64_t own[5] = {};
        pool.run(5, [&](int64_t part) { own[part] = part + 1; });
        total += own[0] + own[1] + own[2] + own[3] + own[4];
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 3 * 2000 * 15);
}

TEST(ThreadPool, WorkersWakeFromSleep) {
  ThreadPool pool(2);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // longer than they spin
    std::atomic<int> runs{0};
    pool.run(8, [&](int64_t) { ++runs; });
    ASSERT_EQ(runs, 8);
  }
}

TEST(ThreadPool, PartRangesCoverEverything) {
  for (const int64_t total : {0, 1, 5, 64, 1001}) {
    int64_t at = 0;
    for (int64_t part = 0; part < 7; ++part) {
      const Range range = part_range(total, part, 7);
      EXPECT_EQ(range.begin, at);
      at = range.end;
    }
    EXPECT_EQ(at, total);
  }
}

TEST(ThreadPool, DefaultPoolTakesItsSize) {
  const int before = default_pool().threads();
  set_default_threads(3);
  EXPECT_EQ(default_pool().threads(), 3);
  set_default_threads(before);
  EXPECT_THROW(ThreadPool(0), Error);
}

TEST(ThreadPool, AThreadMayHaveOneOfItsOwn) {
  ThreadPool& common = default_pool();
  ThreadPool own(3), inner(1);
  {
    const UsePool use(own);
    EXPECT_EQ(&default_pool(), &own);
    {
      const UsePool again(inner);
      EXPECT_EQ(&default_pool(), &inner);
    }
    EXPECT_EQ(&default_pool(), &own);
    ThreadPool* seen = nullptr;
    std::thread([&] { seen = &default_pool(); }).join();
    EXPECT_EQ(seen, &common) << "another thread's";
  }
  EXPECT_EQ(&default_pool(), &common);
}

TEST(ThreadPool, TheLibrarysUsersSetIt) {
  set_threads(2);
  EXPECT_EQ(threads(), 2);
  EXPECT_EQ(default_pool().threads(), 2);
  set_threads(0);
  EXPECT_EQ(threads(), hardware_threads());
  EXPECT_THROW(set_threads(-1), UserError);
  EXPECT_THROW(set_threads(100000), UserError);
}

}  // namespace
}  // namespace agora
