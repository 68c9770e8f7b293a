#pragma once
#include "compute/operation.h"

// The shapes of results, one rule for each kind of operation (see Operation::shape).
namespace agora::compute::shape_of {

using Shapes = std::span<const Shape>;

Shape told(const Operation& it, const Node& node, Shapes in);  // whatever the node says
Shape same(const Operation& it, const Node& node, Shapes in);
Shape elementwise(const Operation& it, const Node& node, Shapes in);
Shape reshape(const Operation& it, const Node& node, Shapes in);
Shape broadcast(const Operation& it, const Node& node, Shapes in);
Shape transpose(const Operation& it, const Node& node, Shapes in);
Shape slice(const Operation& it, const Node& node, Shapes in);
Shape concat(const Operation& it, const Node& node, Shapes in);
Shape pad(const Operation& it, const Node& node, Shapes in);
Shape gather(const Operation& it, const Node& node, Shapes in);
Shape scatter(const Operation& it, const Node& node, Shapes in);
Shape one_hot(const Operation& it, const Node& node, Shapes in);
Shape reduction(const Operation& it, const Node& node, Shapes in);
Shape sum_rows(const Operation& it, const Node& node, Shapes in);
Shape reflect(const Operation& it, const Node& node, Shapes in);
Shape matmul(const Operation& it, const Node& node, Shapes in);
Shape outer(const Operation& it, const Node& node, Shapes in);
Shape block_matmul(const Operation& it, const Node& node, Shapes in);
Shape conv(const Operation& it, const Node& node, Shapes in);
Shape conv_input(const Operation& it, const Node& node, Shapes in);
Shape conv_weight(const Operation& it, const Node& node, Shapes in);
Shape pool(const Operation& it, const Node& node, Shapes in);

}  // namespace agora::compute::shape_of

namespace agora::compute {

// Row axes aligned, feature axes aligned at the end.
Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b);

}  // namespace agora::compute
