#include "program/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::program {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Verb = CommandLine::Verb;

Result<CommandLine> parse(std::vector<const char*> words) {
  words.insert(words.begin(), "ringside");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

std::map<std::string, std::string> flags_of(const CommandLine& line) {
  std::map<std::string, std::string> out;
  for (const auto& [option, text] : line.invocation.flags) out.emplace(option->name, text);
  return out;
}

TEST(CommandLine, FlagsOfConfiguredCommands) {
  const auto line = parse({"sidecar", "--config", "f.yaml", "--listen=h:1", "--replicas",
                           "a=h:1;weight=2,b=h:2", "--geo-optional", "--validate"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->verb, Verb::sidecar);
  EXPECT_EQ(line->invocation.command, Command::sidecar);
  EXPECT_EQ(line->invocation.config_file, "f.yaml");
  EXPECT_TRUE(line->invocation.validate);
  const auto flags = flags_of(*line);
  EXPECT_EQ(flags.size(), 3U);
  EXPECT_EQ(flags.at("listen"), "h:1");
  EXPECT_EQ(flags.at("replicas"), "a=h:1;weight=2,b=h:2");
  EXPECT_EQ(flags.at("geo-optional"), "true");
}

TEST(CommandLine, ASwitchCanBeTakenBack) {
  const auto line = parse({"up", "--geo-optional=false"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(flags_of(*line).at("geo-optional"), "false");
}

TEST(CommandLine, Others) {
  const auto scale = parse({"scale", "11", "--admin", "h:9"});
  ASSERT_TRUE(scale) << scale.error().message;
  EXPECT_EQ(scale->scale.replicas, 11U);
  EXPECT_EQ(scale->scale.admin.text(), "h:9");

  const auto shard = parse({"shard", "--ip", "::1", "--header", "A: b", "--header", "C:d", "/x",
                            "http://h/y", "--json", "--shard-key", "path"});
  ASSERT_TRUE(shard) << shard.error().message;
  EXPECT_EQ(shard->shard.client.text(), "::1");
  EXPECT_EQ(shard->shard.headers.size(), 2U);
  EXPECT_EQ(shard->shard.headers[1], (std::pair<std::string, std::string>("C", "d")));
  EXPECT_EQ(shard->shard.urls, (std::vector<std::string>{"/x", "http://h/y"}));
  EXPECT_TRUE(shard->shard.json);

  const auto replay = parse({"replay", "-", "--to", "h:1", "--admin", "h:2", "--scale", "11",
                             "--concurrency", "4", "--forwarded"});
  ASSERT_TRUE(replay) << replay.error().message;
  EXPECT_EQ(replay->replay.log, "-");
  EXPECT_EQ(replay->replay.to.text(), "h:1");
  EXPECT_EQ(replay->replay.scale->replicas, 11U);
  EXPECT_EQ(replay->replay.concurrency, 4U);
  EXPECT_EQ(replay->replay.client_field, replay::ClientField::forwarded);

  EXPECT_FALSE(parse({"scale", "--watch"})->scale.replicas);

  EXPECT_EQ(parse({"options"})->verb, Verb::options);
  EXPECT_EQ(parse({"version"})->verb, Verb::version);
  EXPECT_EQ(parse({"--version"})->verb, Verb::version);
  EXPECT_THAT(parse({"--help"})->help, HasSubstr("sidecar"));
  EXPECT_EQ(parse({})->help, parse({"--help"})->help);
  EXPECT_THAT(parse({"up", "--help"})->help, HasSubstr("--replicas"));
  EXPECT_THAT(parse({"cache", "--help"})->help, HasSubstr("--peers"));
}

TEST(CommandLine, APlanAndADryRunOfScale) {
  const auto dry =
      parse({"scale", "11", "--admin", "h:9", "--dry-run", "--at-most", "5%", "--json"});
  ASSERT_TRUE(dry) << dry.error().message;
  EXPECT_TRUE(dry->scale.dry_run);
  EXPECT_EQ(dry->plan.to, "11");
  EXPECT_EQ(dry->plan.admins.at(0).text(), "h:9");
  EXPECT_DOUBLE_EQ(dry->plan.share_most.value(), 0.05);
  EXPECT_TRUE(dry->plan.json);

  const auto plan = parse({"plan", "--to", "a,b;weight=2", "--scheme", "vbucket", "--admin",
                           "h:1,h:2", "--move-rate", "5", "--at-most", "10%", "--json"});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->verb, Verb::plan);
  EXPECT_EQ(plan->plan.to, "a,b;weight=2");
  EXPECT_EQ(plan->plan.scheme, "vbucket");
  ASSERT_EQ(plan->plan.admins.size(), 2U);
  EXPECT_EQ(plan->plan.admins[1].text(), "h:2");
  EXPECT_EQ(plan->plan.move_rate_mib_s, 5U);
  EXPECT_DOUBLE_EQ(plan->plan.share_most.value(), 0.1);
  EXPECT_TRUE(plan->plan.json);
}

TEST(CommandLine, WrongUseIsOneLineThatNamesTheCommand) {
  struct Case {
    std::vector<const char*> words;
    std::string start;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"frobnicate"}, "ringside: \"frobnicate\" is no command; see ringside --help", ""},
      {{"upp"}, "ringside: \"upp\" is no command; did you mean up?", ""},
      {{"scael", "3"}, "ringside: \"scael\" is no command; did you mean scale?", ""},
      {{"up", "--kubernetes", "x"},
       "ringside up: `up` has no option --kubernetes (it is of sidecar and cache); see ringside "
       "up --help",
       ""},
      {{"sidecar", "--memory=1GiB"},
       "ringside sidecar: `sidecar` has no option --memory (it is of up and cache)",
       ""},
      {{"up", "--thread", "2"}, "ringside up: no option --thread; did you mean --threads?", ""},
      {{"up", "--fast"}, "ringside up: no option \"--fast\"; see", ""},
      {{"replay", "--to", "h:1", "--requsts", "2"}, "ringside replay: no option", "--requests?"},
      {{"replay", "a.log", "--to", "h:1", "--requests", "2"}, "ringside replay: ", "--requests"},
      {{"replay", "--to", "h:1", "--requests", "50000000"}, "ringside replay: ", "to 5000000"},
      {{"up", "--listen", "h:1", "--listen", "h:2"},
       "ringside up: --listen is given twice; give it once",
       ""},
      {{"up", "--via-name"}, "ringside up: --via-name needs a value: NAME; see", ""},
      {{"up", "extra"}, "ringside up: \"extra\" is one word too many", ""},
      {{"cache", "--replicas", "3"}, "ringside cache: ", "--replicas"},
      {{"up", "--replicas", "1", "--replicas", "2"}, "ringside up: ", "--replicas"},
      {{"up", "--listen"}, "ringside up: ", "--listen"},
      {{"up", "--geo-optional=maybe"},
       "ringside up: --geo-optional does not take \"maybe\"; give true or false",
       ""},
      {{"replay", "--to", "h:1", "--rate", "-1"},
       "ringside replay: --rate does not take \"-1\"; give N; see ringside replay --help",
       ""},
      {{"scale"}, "ringside scale: ", "N"},
      {{"scale", "0"}, "ringside scale: N: ", "from 1 to"},
      {{"scale", "-1"}, "ringside scale: ", ""},
      {{"scale", "3", "--admin", "x"}, "ringside scale: --admin: ", "x"},
      {{"shard"}, "ringside shard: ", "URL"},
      {{"shard", "--ip", "x", "/"}, "ringside shard: --ip: ", "x"},
      {{"shard", "--header", "x", "/"}, "ringside shard: --header: ", "Name: value"},
      {{"replay"}, "ringside replay: ", "--to"},
      {{"replay", "--to", "h:1", "--scale", "3"}, "ringside replay: --scale: ", "--admin"},
      {{"replay", "--to", "h:1", "--concurrency", "0"}, "ringside replay: ", "concurrency"},
  };
  for (const Case& one : cases) {
    const auto line = parse(one.words);
    ASSERT_FALSE(line) << one.start << one.message;
    EXPECT_THAT(line.error().message, StartsWith(one.start));
    EXPECT_THAT(line.error().message, HasSubstr(one.message));
    EXPECT_EQ(line.error().message.find('\n'), std::string::npos) << line.error().message;
  }
}

TEST(CommandLine, WrongUseOfPlanNamesTheOption) {
  struct Row {
    std::vector<const char*> words;
    std::string start;
    std::string remedy;
  };
  for (const Row& row : std::vector<Row>{
           {{"scale", "3", "--dry-run", "--watch"}, "ringside scale: ", "--dry-run"},
           {{"scale", "--dry-run"}, "ringside scale: N is missing", "--watch"},
           {{"scale", "3", "--at-most", "9%"}, "ringside scale: ", "--dry-run"},
           {{"scale", "3", "--dry-run", "--at-most", "9"}, "ringside scale: --at-most: ", "100%"},
           {{"plan"}, "ringside plan: ", "give --to, --scheme or both"},
           {{"plan", "--to", "3", "--from", "f", "--admin", "h:1"}, "ringside plan: ", "--from"},
           {{"plan", "--to", "3", "--at-most", "10"}, "ringside plan: --at-most: ", "0% to 100%"},
           {{"plan", "--to", "3", "--move-rate", "fast"}, "ringside plan: --move-rate: ", "fast"},
           {{"plan", "--to", "3", "--admin", "h:1,x"}, "ringside plan: --admin: ", "x"},
           {{"plan", "3"}, "ringside plan: ", ""},
       }) {
    const auto line = parse(row.words);
    ASSERT_FALSE(line) << row.remedy;
    EXPECT_THAT(line.error().message, StartsWith(row.start));
    EXPECT_THAT(line.error().message, HasSubstr(row.remedy));
  }
}

}  // namespace
}  // namespace ringside::program
