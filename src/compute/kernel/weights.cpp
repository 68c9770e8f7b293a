#include <fmt/format.h>

#include <algorithm>

#include "compute/kernel/writer.h"
#include "compute/staging.h"

// Weights of products, brought into the order in which tensor cores take them (products.cuh) before
// rows meet them: a lane then loads what it needs at once. Most are variables and brought there
// once per start; whoever computes the next value of one puts it in its place too. All blocks share
// the work.
namespace agora::compute::kernel {
namespace {

void add_weights(const std::vector<Step>& steps, std::vector<const View*>& weights) {
  for (const Step& step : steps) {
    if (step.kind == StepKind::kOperation && step.op == Op::kMatmul) {
      weights.push_back(&step.inputs[1]);
    }
    add_weights(step.body, weights);
  }
}

bool same(const View& a, const View& b) {
  return a.buffer == b.buffer && a.offset == b.offset && a.shape == b.shape &&
         a.strides == b.strides;
}

// Whether the view is all of a dense matrix of `count` elements as it lies, or turned.
bool is_whole(const View& w, int64_t count, bool turned) {
  const int64_t in = w.shape[0], out = w.shape[1];
  const int64_t step_in = turned ? 1 : out, step_out = turned ? in : 1;
  return w.offset == 0 && in * out == count && (in == 1 || w.strides[0] == step_in) &&
         (out == 1 || w.strides[1] == step_out);
}

}  // namespace

void Writer::find_weights() {
  std::vector<const View*> weights;
  for (const Phase& phase : plan_.phases) add_weights(phase.rows, weights);
  products_ = weights.size();
  for (const View* view : weights) {
    if (std::any_of(tiled_.begin(), tiled_.end(),
                    [&](const Tiled& it) { return same(it.view, *view); })) {
      continue;
    }
    Tiled it{*view, source_.tiled};
    const int64_t inputs = is_short_ ? 16 : 8;  // of a tile
    it.size = (view->shape[1] + 15) / 16 * ((view->shape[0] + inputs - 1) / inputs) * inputs * 16;
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(view->buffer)];
    if (buffer.space == Space::kVariable) {
      const PlannedVariable& variable = plan_.variables[static_cast<size_t>(buffer.variable)];
      const int64_t count = feature_count(variable.shape);
      it.takes_turns = variable.updated && is_updated_by_elements(buffer.variable) &&
                       (is_whole(*view, count, false) || is_whole(*view, count, true));
      if (variable.updated && !it.takes_turns) it.phase = 0;
    } else {
      it.phase = phase_that_computes(view->buffer);
    }
    source_.tiled += it.size * (it.takes_turns ? 2 : 1);
    tiled_.push_back(std::move(it));
  }
}

// Whether the next values are those of a group, each element by itself.
bool Writer::is_updated_by_elements(int32_t variable) const {
  for (const Phase& phase : plan_.phases) {
    for (const Step& step : phase.shared) {
      if (step.kind != StepKind::kElementwise) continue;
      for (const View& output : step.outputs) {
        if (output.buffer < 0) continue;
        const Buffer& buffer = plan_.buffers[static_cast<size_t>(output.buffer)];
        if (buffer.space == Space::kNextVariable && buffer.variable == variable) {
          return output.offset == 0 && output.dense();
        }
      }
    }
  }
  return false;
}

// -1: none, it is there from the start.
int64_t Writer::phase_that_computes(int32_t buffer) const {
  const auto gives = [&](const Step& step) {
    return std::any_of(step.outputs.begin(), step.outputs.end(),
                       [&](const View& it) { return it.buffer == buffer; });
  };
  for (size_t k = 0; k < plan_.phases.size(); ++k) {
    const Phase& phase = plan_.phases[k];
    if (std::any_of(phase.shared.begin(), phase.shared.end(), gives)) return int64_t(k);
    if (std::any_of(phase.rows.begin(), phase.rows.end(), gives)) return int64_t(k) + 1;
  }
  return -1;
}

bool Writer::tile_weights(int64_t phase, bool barrier) {
  std::vector<Elements> pieces;
  for (const Tiled& it : tiled_) {
    if (it.phase != phase) continue;
    const int64_t in = it.view.shape[0], out = it.view.shape[1];
    const std::string value = memory_.element(
        it.view, fmt::format("k * {} + o * {}", it.view.strides[0], it.view.strides[1]));
    pieces.push_back(
        {it.size,
         fmt::format("const int k = weight_input(f, {0}), o = weight_output(f, {0});\n"
                     "a.tiled[{2} + f] = k < {0} && o < {1} ? as_weight({3}) : Weight(0);\n",
                     in, out, it.place, value)});
  }
  write_distributed(pieces);
  if (barrier && !pieces.empty()) line("grid_barrier(a.barrier, arrivals);");
  return !pieces.empty();
}

const Writer::Tiled& Writer::tiles_of(const View& w) const {
  return *std::find_if(tiled_.begin(), tiled_.end(),
                       [&](const Tiled& known) { return same(known.view, w); });
}

std::string Writer::tiled(const View& w) const {
  const Tiled& it = tiles_of(w);
  if (!it.takes_turns) return fmt::format("(a.tiled + {})", it.place);
  return fmt::format("(a.tiled + (odd ? {} : {}))", it.place + it.size, it.place);
}

void Writer::touch_weights(const std::vector<const Step*>& wave) {
  const int64_t width = is_short_ ? 2 : options_.type == Type::kFloat64 ? 8 : 4;
  const int64_t sector = 32 / width;  // weights that come at once
  std::vector<const Tiled*> known;
  int64_t bytes = 0;
  for (const Step* step : wave) {
    if (step->kind != StepKind::kOperation || step->op != Op::kMatmul) continue;
    const Tiled* const it = &tiles_of(step->inputs[1]);
    if (std::find(known.begin(), known.end(), it) != known.end()) continue;
    known.push_back(it);
    bytes += it->size * width;
  }
  const int64_t close = (256 << 10) - memory_.fast_features() * options_.lanes * 4 - (12 << 10);
  if (bytes > close) return;
  const int64_t busy = std::min(busy_, options_.threads - 128);  // they have something to do
  for (const Tiled* it : known) {
    line(
        fmt::format("ROLLED for (int i = thread_index() - {0}; i >= 0 && i < {1}; i += kThreads - "
                    "{0}) touch({2} + i * {3});",
                    busy, it->size / sector, tiled(it->view), sector));
  }
}

std::string Writer::tile_next(const View& output, const std::string& f, const std::string& value) {
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(output.buffer)];
  std::string text;
  if (buffer.space != Space::kNextVariable) return text;
  for (const Tiled& it : tiled_) {
    const Buffer& own = plan_.buffers[static_cast<size_t>(it.view.buffer)];
    if (!it.takes_turns || own.variable != buffer.variable) continue;
    const int64_t in = it.view.shape[0], out = it.view.shape[1];
    const bool turned = !is_whole(it.view, in * out, false);
    const int64_t row = turned ? in : out;
    const std::string first = fmt::format("{} / {}", f, row),
                      second = fmt::format("{} % {}", f, row);
    text += fmt::format("a.tiled[(odd ? {} : {}) + place_of_weight({}, {}, {})] = as_weight({});\n",
                        it.place, it.place + it.size, turned ? second : first,
                        turned ? first : second, in, value);
  }
  return text;
}

}  // namespace agora::compute::kernel
