// Sequential classification (section 3.4 of the thesis): one image, and guesses until one is right.
// A wrong one costs 1; after 20 the episode is cut off.
#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>

#include "agents/guessing.h"
#include "agents/images.h"
#include "agents/worlds.h"

namespace agora::agents::kind_classify {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 22;  // of an image

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> all{
      file("images", "an IDX file in place of FashionMNIST's"),
      file("labels", "an IDX file of as many labels"),
      file("test-images", "unseen ones; those left of the images unless told"),
      file("test-labels", "an IDX file of as many labels"),
      {"train", 10'000, 1, 1e7, true, "images to learn from, the levels below that number"},
      {"sample", 0, 0, 0x1p53, true, "the seed that draws them"}};
  return all;
}

// Levels below `train` are images to learn from, the others unseen ones; both begin anew after the
// last.
struct Images {
  LabelledImages seen, unseen;  // `unseen` has no labels where the rest of `seen` is taken
  std::vector<uint32_t> order;  // of `seen`
  int64_t train = 0;            // of these
  int labels = 0;

  std::pair<const uint8_t*, uint8_t> at(int64_t level, int64_t declared) const {
    const auto pick = [](const LabelledImages& from, int64_t index) {
      return std::pair(from.image(index), from.labels[static_cast<size_t>(index)]);
    };
    if (level < declared) return pick(seen, order[static_cast<size_t>(level % train)]);
    const int64_t rest = level - declared;
    if (unseen.count() > 0) return pick(unseen, rest % unseen.count());
    return pick(seen, order[static_cast<size_t>(train + rest % (seen.count() - train))]);
  }
};

int labels_of(const LabelledImages& images) {
  return 1 + *std::max_element(images.labels.begin(), images.labels.end());
}

std::shared_ptr<const Images> read(const Told& told) {
  auto made = std::make_shared<Images>();
  const auto both = [&](const std::string& images, const std::string& labels) {
    const std::string files[2] = {told.text(images), told.text(labels)};
    if (files[0].empty() != files[1].empty()) {
      throw user_error("classify: {} without {}", files[0].empty() ? labels : images,
                       files[0].empty() ? images : labels);
    }
    return ImageFiles{files[0], files[1]};
  };
  ImageFiles train = both("images", "labels"), test = both("test-images", "test-labels");
  if (train.images.empty()) {
    train = fashion_mnist(false);
    if (test.images.empty()) test = fashion_mnist(true);
  }
  made->seen = read_images(train.images, train.labels);
  if (made->seen.bytes() > kMostBytes) {
    throw user_error("{}: images of {} bytes, expected {} at most", train.images,
                     made->seen.bytes(), kMostBytes);
  }
  made->labels = labels_of(made->seen);
  if (!test.images.empty()) {
    made->unseen = read_images(test.images, test.labels);
    const LabelledImages& one = made->seen;
    const LabelledImages& other = made->unseen;
    if (other.height != one.height || other.width != one.width || other.channels != one.channels) {
      throw user_error("{}: images of {} x {} x {}, expected {} x {} x {} as in {}", test.images,
                       other.height, other.width, other.channels, one.height, one.width,
                       one.channels, train.images);
    }
    made->labels = std::max(made->labels, labels_of(other));
  }
  if (made->labels < 2) throw user_error("{}: one label only: nothing to guess", train.labels);

  made->train = std::min(told.whole<int64_t>("train"), made->seen.count());
  if (test.images.empty() && made->train == made->seen.count()) {
    throw user_error("{}: all {} images are to learn from: give test-images, or less to train",
                     train.images, made->train);
  }
  made->order.resize(static_cast<size_t>(made->seen.count()));
  std::iota(made->order.begin(), made->order.end(), 0u);
  Rng rng(static_cast<uint64_t>(told.number("sample")), stream(Stream::kImages));
  rng.shuffle(made->order);
  return made;
}

// Environments of a process that look at the same images share them.
std::shared_ptr<const Images> load(const Told& told) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const Images>> known;
  std::string key = fmt::format("{} {}", told.number("train"), told.number("sample"));
  for (const Parameter& each : parameters()) {
    if (each.type == Parameter::Type::kFile) key += '\0' + told.text(each.name);
  }
  std::lock_guard lock(mutex);
  std::shared_ptr<const Images> images = known[key].lock();
  if (!images) known[key] = images = read(told);
  return images;
}

class Classify {
 public:
  struct Level {
    const uint8_t* image;
    uint8_t label;
  };
  struct State {
    int32_t guesses;
  };

  Classify(std::shared_ptr<const Images> images, int64_t train)
      : images_(std::move(images)), train_(train) {
    const LabelledImages& like = images_->seen;
    space_.observation.shape = {like.height, like.width, like.channels};
    space_.actions = images_->labels;
    // Random guesses: each is needed if all before were wrong.
    const double wrong = 1 - 1.0 / space_.actions;
    double still = 1;
    for (int32_t guess = 0; guess < kGuesses; ++guess) space_.least -= still *= wrong;
  }

  const Space& space() const { return space_; }
  static int32_t limit() { return kGuesses; }
  static int64_t nanoseconds() { return 40; }

  void make(int64_t number, Level& level) const {
    const auto [image, label] = images_->at(number, train_);
    level = {image, label};
  }
  static void begin(const Level&, State& state, Rng&) { state = {}; }
  static Outcome step(const Level& level, State& state, int32_t action, Rng&) {
    ++state.guesses;
    if (action == level.label) return {0, End::kTerminated};
    return {-1, End::kNone};
  }
  void observe(const Level& level, const State&, std::byte* bytes) const {
    std::memcpy(bytes, level.image, static_cast<size_t>(space_.observation.bytes()));
  }
  static void update(const Level&, const State&, std::byte*) {}
  static bool possible(const Level&, const State& state) {
    return state.guesses >= 0 && state.guesses < kGuesses;
  }

  Environment::Picture picture(const Level& level, const State&) const {
    const LabelledImages& like = images_->seen;
    const int64_t zoom = std::clamp<int64_t>(224 / std::max(like.height, like.width), 1, 16);
    Environment::Picture picture{like.height * zoom, like.width * zoom, {}};
    for (int64_t row = 0; row < picture.height; ++row) {
      for (int64_t column = 0; column < picture.width; ++column) {
        const uint8_t* const pixel =
            level.image + (row / zoom * like.width + column / zoom) * like.channels;
        for (int64_t c = 0; c < 3; ++c) picture.rgb.push_back(pixel[like.channels < 3 ? 0 : c]);
      }
    }
    return picture;
  }

 private:
  std::shared_ptr<const Images> images_;
  int64_t train_;
  Space space_;
};

}  // namespace

EnvironmentKind entry_classify() {
  return {.name = "classify",
          .summary = "guess the label of an image until it is right: -1 for each wrong guess",
          .parameters = parameters(),
          .missing = [](const Arguments& arguments) -> std::string {
            return arguments.contains("images") ? "" : fashion_mnist_missing();
          },
          .make =
              [](const std::string&, const EnvironmentOptions& options) {
                const Told told("classify", parameters(), options.arguments);
                return std::make_unique<Worlds<Classify>>(
                    Classify(load(told), told.whole<int64_t>("train")), options);
              }};
}

}  // namespace agora::agents::kind_classify
