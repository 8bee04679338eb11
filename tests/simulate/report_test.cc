#include "simulate/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringside::simulate {
namespace {

using testing::HasSubstr;
using testing::Not;

Report report_of_two() {
  Figures first;
  first.keys = {1.5, 0.5, 0.25};
  first.weight = {2, 0, 1};
  Figures second = first;
  second.movement = Movement{25, 12.5, 1, 9.0909, 1'234'567, 448'933.5};
  second.empty = 1;
  const Cost cost{4096, 1.25, 0.5};
  return {"some <keys>",
          4'938'268,
          {"10", "11"},
          {{"ring", 0, {}, "", first, cost},
           {"ring", 1, 0, "", second, cost},
           {"jump", 0, {}, "not \"so\", <b>", {}, {}}}};
}

TEST(SimulationReport, TableIsAlignedAndTellsRefusals) {
  const std::string table = to_table(report_of_two());
  EXPECT_THAT(table, HasSubstr("some <keys>\n\nSCHEME  STEP          MOVED  MOVED %"));
  EXPECT_THAT(table, HasSubstr("ring    10                -        -"));
  EXPECT_THAT(table, HasSubstr("ring    10 -> 11  1,234,567    25.00     9.09    1.00  12.50"));
  EXPECT_THAT(table, HasSubstr("\njump    10        refused: not \"so\", <b>\n"));
}

TEST(SimulationReport, JsonHasEachFigureOrNull) {
  const auto json = nlohmann::json::parse(to_json(report_of_two()));
  EXPECT_EQ(json["keys"], 4'938'268);
  EXPECT_EQ(json["steps"], (std::vector<std::string>{"10", "11"}));
  const auto& rows = json["rows"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0]["moved_keys"].is_null());
  EXPECT_TRUE(rows[0]["before"].is_null());
  EXPECT_EQ(rows[1]["before"], "10");
  EXPECT_EQ(rows[1]["moved_keys"], 1'234'567);
  EXPECT_EQ(rows[1]["hit_rate_dip_points"], 12.5);
  EXPECT_EQ(rows[1]["keys_peak"], 1.5);
  EXPECT_EQ(rows[1]["empty_replicas"], 1);
  EXPECT_EQ(rows[1]["memory_bytes"], 4096);
  EXPECT_EQ(rows[2]["refused"], "not \"so\", <b>");
  EXPECT_TRUE(rows[2]["keys_peak"].is_null());
  EXPECT_TRUE(rows[2]["look_up_ns"].is_null());
}

TEST(SimulationReport, CsvQuotesWhatNeedsIt) {
  const std::string csv = to_csv(report_of_two());
  EXPECT_THAT(csv, testing::StartsWith("scheme,step,before,after,refused,moved_keys,"));
  EXPECT_THAT(csv, HasSubstr("\r\nring,0,,10,,,,"));
  EXPECT_THAT(csv, HasSubstr("\r\nring,1,10,11,,1234567,448933.5,25.0,"));
  EXPECT_THAT(csv, HasSubstr("\r\njump,0,,10,\"not \"\"so\"\", <b>\",,"));
}

TEST(SimulationReport, PageHoldsTheLibraryAndEscapesTexts) {
  const std::string page = to_page(report_of_two(), {"library({{}})", "a <licence>"});
  EXPECT_THAT(page, HasSubstr("<script>library({{}})</script>"));
  EXPECT_THAT(page, HasSubstr("a &lt;licence&gt;"));
  EXPECT_THAT(page, HasSubstr("some &lt;keys&gt;"));
  EXPECT_THAT(page, HasSubstr("refused: not &quot;so&quot;, &lt;b&gt;"));
  EXPECT_THAT(page, HasSubstr("some \\u003ckeys>"));
  EXPECT_THAT(page, Not(HasSubstr("{{report}}")));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace ringside::simulate
