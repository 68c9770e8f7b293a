// The auction verbs as a user meets them: forms, files and mistakes.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "auctions/network.h"
#include "auctions/setting.h"
#include "base/json.h"
#include "base/safetensors.h"
#include "report/png.h"
#include "support/program.h"

namespace agora {
namespace {

using testing::put;
using testing::Result;

using testing::shell;

// What ALGnet gives up at first it needs thousands of iterations to come back from.
TEST(AuctionVerbs, CountAllRegretInAShortTraining) {
  const Scratch scratch;
  const auto weights = [&](const std::string& more) {
    const Result result = shell(
        "agora auction train algnet --setting 2x2 --iterations 4 --batch 16 --width 4 --profiles "
        "10 "
        "--regret-profiles 0 --seed 5 --out m.safetensors" +
            more,
        scratch.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return testing::contents(scratch / "m.safetensors");
  };
  EXPECT_EQ(weights(""), weights(" --regret-weight 1"));
  EXPECT_NE(weights(""), weights(" --regret-weight 0.1"));
}

TEST(AuctionVerbs, PrintTheFixedFormOfJson) {
  const Scratch scratch;
  for (const char* command :
       {"agora auction exact vcg --setting 2x2 --profiles 2000 --regret-profiles 5 --json",
        "agora auction audit vcg --setting 2x2 --profiles 500 --regret-profiles 5 --json",
        "agora auction eval vcg --setting 2x2 --profiles 500 --json"}) {
    const Result result = shell(command, scratch.path());
    ASSERT_EQ(result.status, 0) << result.err;
    const Json json = parse_json(result.out, "stdout");
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    EXPECT_EQ(keys, (std::vector<std::string>{"mechanism", "setting", "profiles", "revenue",
                                              "regret", "ir_violation", "p_star", "welfare",
                                              "sale_rate", "seconds"}));
    EXPECT_NEAR(json["revenue"]["mean"].get<double>(), 2.0 / 3.0, 0.1);
    EXPECT_EQ(json["regret"]["strong"].is_null(), std::string(command).find("eval") < 20);
  }
}

TEST(AuctionVerbs, DesignPrintsItsJsonFormAndKeepsTheBest) {
  const Scratch scratch;
  const Result result = shell(
      "agora auction design --setting 1x1 --minutes 0.02 --profiles 20000 --out best.json --json",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = parse_json(result.out, "stdout");
  for (const char* key : {"setting", "best", "kinds", "upper_bound"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  const Json& best = json["kinds"][0];
  for (const char* key : {"mechanism", "revenue", "truthful", "welfare", "sale_rate", "seconds"}) {
    EXPECT_TRUE(best.contains(key)) << key;
  }
  EXPECT_EQ(json["best"], best["mechanism"]);
  EXPECT_NEAR(best["revenue"]["mean"].get<double>(), 0.25, 0.01);
  EXPECT_NEAR(json["upper_bound"].get<double>(), 0.25, 0.01);  // one item: Myerson's
  EXPECT_EQ(parse_json_file((scratch / "best.json").string())["mechanism"], json["best"]);
  for (const char* wrong : {"--minutes 0", "--regret-at-most -1", "--out best.txt"}) {
    const Result refused =
        shell(std::string("agora auction design --setting 1x1 ") + wrong, scratch.path());
    EXPECT_EQ(refused.status, 2) << wrong;
  }
}

// Searching a mechanism for lies that cannot be there takes minutes in a large setting.
TEST(AuctionVerbs, SearchTruthfulMechanismsOnlyWhenAsked) {
  const Scratch scratch;
  const auto regret = [&](const std::string& words) {
    const Result result = shell("agora auction exact " + words + " --json", scratch.path());
    EXPECT_EQ(result.status, 0) << result.err;
    const Json json = parse_json(result.out, "stdout");
    EXPECT_EQ(json["regret"]["thesis"].is_null(), json["p_star"]["thesis"].is_null());
    return json["regret"]["strong"];
  };
  EXPECT_TRUE(regret("vcg --setting 50x50 --profiles 10").is_null());
  EXPECT_TRUE(regret("myerson --setting 2x1 --profiles 10").is_null());
  EXPECT_EQ(regret("myerson --setting 2x1 --profiles 10 --regret-profiles 3")["max"], 0.0);
  // Truthful on its types only.
  EXPECT_FALSE(regret("lp --setting 2x1 --points 4 --profiles 10").is_null());
  const Result text = shell("agora auction exact vcg --setting 2x2 --profiles 10", scratch.path());
  EXPECT_NE(text.out.find("0 by construction"), std::string::npos) << text.out;
}

// Four gigabytes of address space: a thousand bidders and items must do with less.
TEST(AuctionVerbs, TakeBoundedMemory) {
  const Scratch scratch;
  const auto limited = [&](const std::string& words) {
    return shell("ulimit -v 4000000; agora auction " + words + " --threads 2", scratch.path());
  };
  EXPECT_EQ(limited("exact vcg --setting 1000x1000 --profiles 3").status, 0);
  EXPECT_EQ(limited("eval second-price --setting 300x1000 --profiles 3").status, 0);
  for (const char* words : {"audit vcg --setting 1000x1000 --profiles 1",
                            "exact vcg --setting 1000x1000 --profiles 1 --regret-profiles 1",
                            "exact ama --setting 3x5 --design-profiles 100000000 --profiles 1",
                            "exact lp --setting 5x5", "exact lp --setting 1000x1000"}) {
    const Result result = limited(words);
    EXPECT_EQ(result.status, 2) << words << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  EXPECT_NE(limited("exact lp --setting 5x5").err.find("about 3e+42 type profiles"),
            std::string::npos);
}

TEST(AuctionVerbs, RunBothFormsAndDrawFairly) {
  const Scratch scratch;
  put(scratch / "wide.csv", "b1i1,b2i1\n0.9,0.4\n0.2,0.7\n");
  put(scratch / "long.csv",
      "profile,bidder,item,value\nx,1,1,0.9\nx,2,1,0.4\ny,1,1,0.2\ny,2,1,0.7\n");
  ASSERT_EQ(shell("agora auction exact second-price --setting 2x1 --reserve 0.5 --profiles 100 "
                  "--out m.safetensors",
                  scratch.path())
                .status,
            0);
  ASSERT_EQ(
      shell("agora auction run m.safetensors --bids wide.csv --out w.csv --wide", scratch.path())
          .status,
      0);
  EXPECT_EQ(testing::contents(scratch / "w.csv"),
            "profile,b1i1,b2i1,payment1,payment2\n1,1,0,0.5,0\n2,0,1,0,0.5\n");
  ASSERT_EQ(
      shell("agora auction run m.safetensors --bids long.csv --out l.csv --seed 3", scratch.path())
          .status,
      0);
  EXPECT_EQ(testing::contents(scratch / "l.csv"),
            "profile,bidder,item,probability,won\nx,1,1,1,1\nx,2,1,0,0\ny,1,1,0,0\ny,2,1,1,1\n");
  EXPECT_EQ(testing::contents(scratch / "l-payments.csv"),
            "profile,bidder,payment,charged\nx,1,0.5,0.5\nx,2,0,0\ny,1,0,0\ny,2,0.5,0.5\n");
}

// Labels and names of the bids are found again in the outcomes.
TEST(AuctionVerbs, OutcomesKeepLabelsAndNames) {
  const Scratch scratch;
  put(scratch / "wide.csv",
      "date,auction,b1i1,b2i1\n2024-05-01,\"a, b\",0.9,0.4\n2024-05-02,c,0.2,0.7\n");
  put(scratch / "long.csv",
      "day;bidder;item;value\nmonday;bob;house;0,4\nmonday;alice;house;0,9\n"
      "tuesday;alice;house;0,2\ntuesday;bob;house;0,7\n");
  put(scratch / "clash.csv", "payment1,b1i1,b2i1\n1,0.9,0.4\n");
  const auto run = [&](const std::string& bids) {
    return shell("agora auction run second-price --setting 2x1 --reserve 0.5 --bids " + bids,
                 scratch.path());
  };
  ASSERT_EQ(run("wide.csv --out w.csv").status, 0);
  EXPECT_EQ(testing::contents(scratch / "w-payments.csv"),
            "date,auction,bidder,payment\n2024-05-01,\"a, b\",1,0.5\n2024-05-01,\"a, b\",2,0\n"
            "2024-05-02,c,1,0\n2024-05-02,c,2,0.5\n");
  ASSERT_EQ(run("wide.csv --out w.csv --wide").status, 0);
  EXPECT_EQ(testing::contents(scratch / "w.csv"),
            "date,auction,b1i1,b2i1,payment1,payment2\n2024-05-01,\"a, b\",1,0,0.5,0\n"
            "2024-05-02,c,0,1,0,0.5\n");
  ASSERT_EQ(run("long.csv --out l.csv").status, 0);
  EXPECT_EQ(testing::contents(scratch / "l.csv"),
            "day,bidder,item,probability\nmonday,alice,house,1\nmonday,bob,house,0\n"
            "tuesday,alice,house,0\ntuesday,bob,house,1\n");
  ASSERT_EQ(run("long.csv --out l.csv --wide").status, 0);
  EXPECT_EQ(testing::contents(scratch / "l.csv"),
            "day,alice.house,bob.house,payment.alice,payment.bob\nmonday,1,0,0.5,0\n"
            "tuesday,0,1,0,0.5\n");
  const Result clash = run("clash.csv --out c.csv --wide");
  EXPECT_EQ(clash.status, 2);
  EXPECT_NE(clash.err.find("two columns 'payment1'"), std::string::npos) << clash.err;
}

// Equal bids share an item: the drawn owner pays twice the expected payment, the other nothing.
TEST(AuctionVerbs, WhoGetsNothingPaysNothing) {
  const Scratch scratch;
  std::string bids = "b1i1,b2i1\n";
  for (int k = 0; k < 400; ++k) bids += "0.5,0.5\n";
  put(scratch / "bids.csv", bids);
  ASSERT_EQ(shell("agora auction run second-price --setting 2x1 --bids bids.csv --out o.csv --wide "
                  "--seed 1",
                  scratch.path())
                .status,
            0);
  std::istringstream lines(testing::contents(scratch / "o.csv"));
  std::string line;
  std::getline(lines, line);
  int first = 0;
  while (std::getline(lines, line)) {
    const bool one = line.ends_with(",0.5,0.5,0.25,0.25,1,0,0.5,0");
    const bool two = line.ends_with(",0.5,0.5,0.25,0.25,0,1,0,0.5");
    EXPECT_TRUE(one || two) << line;
    first += one;
  }
  EXPECT_NEAR(first, 200, 60);
}

// Several batches, read, run and written at the same time.
TEST(AuctionVerbs, RunIsTheSameForAnyNumberOfThreads) {
  const Scratch scratch;
  for (const std::string threads : {"1", "3"}) {
    const std::string run = "agora auction run vcg --setting 2x2 --seed 4 --threads " + threads;
    const Result result = shell(run + " --draw 50000 --out " + threads + ".csv", scratch.path());
    ASSERT_EQ(result.status, 0) << result.err;
    ASSERT_EQ(shell(run + " --draw 50000 --wide --out w" + threads + ".csv", scratch.path()).status,
              0);
  }
  const std::string rows = testing::contents(scratch / "1.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 200'001);
  EXPECT_NE(rows.find("\n50000,2,2,"), std::string::npos);
  EXPECT_EQ(rows, testing::contents(scratch / "3.csv"));
  EXPECT_EQ(testing::contents(scratch / "1-payments.csv"),
            testing::contents(scratch / "3-payments.csv"));
  EXPECT_EQ(testing::contents(scratch / "w1.csv"), testing::contents(scratch / "w3.csv"));
}

TEST(AuctionVerbs, DrawWhatABidBuys) {
  const Scratch scratch;
  const Result result = shell(
      "agora auction exact sja --setting 1x2 --profiles 100 --regret-profiles 0 --report page.html "
      "--pictures pictures",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const std::string page = testing::contents(scratch / "page.html");
  for (const char* title : {"Probability of item 1", "Probability of item 2", "Payment"}) {
    EXPECT_NE(page.find(title), std::string::npos) << title;
  }
  for (const char* name : {"item-1", "item-2", "payment"}) {
    const std::string svg = testing::contents(scratch / "pictures" / (std::string(name) + ".svg"));
    const std::string png = testing::contents(scratch / "pictures" / (std::string(name) + ".png"));
    EXPECT_NE(svg.find("<svg"), std::string::npos) << name;
    EXPECT_EQ(png.substr(1, 3), "PNG") << name;
  }
}

// Each item is sold from half of its range on: item 1 along the rows, item 2 along the columns.
TEST(AuctionVerbs, DrawEachItemInItsOwnPicture) {
  const Scratch scratch;
  const Result result = shell(
      "agora auction exact itemwise-myerson --setting '1x2 uniform(0,1) uniform(0,4)' "
      "--profiles 100 --regret-profiles 0 --pictures pictures",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  constexpr int kCells = 80;
  for (const int item : {1, 2}) {
    report::HeatMap map{.rows = kCells, .columns = kCells, .low = 0.0, .high = 1.0};
    for (int row = 0; row < kCells; ++row) {
      for (int column = 0; column < kCells; ++column) {
        map.values.push_back((item == 1 ? column : row) >= kCells / 2);
      }
    }
    report::write_png(scratch / "expected.png", report::draw(map));
    EXPECT_EQ(testing::contents(scratch / "pictures" / fmt::format("item-{}.png", item)),
              testing::contents(scratch / "expected.png"))
        << item;
  }
}

// The audit behind a training is the one that the same seed gives afterwards.
TEST(AuctionVerbs, TrainAndAuditWithOneSeed) {
  const Scratch scratch;
  const auto revenue = [&](const std::string& command) {
    const Result result =
        shell("agora auction " + command + " --profiles 50 --json", scratch.path());
    EXPECT_EQ(result.status, 0) << result.err;
    return parse_json(result.out, "stdout").at("revenue").at("mean").get<double>();
  };
  const double trained = revenue(
      "train regretnet --setting 1x1 --iterations 2 --batch 16 --samples 0 --width 4 --hidden 1 "
      "--regret-profiles 1 --out net.safetensors --seed 5");
  EXPECT_EQ(revenue("eval net.safetensors --seed 5"), trained);
  EXPECT_NE(revenue("eval net.safetensors --seed 0"), trained);
}

TEST(AuctionVerbs, TellMistakesInOneLine) {
  const Scratch scratch;
  put(scratch / "empty.csv", "b1i1,b2i1\n");
  put(scratch / "nan.csv", "b1i1,b2i1\n0.1,nan\n");
  put(scratch / "negative.csv", "b1i1,b2i1\n0.1,-0.5\n");
  put(scratch / "three.csv", "b1i1,b2i1,b3i1\n0.1,0.2,0.3\n");
  put(scratch / "outside.csv", "b1i1,b2i1\n0.1,0.2\n0.3,1.5\n");
  put(scratch / "missing.csv", "profile,bidder,item,value\n1,1,1,1\n1,2,1,1\n2,2,1,1\n");
  put(scratch / "garbage.safetensors", "not a file of tensors");
  ASSERT_EQ(
      shell("agora auction exact vcg --setting 3x2 --profiles 10 --out m.json", scratch.path())
          .status,
      0);
  TensorFile plain;  // a RegretNet made elsewhere, one bidder and one item
  const auto layer = [&](const std::string& name, int64_t outputs) {
    const std::vector<double> zeros(static_cast<size_t>(outputs));
    plain.tensors.push_back(StoredTensor::of<double>(name + ".weight", {outputs, 1}, zeros));
    plain.tensors.push_back(StoredTensor::of<double>(name + ".bias", {outputs}, zeros));
  };
  layer("allocation.0", 1), layer("allocation.1", 4), layer("payment.0", 1), layer("payment.1", 1);
  write_safetensors((scratch / "plain.safetensors").string(), plain);
  const std::string run = "agora auction run second-price --setting 2x1 --out o.csv --bids ";
  const auto mentions = [&](const std::string& command, const std::string& part) {
    const Result result = shell(command, scratch.path());
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_NE(result.err.find(part), std::string::npos) << command << " -> " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  };
  mentions(run + "empty.csv", "empty.csv: expected at least one profile");
  mentions(run + "nan.csv", "nan.csv:2");
  mentions(run + "negative.csv", "at least 0");
  mentions(run + "three.csv", "3 for 1");
  mentions(run + "outside.csv", "outside.csv:3");
  mentions(run + "missing.csv", "no value of bidder 1");
  mentions(run + "nowhere.csv", "nowhere.csv");
  mentions("agora auction eval m.json --setting 2x2", "3x2");
  mentions("agora auction run m.json --setting 2x2 --draw 3 --out o.csv", "vcg is for 3x2");
  mentions("agora auction eval plain.safetensors", "does not say what it was made for");
  mentions("agora auction eval garbage.safetensors --setting 2x2", "garbage.safetensors");
  mentions("agora auction exact myerson --setting 2x2", "itemwise-myerson");
  mentions("agora auction exact sja --setting 2x2", "one bidder");
  mentions("agora auction exact ama --setting 5x10", "itemwise-myerson");
  mentions("agora auction exact mayerson --setting 2x1", "did you mean 'myerson'?");
  mentions("agora auction exact vcg --setting 2y2", "expected 'x'");
  mentions("agora auction exact vcg", "--setting");
  mentions("agora auction exact vcg --setting 2x2 --out vcg.txt", ".safetensors");
  mentions("agora auction reduce vcg --setting 2x2 --out menu.json", "one bidder");
  EXPECT_FALSE(std::filesystem::exists(scratch / "o.csv"));
}

TEST(AuctionVerbs, DesignOnATableAndJudgeOnItsHeldOutPart) {
  const Scratch scratch;
  std::string values = "b1i1,b2i1\n";
  for (int k = 0; k < 50; ++k) {
    values +=
        std::to_string((k * 37 % 50) / 50.0) + "," + std::to_string((k * 23 % 50) / 50.0) + "\n";
  }
  put(scratch / "values.csv", values);
  const Result result =
      shell("agora auction exact myerson --values values.csv --json", scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(parse_json(result.out, "stdout")["profiles"], 5);
  EXPECT_NE(result.err.find("only 5 profiles are held out"), std::string::npos);
}

// A RegretNet without weights sells a third of the item to each of two bidders at half its bid. The
// best lie is the lowest bid, 1: it gains (v - 1) / 6.
TEST(AuctionVerbs, PStarTakesTheRegretOfAllBidders) {
  using namespace auctions;
  const Scratch scratch;
  const Setting market = setting("2x1 uniform(1,2)");
  Parameters parameters = untrained(mechanism_kind("regretnet"), market, 1, 4, 0)->parameters();
  for (auto& [name, content] : parameters.tensors) {
    if (!name.starts_with("scale.")) content.values.assign(content.values.size(), 0.0);
  }
  save(*mechanism_kind("regretnet").make(parameters), (scratch / "flat.safetensors").string());
  double values[2], revenue = 0.0, regret = 0.0;
  const int profiles = 40;
  for (int k = 0; k < profiles; ++k) {
    market.sample(0, kEvaluationStream, k, 1, values);
    revenue += (values[0] + values[1]) / 6 / profiles;
    regret += (values[0] + values[1] - 2) / 6 / profiles;
  }
  const double expected = std::pow(std::sqrt(revenue) - std::sqrt(regret), 2);
  const std::string command =
      "agora auction audit flat.safetensors --profiles 40 --regret-profiles 40";
  const Result json = shell(command + " --json", scratch.path());
  ASSERT_EQ(json.status, 0) << json.err;
  const Json found = parse_json(json.out, "stdout");
  for (const char* test : {"thesis", "strong"}) {
    EXPECT_NEAR(found["regret"][test]["mean"].get<double>(), regret / 2, 1e-5) << test;
    EXPECT_NEAR(found["p_star"][test].get<double>(), expected, 1e-4) << test;
  }
  const Result text = shell(command + " --report page.html", scratch.path());
  const std::string page = testing::contents(scratch / "page.html");
  const auto expect_all = [&](const std::string& where, const std::string& pattern) {
    const std::regex star(pattern);
    int count = 0;
    for (std::sregex_iterator at(where.begin(), where.end(), star), end; at != end; ++at, ++count) {
      EXPECT_NEAR(std::stod((*at)[1]), expected, 1e-4) << at->str();
    }
    EXPECT_EQ(count, 2) << pattern;  // one for each test
  };
  expect_all(text.out, "P\\* ([0-9.]+)");
  expect_all(page, "P\\*, [^<]+</td><td[^>]*>([0-9.]+)");
}

TEST(AuctionVerbs, ReduceToATruthfulMenu) {
  const Scratch scratch;
  ASSERT_EQ(shell("agora auction reduce bundle --setting 1x2 --choices 500 --profiles 5000 "
                  "--out menu.safetensors",
                  scratch.path())
                .status,
            0);
  const Result result = shell(
      "agora auction audit menu.safetensors --profiles 20000 "
      "--regret-profiles 20 --json",
      scratch.path());
  ASSERT_EQ(result.status, 0) << result.err;
  const Json json = parse_json(result.out, "stdout");
  EXPECT_NEAR(json["revenue"]["mean"].get<double>(), 0.5443, 0.02);
  EXPECT_LE(json["regret"]["strong"]["max"].get<double>(), 1e-9);
}

}  // namespace
}  // namespace agora
