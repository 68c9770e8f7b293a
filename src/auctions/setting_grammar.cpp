// The grammar of --setting:
//   SETTING := ( NAME | N 'x' M [ROW { '/' ROW }] ) [ '; demand ' DEMAND ] [ '; budget ' BUDGETS ]
//   ROW     := [ 'copula(' RHO ')' ] LAW { LAW } | 'triangle(' SIDE ')'
//   LAW     := WORD '(' ... ')', as the factories of distribution.h
// One LAW stands for all items; one ROW for all bidders.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "auctions/limits.h"
#include "auctions/setting.h"
#include "base/error.h"
#include "base/text.h"

namespace agora::auctions {
namespace {

constexpr int kLargestSide = 1000;
constexpr int kDeepestMix = 20;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), shown_(printable(text, 200)) {}

  Setting parse() {
    const int bidders = count("bidders");
    if (!take('x')) fail("'x' between the numbers of bidders and items, as in 2x2");
    const int items = count("items");
    skip_spaces();
    if (at_end()) {
      const std::vector<Law> laws(items, uniform(0.0, 1.0));
      return make_setting(std::string(text_), items,
                          std::vector<Row>(bidders, independent_row(laws)));
    }
    std::vector<Row> rows{row(items)};
    while (take('/')) rows.push_back(row(items));
    if (!at_end()) fail("'/' and the next bidder's laws, or the end");
    if (rows.size() == 1) rows.assign(bidders, rows[0]);
    if (static_cast<int>(rows.size()) != bidders) {
      throw user_error("setting \"{}\": expected the laws of 1 or {} bidders, found {}", shown_,
                       bidders, rows.size());
    }
    return make_setting(std::string(text_), items, std::move(rows));
  }

 private:
  Row row(int items) {
    skip_spaces();
    if (take_word("triangle(")) {
      const double side = number("the triangle's side");
      close();
      if (items != 2) throw user_error("setting \"{}\": triangle is a law of 2 items", shown_);
      return in_context([&] { return triangle_row(side); });
    }
    double rho = 0.0;
    const bool correlated = take_word("copula(");
    if (correlated) {
      rho = number("a correlation");
      close();
      skip_spaces();
    }
    std::vector<Law> laws;
    while (!at_end() && text_[position_] != '/') {
      laws.push_back(law());
      skip_spaces();
    }
    if (laws.size() == 1) laws.assign(items, laws[0]);
    if (static_cast<int>(laws.size()) != items) {
      throw user_error("setting \"{}\": expected the laws of 1 or {} items, found {}", shown_,
                       items, laws.size());
    }
    return in_context([&] { return correlated ? copula_row(rho, laws) : independent_row(laws); });
  }

