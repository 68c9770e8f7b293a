#pragma once
#include <agora/error.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agora {

// throw user_error("{}:{}: expected a number, found '{}'", file, line, cell);
template <typename... Args>
UserError user_error(fmt::format_string<Args...> format, Args&&... args) {
  return UserError(fmt::format(format, std::forward<Args>(args)...));
}

[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const std::string& message);

// " (did you mean 'X'?)" for the candidate nearest to `name`, or "" if none is near.
std::string suggestion(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace agora

// CHECK(n > 0, "n is {}", n): a violated invariant of ours, never the user's mistake.
#define CHECK(condition, ...)                                                               \
  do {                                                                                      \
    if (!(condition)) [[unlikely]]                                                          \
      ::agora::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

#if defined(_GLIBCXX_ASSERTIONS) || !defined(NDEBUG)
#define DCHECK(...) CHECK(__VA_ARGS__)
#else
#define DCHECK(...) \
  do {              \
  } while (false)
#endif
