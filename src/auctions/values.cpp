// A setting from a table of past values.
#include <filesystem>

#include "auctions/profiles.h"
#include "auctions/setting.h"
#include "base/error.h"

namespace agora::auctions {
namespace {

constexpr int64_t kHeldOutEvery = 10;

}  // namespace

Setting setting_from_values(const std::string& file) {
  ProfileReader reader(file);
  ValueTable table{
      .bidders = reader.bidders(), .items = reader.items(), .design = {}, .held_out = {}};
  std::vector<double> profile;
  for (int64_t k = 0; reader.next(profile); ++k) {
    auto& part = k % kHeldOutEvery == kHeldOutEvery - 1 ? table.held_out : table.design;
    part.insert(part.end(), profile.begin(), profile.end());
  }
  if (table.design.empty()) throw user_error("{}: expected at least one profile, found none", file);
  if (table.held_out.empty()) table.held_out = table.design;  // fewer than ten: told by the caller
  return make_setting(std::filesystem::path(file).filename().string(), std::move(table));
}

}  // namespace agora::auctions