  Law law() {
    skip_spaces();
    const size_t begin = position_;
    while (!at_end() &&
           (std::isalpha(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_'))
      ++position_;
    const std::string word(text_.substr(begin, position_ - begin));
    static const std::vector<std::string> words{"uniform",  "exponential", "power",
                                                "normal",   "beta",        "discrete",
                                                "drifting", "mix",         "lognormal"};
    if (word.empty()) fail("a law such as uniform(0,1)");
    if (std::find(words.begin(), words.end(), word) == words.end()) {
      std::vector<std::string> known = words;
      known.insert(known.end(), {"triangle", "copula"});
      if (word == "triangle" || word == "copula") {
        throw user_error("setting \"{}\": {} stands first among a bidder's laws, as in \"1x2 {}\"",
                         shown_, word,
                         word == "copula" ? "copula(0.5) uniform(0,1)" : "triangle(1)");
      }
      throw user_error("setting \"{}\": unknown law '{}'{}; known: {}", shown_, word,
                       suggestion(word, known), fmt::join(known, ", "));
    }
    if (!take('(')) fail("'(' after '" + word + "'");
    if (word == "discrete") return discrete_law();
    if (word == "mix") return mixed_law();
    const std::vector<double> p = numbers(word);
    const auto takes = [&](std::initializer_list<size_t> sizes, const char* form) {
      if (std::find(sizes.begin(), sizes.end(), p.size()) == sizes.end()) {
        throw user_error("setting \"{}\": expected {}, found {} numbers", shown_, form, p.size());
      }
    };
    return in_context([&] {
      if (word == "uniform") return takes({2}, "uniform(low,high)"), uniform(p[0], p[1]);
      if (word == "exponential") return takes({1}, "exponential(mean)"), exponential(p[0]);
      if (word == "power") return takes({1}, "power(c)"), power(p[0]);
      if (word == "lognormal") {
        return takes({2}, "lognormal(mean,sigma)"), lognormal(p[0], p[1]);
      }
      if (word == "drifting") return takes({1}, "drifting(time)"), drifting(p[0]);
      if (word == "normal") {
        takes({4}, "normal(mean,deviation,low,high)");
        return truncated_normal(p[0], p[1], p[2], p[3]);
      }
      takes({2, 4}, "beta(a,b) or beta(a,b,low,high)");
      return p.size() == 2 ? beta(p[0], p[1]) : beta(p[0], p[1], p[2], p[3]);
    });
  }

  Law discrete_law() {  // value:probability,...
    std::vector<Atom> atoms;
    do {
      const double value = number("a value");
      if (!take(':')) fail("':' and the value's probability");
      atoms.push_back({value, number("a probability")});
    } while (take(','));
    close();
    return in_context([&] { return discrete(atoms); });
  }

  Law mixed_law() {  // weight law, weight law, ...
    if (++depth_ > kDeepestMix) {
      throw user_error("setting \"{}\": expected at most {} mixtures within each other", shown_,
                       kDeepestMix);
    }
    std::vector<std::pair<double, Law>> parts;
    do {
      const double weight = number("a weight");
      parts.emplace_back(weight, law());
    } while (take(','));
    close();
    --depth_;
    return in_context([&] { return mixture(parts); });
  }

  // What a factory rejects is told with the whole text of the setting.
  template <typename Make>
  auto in_context(Make make) -> decltype(make()) {
    try {
      return make();
    } catch (const UserError& error) {
      const std::string what = error.what();
      if (what.starts_with("setting ")) throw;
      throw user_error("setting \"{}\": {}", shown_, what);
    }
  }
  std::vector<double> numbers(const std::string& word) {
    std::vector<double> result;
    do result.push_back(number("a number in " + word + "(...)"));
    while (take(','));
    close();
    return result;
  }

  double number(const std::string& what) {
    skip_spaces();
    double value = 0.0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) fail(what);
    position_ = end - text_.data();
    return value;
  }

  int count(const std::string& what) {
    skip_spaces();
    int value = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 1 || value > kLargestSide) {
      fail(fmt::format("the number of {}, 1 to {}", what, kLargestSide));
    }
    position_ = end - text_.data();
    return value;
  }

  bool take(char symbol) {
    skip_spaces();
    if (at_end() || text_[position_] != symbol) return false;
    ++position_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(position_).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }
  void close() {
    if (!take(')')) fail("',' or ')'");
  }
  void skip_spaces() {
    while (!at_end() && std::isspace(static_cast<unsigned char>(text_[position_]))) ++position_;
  }
  bool at_end() const { return position_ >= text_.size(); }

  [[noreturn]] void fail(const std::string& expected) {
    skip_spaces();
    const std::string found =
        at_end() ? "the end" : "'" + printable(text_.substr(position_, 12), 12) + "'";
    throw user_error("setting \"{}\": expected {} at character {}, found {}", shown_, expected,
                     position_ + 1, found);
  }

  std::string_view text_;
  std::string shown_;  // in messages
  size_t position_ = 0;
  int depth_ = 0;  // of mixtures
};

std::string_view without_spaces(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// What follows on the first ';', each once.
Limits limits_of(std::string_view text, int bidders) {
  const std::string where = fmt::format("setting \"{}\"", printable(text, 200));
  std::string_view rest = text, demand, budgets;
  while (rest.find(';') != std::string_view::npos) {
    rest.remove_prefix(rest.find(';') + 1);
    const std::string_view part = trimmed(rest.substr(0, rest.find(';')));
    const size_t space = std::min(part.find(' '), part.size());
    const std::string_view word = part.substr(0, space);
    if (word == "demand" && demand.empty()) {
      demand = trimmed(part.substr(space));
    } else if (word == "budget" && budgets.empty()) {
      budgets = trimmed(part.substr(space));
    } else {
      throw user_error("{}: expected 'demand unit' or 'budget B' after ';', found '{}'", where,
                       printable(part, 40));
    }
  }
  return limits_from(where, demand.empty() ? "additive" : demand, budgets, bidders);
}

}  // namespace

Setting setting(std::string_view text) {
  const std::string_view values = without_spaces(text.substr(0, text.find(';')));
  if (values.empty()) throw user_error("setting \"\": expected NxM LAW or a name, found nothing");
  const auto expanded = expand_name(values);
  auto laws = std::make_shared<SettingLaws>(
      laws_of(Parser(expanded ? std::string_view(*expanded) : values).parse()));
  laws->text = std::string(values);
  laws->limits = limits_of(text, laws->bidders);
  laws->text += limits_text(laws->limits);
  return setting_of(std::move(laws));
}

}  // namespace agora::auctions
