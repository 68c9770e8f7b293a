#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/operations.h"
#include "compute/program.h"

// Optimisers record their updates in the graph, so that a whole training step is one program. Their
// state (moments, step count) are variables named `name.` + what they belong to. The arithmetic
// is that of PyTorch's optimisers of the same names.
namespace agora::nn {

using compute::Graph;
using compute::Tensor;
using compute::Tensors;
using compute::Update;
using Updates = std::vector<Update>;

// The learning rate as a function of the number of steps already made: a shared scalar of a graph,
// or a number on the host for those who feed it.
class Schedule {
 public:
  using InGraph = std::function<Tensor(Tensor steps)>;
  using OnHost = std::function<double(double steps)>;
  Schedule(InGraph in_graph, OnHost on_host)
      : in_graph_(std::move(in_graph)), on_host_(std::move(on_host)) {}

  Tensor operator()(Tensor steps) const { return in_graph_(steps); }
  double at(double steps) const;

 private:
  InGraph in_graph_;
  OnHost on_host_;
};
Schedule constant_rate(double rate);
Schedule linear_rate(double from, double to, double steps);           // then stays at `to`
Schedule cosine_rate(double from, double to, double steps);           // half a period, then `to`
Schedule exponential_rate(double rate, double factor, double every);  // rate factor^(steps/every)
Schedule warmed_up(double steps, Schedule after);                     // rises linearly to it
Schedule fed_rate(Tensor rate);  // what the host feeds, step by step; it knows it itself

// grads scaled so that their common norm is at most max_norm (PyTorch's clip_grad_norm_).
Tensors clip_by_global_norm(const Tensors& grads, double max_norm);
Tensor global_norm(const Tensors& grads);

struct Sgd {
  Schedule rate = constant_rate(1e-2);
  double momentum = 0.0;
  double weight_decay = 0.0;  // added to the gradient
  Updates operator()(std::string_view name, const Tensors& params, const Tensors& grads) const;
};

struct Adam {
  Schedule rate = constant_rate(1e-3);
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // decoupled from the gradient: AdamW
  Updates operator()(std::string_view name, const Tensors& params, const Tensors& grads) const;
};

// AdamW is Adam with PyTorch's default decay.
inline Adam adam_w(Schedule rate, double weight_decay = 1e-2) {
  return {.rate = std::move(rate), .weight_decay = weight_decay};
}

}  // namespace agora::nn
