#pragma once
#include <memory>
#include <string>

#include "agents/guessing.h"
#include "base/learning_loop.h"

namespace agora::agents {

struct ClassifierOptions {
  NetworkOptions network = {};
  int64_t updates = 1000, batch = 256;
  double rate = 5e-4;
  uint64_t seed = 0;
};

// Learns the labels of levels by cross-entropy: p(label | image), for those who guess by it.
class Classifier : public Resumable {
 public:
  Classifier(const LabelledLevels& levels, const ClassifierOptions& options);
  ~Classifier() override;

  int64_t step() const override { return update_; }
  int64_t total() const override { return options_.updates; }
  void advance(int64_t updates) override;
  std::vector<StoredTensor> tensors() const override;
  void restore(const Checkpoint& checkpoint) override;
  NamedNumbers numbers() override;
  SavedPolicy policy() const;  // draws a label with its probability

 private:
  struct Learning;
  const LabelledLevels& levels_;
  ClassifierOptions options_;
  int64_t update_ = 0;
  double loss_ = 0, losses_ = 0;  // since numbers() was called
  std::unique_ptr<Learning> learning_;
};

}  // namespace agora::agents
