#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "compute/kernel/schedule.h"
#include "compute/kernel/writer.h"
#include "compute/staging.h"

// Shared steps. What is small every block computes for itself, so that it need not wait for others;
// what is long, or what nobody reads in this run (the next values of variables), all blocks share.
namespace agora::compute::kernel {
namespace {

constexpr int64_t kSmall = 2048;    // elements
constexpr int64_t kSmallSums = 64;  // of sums over rows
constexpr int64_t kLongReduction = 1 << 15;

}  // namespace

std::string Writer::group(const Step& step, const std::string& f, const std::string& condition) {
  std::string text;
  const size_t first = step.kind == StepKind::kElementwise ? 0 : 1;  // v0 is the operation's
  std::vector<bool> read(step.inputs.size());
  for (size_t k = first; k < step.code.size(); ++k) {
    for (const int32_t slot : {step.code[k].a, step.code[k].b, step.code[k].c}) {
      if (slot >= 0) read[static_cast<size_t>(slot)] = true;
    }
  }
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (!read[k]) continue;
    const View& view = step.inputs[k];
    std::string value = memory_.at(view, f);
    if (const auto it = inline_sums_.find(view.buffer); !view.uniform && it != inline_sums_.end()) {
      value = fmt::format("sum_parts(a.sums + {} + {}, {}, parts)", it->second + view.offset,
                          index_of(view.shape, view.strides, f), "kSums");
    }
    if (!view.uniform && late_.count(view.buffer) > 0) value = "late";
    text += fmt::format("const Real x{} = {};\n", k, value);
  }
  const auto operand = [](int32_t slot) {
    return slot >= 0 ? fmt::format("x{}", slot) : fmt::format("v{}", -2 - slot);
  };
  for (size_t k = first; k < step.code.size(); ++k) {
    const Instruction& code = step.code[k];
    const char* const function = function_of(code.op);
    CHECK(function != nullptr, "{} is not elementwise", op_name(code.op));
    std::string operands = operand(code.a);
    if (code.b != -1) operands += ", " + operand(code.b);
    if (code.c != -1) operands += ", " + operand(code.c);
    text += fmt::format("const Real v{} = {}({});{}\n", k, function, operands,
                        checked(fmt::format("v{}", k), number_of(code.node)));
  }
  for (size_t k = first; k < step.outputs.size(); ++k) {
    if (step.outputs[k].buffer < 0) continue;
    const std::string to = memory_.at(step.outputs[k], f);
    text += condition.empty() ? fmt::format("{} = v{};\n", to, k)
                              : fmt::format("{{ const Real v = settled(v{}); if ({}) {} = v; }}\n",
                                            k, condition, to);
    text += tile_next(step.outputs[k], f, fmt::format("v{}", k));
  }
  return text;
}

Writer::Elements Writer::shared_elements(const Step& step) {
  const View& y = step.outputs[0];
  if (step.kind == StepKind::kElementwise) return {y.count(), group(step, "f")};
  switch (step.op) {
    case Op::kReshape:
    case Op::kConstant:
      return {y.count(),
              fmt::format("{} = {};\n", memory_.at(y, "f"),
                          step.inputs.empty() ? "Real(0)" : memory_.at(step.inputs[0], "f"))};
    case Op::kPad:
      return {y.count(), fmt::format("{} = {};\n", memory_.at(y, "f"), padded(step, "f"))};
    case Op::kMatmul: {
      const View &x = step.inputs[0], &w = step.inputs[1];
      const int64_t in = w.shape[0], out = w.shape[1];
      const std::string start =
          index_of(Shape(x.shape.begin(), x.shape.end() - 1),
                   std::vector<int64_t>(x.strides.begin(), x.strides.end() - 1), "p");
      return {y.count(),
              fmt::format(
                  "const int p = f / {1}, o = f % {1}; Real sum = 0;\n"
                  "for (int k = 0; k < {0}; ++k) sum = fma({2}, {3}, sum);\n{4}{5} = sum;\n",
                  in, out, memory_.element(x, fmt::format("{} + k * {}", start, x.strides.back())),
                  memory_.element(w, fmt::format("k * {} + o * {}", w.strides[0], w.strides[1])),
                  checked("sum", number_of(step.node)), memory_.at(y, "f"))};
    }
    default:
      CHECK(false, "{} has no shared step in a kernel", op_name(step.op));
  }
}

