// Tables of numbers, of past values and of bids.
#include "auctions/run_bids.h"
#include "auctions/setting.h"
#include "base/csv.h"
#include "fuzz/target.h"

namespace agora::fuzz {
namespace {

void read_numbers(const std::filesystem::path& file) {
  const CsvNumbers numbers = read_csv_numbers(file);
  CHECK(numbers.rows() * numbers.columns.size() == numbers.values.size(), "a part of a row");
}

void read_values(const std::filesystem::path& file) {
  const auctions::Setting setting = auctions::setting_from_values(file);
  std::vector<double> profile(static_cast<size_t>(setting.bidders()) * setting.items());
  setting.sample(0, auctions::kAuditStream, 0, 1, profile.data());
}

void read_bids(const std::filesystem::path& file) {
  static const auto mechanism = auctions::exact("vcg", auctions::setting("2x2"));
  const auctions::BidSource source = auctions::bids_from_file(file, *mechanism);
  for (auctions::BidProfile profile; source.next(profile);) {
    auctions::run(*mechanism, profile.bids);
  }
}

}  // namespace

const bool known = add("table", [](std::string_view input) {
  const std::filesystem::path file = as_file("input.csv", input);
  const bool numbers = accepts([](std::string_view name) { read_numbers(name); }, file.native());
  const bool values = accepts([](std::string_view name) { read_values(name); }, file.native());
  const bool bids = accepts([](std::string_view name) { read_bids(name); }, file.native());
  if (!numbers && !values && !bids) throw user_error("no table of ours");
});

}  // namespace agora::fuzz
