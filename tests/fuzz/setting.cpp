// Settings of auctions, "2x2 uniform(0,1)".
#include "auctions/setting.h"

#include "base/error.h"
#include "fuzz/target.h"

namespace agora::fuzz {

const bool known = add("setting", [](std::string_view input) {
  const auctions::Setting setting = auctions::setting(input);
  if (setting.bidders() * setting.items() > 100) return;
  std::vector<double> profile(static_cast<size_t>(setting.bidders() * setting.items()));
  setting.sample(0, auctions::kAuditStream, 0, 1, profile.data());
  size_t at = 0;
  for (int i = 0; i < setting.bidders(); ++i) {
    for (int j = 0; j < setting.items(); ++j, ++at) {
      const auto [low, high] = setting.domain(i, j);
      CHECK(profile[at] >= low && profile[at] <= high, "{} is not in [{}, {}]", profile[at], low,
            high);
    }
  }
  // What it is called is the setting itself.
  CHECK(auctions::setting(setting.text()).text() == setting.text(), "'{}'", setting.text());
});

}  // namespace agora::fuzz