// One loop over the elements of all pieces, each of which starts with a new warp; blocks take warps
// of it in turn.
void Writer::write_distributed(const std::vector<Elements>& pieces) {
  if (pieces.empty()) return;
  int64_t total = 0;
  for (const Elements& piece : pieces) total += (piece.count + 31) / 32 * 32;
  source_.distributed = std::max(source_.distributed, total);
  line(fmt::format(
      "ROLLED for (int i = ((warp_index() + 1) * block_count() - 1 - block_index()) * kWarp + "
      "lane_index(); i < {}; i += kThreads * block_count()) {{",
      total));
  int64_t begin = 0;
  for (size_t k = 0; k < pieces.size(); ++k) {
    const int64_t end = begin + (pieces[k].count + 31) / 32 * 32;
    line(fmt::format("{}{} {{ const int f = i - {}; if (f < {}) {{", k == 0 ? "" : "else ",
                     k + 1 == pieces.size() ? "" : fmt::format("if (i < {})", end), begin,
                     pieces[k].count));
    line(pieces[k].body + "} }");
    begin = end;
  }
  line("}");
}

bool Writer::is_read_on(const Step& step) const {
  for (const View& output : step.outputs) {
    if (output.buffer >= 0 && readers_.count(output.buffer) > 0) return true;
  }
  return false;
}

// Whether a step of these is all that reads the buffer, and reads it element by element for what
// nobody reads in this run.
bool Writer::has_own_reader(int32_t buffer, const std::vector<Step>& steps) const {
  const auto readers = readers_.equal_range(buffer);
  if (readers.first == readers.second) return false;
  const Step* const reader = readers.first->second;
  return std::all_of(readers.first, readers.second,
                     [&](const auto& it) { return it.second == reader; }) &&
         reader->kind == StepKind::kElementwise && !is_read_on(*reader) &&
         std::any_of(steps.begin(), steps.end(), [&](const Step& it) { return &it == reader; });
}

// The sums over rows of the phase before. Where one reader is all that needs them, it adds them up
// itself.
void Writer::combine_sums(size_t phase, bool& grid) {
  inline_sums_.clear();
  if (phase == 0) return;
  const Phase& before = plan_.phases[phase - 1];
  std::vector<Elements> pieces;
  for (const Step& step : before.rows) {
    if (step.kind != StepKind::kOperation || !sums_over_rows(step.op)) continue;
    const View& y = step.outputs[0];
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(y.buffer)];
    const int64_t place = sums_at_[phase - 1] + buffer.offset - before.partial_begin;
    const bool output =
        std::any_of(plan_.outputs.begin(), plan_.outputs.end(),
                    [&](const PlannedOutput& it) { return it.view.buffer == y.buffer; });
    if (late_.count(y.buffer) > 0) continue;
    if (!output && has_own_reader(y.buffer, plan_.phases[phase].shared)) {
      inline_sums_[y.buffer] = place;
      continue;
    }
    const std::string check = checked("value", number_of(step.node));
    if (buffer.size <= kSmallSums) {
      line(fmt::format("ROLLED for (int e = warp_index(); e < {}; e += kWarps) {{", buffer.size));
      line(fmt::format(
          "const Real value = join_apart<Sum, kWarp, 1>(lane_index(), parts, [&](int k) "
          "{{ return a.sums[k * int64(kSums) + {} + e]; }});{}",
          place, check));
      line(fmt::format("if (lane_index() == 0) a.shared[{} + e] = value; }}", buffer.offset));
    } else {
      pieces.push_back(
          {buffer.size,
           fmt::format("const Real value = sum_parts(a.sums + {} + f, kSums, parts);{}\n"
                       "a.shared[{} + f] = value;\n",
                       place, check, buffer.offset)});
    }
  }
  grid = grid || !pieces.empty();
  write_distributed(pieces);
}

void Writer::shared_reduce(const Step& step, bool& grid) {
  const View& x = step.inputs[0];
  const View& y = step.outputs[0];
  const std::string check = checked("value", number_of(step.node));
  Shape kept = x.shape, joined(x.shape.size(), 1);
  for (const int64_t axis : step.ints) {
    std::swap(kept[static_cast<size_t>(axis)], joined[static_cast<size_t>(axis)]);
  }
  const int64_t positions = feature_count(kept), count = feature_count(joined);
  const char* const join = step.op == Op::kSum ? "Sum" : "Maximum";
  const std::string start = index_of(kept, x.strides, "p");
  const std::string from =
      memory_.element(x, fmt::format("{} + {}", start, index_of(joined, x.strides, "k")));
  if (count <= kLongReduction) {
    line(fmt::format("ROLLED for (int p = warp_index(); p < {}; p += kWarps) {{", positions));
    line(
        fmt::format("const Real value = join_apart<{}, kWarp, 1>(lane_index(), {}, [&](int k) {{ "
                    "return {}; }}) * {};{}",
                    join, count, from, literal(step.scale), check));
    line(fmt::format("if (lane_index() == 0) {} = value; }}", memory_.element(y, "p")));
    return;
  }
  // Each block joins a part of its own, then every block joins the parts.
  for (int64_t p = 0; p < positions; ++p) {
    const int64_t set = source_.workspace_sets++;
    line(fmt::format("{{ constexpr int p = {}; (void)p; Real value = {}::start();", p, join));
    line(
        fmt::format("for (int k = block_index() * kThreads + thread_index(); k < {}; k += kThreads "
                    "* block_count()) value = {}::join(value, {});",
                    count, join, from));
    line(fmt::format("value = join_block<{}>(value);", join));
    line(
        fmt::format("if (thread_index() == 0) a.workspace[{} * block_count() + block_index()] = "
                    "value; }}",
                    set));
  }
  line("grid_barrier(a.barrier, arrivals);");
  grid = false;
  const int64_t first = source_.workspace_sets - positions;
  line(fmt::format("ROLLED for (int p = warp_index(); p < {}; p += kWarps) {{", positions));
  line(
      fmt::format("const Real value = join_apart<{}, kWarp, 1>(lane_index(), block_count(), "
                  "[&](int k) {{ return a.workspace[({} + p) * block_count() + k]; }}) * {};{}",
                  join, first, literal(step.scale), check));
  line(fmt::format("if (lane_index() == 0) {} = value; }}", memory_.element(y, "p")));
}

