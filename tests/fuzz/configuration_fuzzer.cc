// The first byte chooses the command; then a configuration file. Nothing but memory is touched.
#include "program/configuration.h"
#include "program/configuration_file.h"
#include "program/configuration_json.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using program::Command;
using program::Configuration;

Command command_of(std::string_view choice) {
  if (choice == "s") return Command::sidecar;
  if (choice == "c") return Command::cache;
  return choice == "h" ? Command::shard : Command::up;
}

void check_refusal(const Error& error) {
  RINGSIDE_CHECK(error.kind == ErrorKind::invalid_input);
  check_message(error);
}

}  // namespace

void examine(std::string_view input) {
  const Command command = command_of(take(input, 1));
  Configuration configuration = program::defaults(command);
  if (const auto read = program::overlay_yaml(configuration, input, "f"); !read) {
    check_refusal(read.error());
    RINGSIDE_CHECK(read.error().message.starts_with("f:"));
    return;
  }
  if (const auto checked = program::check(command, configuration); !checked) {
    check_refusal(checked.error());
    return;
  }
  // What GET /config says is a file of the same configuration.
  const std::string page = program::to_json(command, configuration);
  Configuration again = program::defaults(command);
  RINGSIDE_CHECK(program::overlay_yaml(again, page, "page"));
  RINGSIDE_CHECK(program::check(command, again));
  RINGSIDE_CHECK(program::to_json(command, again) == page);
}

}  // namespace ringside::fuzz
