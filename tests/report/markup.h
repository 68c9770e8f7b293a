#pragma once
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agora::report {

// "" for well-formed markup (XML's rules, script and style as raw text, one document element),
// otherwise the first fault.
inline std::string markup_fault(std::string_view text) {
  std::vector<std::string> open;
  std::set<std::string> ids;
  size_t roots = 0;
  const auto near = [&](size_t at) { return std::string(text.substr(at, 60)); };
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '&') {
      static const std::set<std::string> kKnown{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      const size_t end = text.find(';', at);
      const std::string name(text.substr(at, end == std::string_view::npos ? 0 : end - at + 1));
      if (!kKnown.contains(name)) return "unknown entity: " + near(at);
      at += name.size();
      continue;
    }
    if (text[at] == '>') return "stray '>': " + near(at);
    if (text[at] != '<') {
      if (open.empty() && !space(text[at])) return "text outside: " + near(at);
      ++at;
      continue;
    }
    if (text.substr(at).starts_with("<!DOCTYPE html>")) {
      at += 15;
      continue;
    }
    if (text.substr(at).starts_with("</")) {
      const size_t end = text.find('>', at);
      if (end == std::string_view::npos) return "unfinished tag";
      const std::string name(text.substr(at + 2, end - at - 2));
      if (open.empty() || open.back() != name) return "unmatched: " + near(at);
      open.pop_back();
      at = end + 1;
      continue;
    }
    size_t i = at + 1;
    const auto take_name = [&] {
      const size_t start = i;
      while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) ||
                                 text[i] == '-' || text[i] == ':' || text[i] == '_'))
        ++i;
      return std::string(text.substr(start, i - start));
    };
    const std::string name = take_name();
    if (name.empty()) return "stray '<': " + near(at);
    std::set<std::string> attributes;
    bool closed = false;
    for (;;) {
      while (i < text.size() && space(text[i])) ++i;
      if (i >= text.size()) return "unfinished tag: " + near(at);
      if (text[i] == '>') {
        ++i;
        break;
      }
      if (text.substr(i).starts_with("/>")) {
        closed = true;
        i += 2;
        break;
      }
      const std::string attribute = take_name();
      if (attribute.empty() || !text.substr(i).starts_with("=\""))
        return "bad attribute: " + near(at);
      const size_t end = text.find('"', i + 2);
      if (end == std::string_view::npos) return "unfinished attribute: " + near(at);
      const std::string value(text.substr(i + 2, end - i - 2));
      if (value.find('<') != std::string::npos) return "'<' in attribute: " + near(at);
      if (!attributes.insert(attribute).second) return "repeated attribute: " + near(at);
      if (attribute == "id" && !ids.insert(value).second) return "repeated id: " + value;
      i = end + 1;
    }
    if (open.empty() && ++roots > 1) return "second document element: " + near(at);
    if (!closed && (name == "script" || name == "style")) {
      const size_t end = text.find("</" + name + ">", i);
      if (end == std::string_view::npos) return "unfinished " + name;
      i = end + name.size() + 3;
    } else if (!closed) {
      open.push_back(name);
    }
    at = i;
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : "empty";
}

inline size_t count_of(std::string_view text, std::string_view what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size())
    ++count;
  return count;
}

}  // namespace agora::report
