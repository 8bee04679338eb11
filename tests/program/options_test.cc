#include "program/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "program/command_line.h"
#include "program/configuration_file.h"
#include "program/configuration_json.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Options, EveryRowIsWhole) {
  std::set<std::string_view> names;
  for (const Option& option : all_options()) {
    SCOPED_TRACE(option.name);
    EXPECT_TRUE(names.insert(option.name).second);
    EXPECT_EQ(find_option(option.key()), &option);
    EXPECT_NE(option.commands, 0U);
    EXPECT_EQ(option.needed_by & ~option.commands, 0U);
    EXPECT_EQ(option.value_name.empty(), option.value.form == OptionValue::Form::on_off);
    for (const std::string_view text : {option.help, option.more}) {
      EXPECT_FALSE(text.ends_with('.')) << text;
      EXPECT_EQ(text.find('\n'), std::string_view::npos);
    }
  }
  EXPECT_EQ(find_option("drain-deadline"), nullptr);  // a flag's name, and no key
}

// What is shown of an option is a text that sets it.
TEST(Options, ExamplesAreTakenAndShown) {
  for (const Option& option : all_options()) {
    if (option.example.empty()) continue;
    SCOPED_TRACE(option.name);
    Configuration once;
    const std::string line = option.key() + ": ";
    const auto read = overlay_yaml(once, line + std::string(option.example), "f");
    ASSERT_TRUE(read) << read.error().message;
    Configuration again;
    ASSERT_TRUE(overlay_yaml(again, line + option.value.show(once).dump(), "f"));
    EXPECT_EQ(option.value.show(again), option.value.show(once));
  }
}

TEST(Options, DefaultsAreOfTheCommand) {
  EXPECT_EQ(default_text(*find_option("listen"), Command::up), "127.0.0.1:8080");
  EXPECT_EQ(default_text(*find_option("listen"), Command::cache), "");
  EXPECT_EQ(default_text(*find_option("trust"), Command::up), "127.0.0.0/8,::1/128");
  EXPECT_EQ(default_text(*find_option("trust"), Command::sidecar), "");
  EXPECT_EQ(default_text(*find_option("replicas"), Command::up), "10");
  EXPECT_EQ(default_text(*find_option("geo_optional"), Command::up), "false");
  EXPECT_EQ(default_text(*find_option("threads"), Command::cache), "the container's cores");
}

TEST(Options, HelpTellsTheCommandsDefault) {
  const auto help = [](const char* command) {
    const std::vector<const char*> words{"ringside", command, "--help"};
    return parse_command_line(static_cast<int>(words.size()), words.data()).value().help;
  };
  EXPECT_THAT(help("up"), HasSubstr("(default 127.0.0.1:8080)"));
  EXPECT_THAT(help("cache"), Not(HasSubstr("127.0.0.1:8080")));
  EXPECT_THAT(help("cache"), HasSubstr("(default 256MiB)"));
}

TEST(Options, TheTableIsTold) {
  const auto page = nlohmann::json::parse(options_json());
  EXPECT_EQ(page["options"].size(), all_options().size());
  const auto& listen = page["options"][0];
  EXPECT_EQ(listen["flag"], "listen");
  EXPECT_EQ(listen["restart"], true);
  EXPECT_EQ(listen["needed_by"], nlohmann::json::array({"sidecar", "cache"}));
  EXPECT_EQ(listen["defaults"]["up"], "127.0.0.1:8080");
  EXPECT_GT(page["cache_rules"].size(), 10U);
}

}  // namespace
}  // namespace ringside::program
