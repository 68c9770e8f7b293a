#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace agora::auctions {

// The engines of a mechanism, by the number of bidders and items. One thread works with an engine
// at a time; they cost too much to be made for every run.
template <typename Engine>
class EnginePool {
 public:
  // An engine that nobody else uses, for as long as this lives.
  class Borrowed {
   public:
    Borrowed(EnginePool& pool, std::pair<int, int> size, std::unique_ptr<Engine> engine)
        : pool_(pool), size_(size), engine_(std::move(engine)) {}
    ~Borrowed() { pool_.keep(size_.first, size_.second, std::move(engine_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Engine* operator->() const { return engine_.get(); }
    Engine& operator*() const { return *engine_; }

   private:
    EnginePool& pool_;
    std::pair<int, int> size_;
    std::unique_ptr<Engine> engine_;
  };

  void keep(int n, int m, std::unique_ptr<Engine> engine) {
    const std::scoped_lock lock(mutex_);
    idle_[{n, m}].push_back(std::move(engine));
  }

  // `make` makes one where none is idle.
  template <typename Make>
  Borrowed borrow(int n, int m, const Make& make) {
    std::unique_ptr<Engine> engine = idle(n, m);
    if (!engine) engine = make();
    return Borrowed(*this, {n, m}, std::move(engine));
  }

 private:
  std::unique_ptr<Engine> idle(int n, int m) {
    const std::scoped_lock lock(mutex_);
    auto& idle = idle_[{n, m}];
    if (idle.empty()) return nullptr;
    std::unique_ptr<Engine> engine = std::move(idle.back());
    idle.pop_back();
    return engine;
  }

  std::mutex mutex_;
  std::map<std::pair<int, int>, std::vector<std::unique_ptr<Engine>>> idle_;
};

}  // namespace agora::auctions