void Writer::phase_shared(size_t phase) {
  bool grid = false;
  combine_sums(phase, grid);
  const auto barrier = [&] {
    line(grid ? "grid_barrier(a.barrier, arrivals);" : "block_barrier();");
    grid = false;
  };
  std::vector<const Step*> late;
  for (const Step& step : plan_.phases[phase].shared) {
    if (late_input(step) >= 0) late.push_back(&step);
  }
  write_late(late, true);
  if (phase > 0) barrier();
  std::vector<Elements> leaves;
  for (const std::vector<const Step*>& wave : waves_of(plan_, plan_.phases[phase].shared)) {
    busy_ = 0;
    std::vector<Elements> shared;
    bool any = false;
    for (const Step* step : wave) {
      const bool reduces = step->op == Op::kSum || step->op == Op::kMaximum;
      const bool softmax = step->op == Op::kSoftmax || step->op == Op::kLogSoftmax;
      any = any || late_input(*step) < 0;
      if (step->kind == StepKind::kOperation && reduces) {
        shared_reduce(*step, grid);
      } else if (step->kind == StepKind::kOperation && softmax) {
        this->softmax(*step);
      } else if (late_input(*step) >= 0) {
        continue;
      } else if (!is_read_on(*step)) {
        leaves.push_back(shared_elements(*step));
      } else if (step->outputs[0].count() <= kSmall) {
        begin_threads(step->outputs[0].count());
        line("const int f = i;\n" + shared_elements(*step).body + "}");
      } else {
        shared.push_back(shared_elements(*step));
      }
    }
    write_distributed(shared);
    grid = grid || !shared.empty();
    if (any) barrier();
  }
  write_late(late, false);
  write_distributed(leaves);
}

// The first of a step's inputs whose gradient is late, or -1.
int32_t Writer::late_input(const Step& step) const {
  for (const View& view : step.inputs) {
    if (!view.uniform && late_.count(view.buffer) > 0) return view.buffer;
  }
  return -1;
}

// Blocks take tiles of 16 inputs and 32 outputs in turn; each adds up its first before what all
// of them wait for.
void Writer::write_late(const std::vector<const Step*>& readers, bool first) {
  if (readers.empty()) return;
  int64_t total = 0;
  for (const Step* reader : readers) total += late_.at(late_input(*reader)).tiles();
  source_.distributed = std::max(source_.distributed, total * options_.threads);
  line(first ? fmt::format("{{ const int t = block_index(); if (t >= {}) {{}}", total)
             : fmt::format("ROLLED for (int t = block_index(); t < {}; t += block_count()) {{ "
                           "if (false) {{}}",
                           total));
  int64_t begin = 0;
  for (const Step* reader : readers) {
    const Late& it = late_.at(late_input(*reader));
    const int64_t end = begin + it.tiles();
    line(fmt::format("else if (t < {}) {{ using Sums = LateSums<{}, {}, {}, {}>;", end, it.in,
                     it.out, it.positions, late_rows()));
    line(fmt::format("const Sums sums{{t - {}, a.tiled + {}, a.tiled + {}, tiles * kLanes, fast}};",
                     begin, it.x, it.dy));
    begin = end;
    if (first) {
      line("sums.run(); }");
      continue;
    }
    line("if (t != block_index()) sums.run();");
    line("ROLLED for (int e = thread_index(); e < Sums::kCount; e += kThreads) {");
    line("const int k = sums.input(e), o = sums.output(e);");
    line(fmt::format("if (k >= {} || o >= {}) continue;", it.in, it.out));
    line(fmt::format("const Real late = sums.at(e); const int f = k * {} + o;", it.out));
    line(group(*reader, "f") + "} }");
  }
  line(first ? "}" : "block_barrier(); }");
}

}  // namespace agora::compute::kernel
