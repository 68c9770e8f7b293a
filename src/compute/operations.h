#pragma once
#include <array>

#include "compute/graph.h"

// What can be recorded. Row-local tensors broadcast along their feature axes as in NumPy, with
// the row axes aligned; shared tensors broadcast over rows. Axes count the row axis: axis 0 of a
// row-local tensor is the row. Negative axes count from the end. A wrong shape is an error that
// names the operation and the shapes.
namespace agora::compute {

Tensor operator+(Tensor a, Tensor b);
Tensor operator-(Tensor a, Tensor b);
Tensor operator*(Tensor a, Tensor b);
Tensor operator/(Tensor a, Tensor b);
Tensor operator+(Tensor a, double b);
Tensor operator-(Tensor a, double b);
Tensor operator*(Tensor a, double b);
Tensor operator/(Tensor a, double b);
Tensor operator+(double a, Tensor b);
Tensor operator-(double a, Tensor b);
Tensor operator*(double a, Tensor b);
Tensor operator/(double a, Tensor b);
Tensor operator-(Tensor a);

Tensor minimum(Tensor a, Tensor b);
Tensor maximum(Tensor a, Tensor b);
Tensor minimum(Tensor a, double b);
Tensor maximum(Tensor a, double b);
Tensor clip(Tensor x, double low, double high);
Tensor greater(Tensor a, Tensor b);        // 1 or 0
Tensor greater_equal(Tensor a, Tensor b);  // 1 or 0
Tensor equal(Tensor a, Tensor b);          // 1 or 0
Tensor where(Tensor condition, Tensor a, Tensor b);

Tensor exp(Tensor x);
Tensor log(Tensor x);
Tensor sqrt(Tensor x);
Tensor square(Tensor x);
Tensor abs(Tensor x);
Tensor tanh(Tensor x);
Tensor sigmoid(Tensor x);
Tensor softplus(Tensor x);
Tensor relu(Tensor x);
Tensor softmax(Tensor x, int64_t axis);
Tensor log_softmax(Tensor x, int64_t axis);

// Along one axis, or two neighbouring ones, of a row-local tensor: the reflection that exchanges
// the first unit vector and the direction of the mean. Entry 0 becomes sqrt(size) times the mean,
// the others the deviations from it in an orthonormal basis. It is its own inverse and gradient.
Tensor reflect(Tensor x, const std::vector<int64_t>& axes);

enum class Keep : bool { kNo, kYes };  // whether a reduced axis stays with size 1
Tensor sum(Tensor x);                  // over all axes, rows too: a shared scalar
Tensor mean(Tensor x);
Tensor sum(Tensor x, const std::vector<int64_t>& axes, Keep keep = Keep::kNo);
Tensor mean(Tensor x, const std::vector<int64_t>& axes, Keep keep = Keep::kNo);
Tensor max(Tensor x, const std::vector<int64_t>& axes, Keep keep = Keep::kNo);

Tensor broadcast(Tensor x, const Shape& shape);
Tensor reshape(Tensor x, const Shape& shape);
Tensor flatten(Tensor x);  // (rows, all features)
Tensor transpose(Tensor x, const std::vector<int64_t>& axes);
Tensor transpose(Tensor x);  // swaps the last two axes
Tensor slice(Tensor x, int64_t axis, int64_t begin, int64_t end);
Tensor concat(const Tensors& parts, int64_t axis);
Tensor stack(const Tensors& parts, int64_t axis);  // a new axis
Tensor pad(Tensor x, int64_t axis, int64_t before, int64_t after);
Tensor gather(Tensor table, Tensor index);  // shared (n, s...), (rows, t...) -> (rows, t..., s...)
Tensor one_hot(Tensor index, int64_t depth);
Tensor stop_gradient(Tensor x);

Tensor matmul(Tensor x, Tensor w);            // (..., k) x (k, n) -> (..., n)
Tensor matmul(Tensor x, Tensor w, Tensor b);  // + (n)
// The blocks of x (rows, ..., a, b, k) times a weight each: entry (0, 0) and w[0], the rest of the
// first row and w[1], the rest of the first column and w[2], all others and w[3]. The bias goes to
// entry (0, 0).
Tensor matmul_by_block(Tensor x, const std::array<Tensor, 4>& w, Tensor bias = {});

Tensor conv3x3(Tensor x, Tensor w);  // (rows, h, w, c) * (3, 3, c, c'), zero padding
Tensor max_pool(Tensor x);           // 3x3, stride 2, padding 1

// Categorical distributions over the last axis, given by logits.
Tensor categorical_log_prob(Tensor logits, Tensor index);
Tensor categorical_entropy(Tensor logits);
Tensor categorical_kl(Tensor logits_p, Tensor logits_q);

// Runs a row-local computation `times` times on each tile without leaving the cache:
//   Tensor best = repeat(25, {guess}, [&](const Tensors& s, Tensor step) { return ...; })[0];
// `step` is (rows): 1, 2, ..., times. The body may use tensors from outside; what does not depend
// on its state is computed once. States must be row-local and keep their shapes. Gradients do not
// flow through the results.
Tensors repeat(int64_t times, const Tensors& initial,
               const std::function<Tensors(const Tensors& state, Tensor step)>& body);

}  // namespace agora::compute
