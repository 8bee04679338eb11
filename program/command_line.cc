#include "program/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"
#include "program/admin_pages.h"
#include "program/options.h"
#include "program/plan_flags.h"
#include "program/replay_flags.h"
#include "program/simulate_command_line.h"
#include "program/spelling.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using Verb = CommandLine::Verb;

constexpr const char* all_admins = "The admin pages of all processes of the tier";

// The texts that CLI11 found beside options; their meaning is read afterwards.
struct Texts {
  std::string ip;
  std::vector<std::string> headers;
  std::string replicas;
  AdminTexts admin;
  PlanTexts plan;
  ReplayTexts replay;
  LogTexts log;
  SimulateTexts simulate;
};

std::string help_of(const Option& option, Command command) {
  const std::string value = default_text(option, command);
  if (value.empty()) return std::string(option.help);
  const char* const colon = option.default_words.empty() ? "" : ":";
  return fmt::format("{} (default{} {})", option.help, colon, value);
}

// Their texts are taken by read_options.
void add_configured(CLI::App& app, Command command, Invocation& out) {
  app.add_option("--config", out.config_file, "YAML file with any of these options; flags win")
      ->type_name("FILE");
  for (const Option& option : all_options()) {
    if (!option.is_for(command)) continue;
    const std::string flag = fmt::format("--{}", option.name);
    const std::string help = help_of(option, command);
    if (option.value.form == OptionValue::Form::on_off) {
      app.add_flag(flag, help);
    } else {
      app.add_option(flag, help)->type_name(std::string(option.value_name));
    }
  }
  if (command == Command::shard) return;
  app.add_flag("--validate", out.validate, "Check the configuration and exit");
}

void add_shard(CLI::App& app, Texts& texts, ShardOptions& out) {
  app.add_option("--ip", texts.ip, "The client's address (default 127.0.0.1)")->type_name("IP");
  app.add_option("--header", texts.headers, "'Name: value' of the request; may be given again")
      ->type_name("HEADER")
      ->allow_extra_args(false);
  app.add_flag("--json", out.json, "JSON instead of a table");
  app.add_option("URL", out.urls, "http://HOST/PATH or /PATH; -: lines `[IP ]URL` from stdin")
      ->required();
}

void add_scale(CLI::App& app, Texts& texts, ScaleOptions& out, PlanOptions& plan) {
  app.add_option("N", texts.replicas, "How many replicas there are to be");
  app.add_option("--admin", texts.admin.addresses,
                 "Where `ringside up` has its admin pages (default 127.0.0.1:9090)")
      ->type_name("ADDRESS:PORT");
  CLI::Option* const watch = app.add_flag(
      "--watch", out.watch,
      "Follow what moves until it lies where it belongs; without N what moves already");
  CLI::Option* const dry_run = app.add_flag(
      "--dry-run", out.dry_run, "Change nothing: tell what would move, as plan --to N does");
  dry_run->excludes(watch);
  add_dry_run_flags(app, *dry_run, texts.plan, plan);
  add_admin_token_flag(app, texts.admin);
}

Result<void> read_shard(const Texts& texts, ShardOptions& out) {
  auto client = IpAddress::parse(texts.ip.empty() ? "127.0.0.1" : texts.ip);
  if (!client) return invalid_input("--ip: " + client.error().message);
  out.client = *client;
  for (const std::string& text : texts.headers) {
    auto header = parse_header(text);
    if (!header) return header.error();
    out.headers.push_back(*std::move(header));
  }
  return {};
}

Result<void> read_scale(const Texts& texts, ScaleOptions& out) {
  if (!texts.replicas.empty()) {
    const auto replicas = parse_number(texts.replicas, 1, limits::members);
    if (!replicas) return invalid_input("N: " + replicas.error().message);
    out.replicas = static_cast<std::size_t>(*replicas);
  } else if (!out.watch) {
    return invalid_input(
        "N is missing; give the number of replicas, or --watch alone; see ringside scale --help");
  }
  AdminPages pages;
  if (auto read = read_admin_flags(texts.admin, pages); !read) return read;
  if (pages.addresses.size() > 1) return invalid_input("--admin: `ringside up` has one");
  out.admin = pages.addresses.front();
  out.token = pages.token;
  return {};
}

// The options that were given, in the table's order; their meaning is read with the file's.
void read_options(const CLI::App& app, Command command, Invocation& out) {
  out.command = command;
  for (const Option& option : all_options()) {
    const CLI::Option* const found = app.get_option_no_throw(fmt::format("--{}", option.name));
    if (!found || found->count() == 0) continue;
    const bool on_off = option.value.form == OptionValue::Form::on_off;
    out.flags.emplace_back(&option, !on_off             ? found->as<std::string>()
                                    : found->as<bool>() ? "true"
                                                        : "false");
  }
}

bool takes_one_value(const CLI::Option& option) { return option.get_items_expected_max() == 1; }

// Which commands have such an option; empty: none.
std::string owners_of(std::string_view name) {
  std::string key(name);
  std::replace(key.begin(), key.end(), '-', '_');
  const Option* const option = find_option(key);
  std::string owners;
  for (const Command command : all_commands) {
    if (option == nullptr || !option->is_for(command)) continue;
    owners += fmt::format("{}{}", owners.empty() ? "" : " and ", program::name(command));
  }
  return owners;
}

// Of what no option or word of the command is.
std::string unknown_word(const CLI::App& app, std::string_view command, std::string_view word) {
  const std::string help = fmt::format("see ringside {} --help", command);
  if (!word.starts_with("--"))
    return fmt::format("{} is one word too many; {}", quotation(word), help);
  const std::string_view name = word.substr(2, word.find('=') - 2);
  if (const std::string owners = owners_of(name); !owners.empty()) {
    return fmt::format("`{}` has no option --{} (it is of {}); {}", command, name, owners, help);
  }
  std::vector<std::string> own;
  for (const CLI::Option* const option : app.get_options()) {
    own.insert(own.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  const std::vector<std::string_view> known(own.begin(), own.end());
  const std::string_view meant = closest(name, known);
  if (meant.empty()) return fmt::format("no option {}; {}", quotation(word), help);
  return fmt::format("no option --{}; did you mean --{}?", name, meant);
}

// What CLI11 is told to let pass, so that it is said in our words.
Result<void> check_words(const CLI::App& app, std::string_view command) {
  const auto unknown = app.remaining();
  if (!unknown.empty()) return invalid_input(unknown_word(app, command, unknown.front()));
  for (const CLI::Option* const option : app.get_options()) {
    if (!takes_one_value(*option) || option->count() < 2) continue;
    return invalid_input(fmt::format("{} is given twice; give it once", option->get_name()));
  }
  return {};
}

// `--name: 1 required NAME missing` and `Could not convert: --name = value`: the option's name, and
// what it takes.
std::string what_it_takes(const CLI::App& app, std::string_view message) {
  constexpr std::string_view conversion = "Could not convert: ";
  const bool converts = message.starts_with(conversion);
  if (converts) message.remove_prefix(conversion.size());
  const std::size_t end = std::min(message.find(converts ? " = " : ":"), message.size());
  const CLI::Option* const option = app.get_option_no_throw(std::string(message.substr(0, end)));
  if (option == nullptr) return std::string(message);
  const std::string taken =
      option->get_type_name().empty() ? "true or false" : option->get_type_name();
  if (!converts) return fmt::format("{} needs a value: {}", option->get_name(), taken);
  return fmt::format("{} does not take {}; give {}", option->get_name(),
                     quotation(message.substr(std::min(end + 3, message.size()))), taken);
}

// CLI11's messages without their line ends.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

struct Subcommand {
  const char* name;
  Verb verb;
  const char* help;
  std::optional<Command> command = {};  // of those that are configured
  // Its own options, and what their texts mean.
  void (*add)(CLI::App&, Texts&, CommandLine&) = [](CLI::App&, Texts&, CommandLine&) {};
  Result<void> (*read)(const Texts&, CommandLine&) = [](const Texts&, CommandLine&) {
    return Result<void>();
  };
};
constexpr std::array<Subcommand, 15> subcommands{{
    {"up", Verb::up, "A whole tier in one process: a sidecar and its cache replicas", Command::up},
    {"scale", Verb::scale, "Change the number of replicas of a running `up`", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_scale(app, texts, out.scale, out.plan);
     },
     [](const Texts& texts, CommandLine& out) {
       auto read = read_scale(texts, out.scale);
       if (!read || !out.scale.dry_run) return read;
       return read_dry_run_flags(texts.plan, out.scale, out.plan);
     }},
    {"status", Verb::status, "Tell how a running tier is", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_status_flags(app, out.status);
       add_admin_flags(app, texts.admin, all_admins);
     },
     [](const Texts& texts, CommandLine& out) {
       return read_admin_flags(texts.admin, out.status.pages);
     }},
    {"topology", Verb::topology, "Show a running tier's replicas, or change them", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_topology_flags(app, out.topology);
       add_admin_flags(app, texts.admin, all_admins);
     },
     [](const Texts& texts, CommandLine& out) {
       const auto checked = check_topology_flags(out.topology);
       return checked ? read_admin_flags(texts.admin, out.topology.pages) : checked;
     }},
    {"split", Verb::split, "Cut a shard of a running tier, or place a key of its directory",
     std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_split_flags(app, out.split);
       add_admin_flags(app, texts.admin, all_admins);
     },
     [](const Texts& texts, CommandLine& out) {
       return read_admin_flags(texts.admin, out.split.pages);
     }},
    {"plan", Verb::plan, "Tell what a change of the replicas or the scheme would move",
     std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_plan_flags(app, texts.plan, out.plan);
       add_admin_token_flag(app, texts.admin);
     },
     [](const Texts& texts, CommandLine& out) {
       AdminPages pages;
       const auto token = read_admin_flags(texts.admin, pages);
       out.plan.token = pages.token;
       return token ? read_plan_flags(texts.plan, out.plan) : token;
     }},
    {"purge", Verb::purge, "Remove what a tier has stored of URLs", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_purge_flags(app, out.purge);
       add_admin_flags(app, texts.admin, "The admin pages of a sidecar, which tells all replicas");
     },
     [](const Texts& texts, CommandLine& out) {
       const auto checked = check_purge_flags(out.purge);
       return checked ? read_admin_flags(texts.admin, out.purge.pages) : checked;
     }},
    {"explain", Verb::explain, "Tell what a running tier would do with a request", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_explain_flags(app, out.explain);
       add_admin_flags(app, texts.admin, "The admin pages of a sidecar");
     },
     [](const Texts& texts, CommandLine& out) {
       const auto read = read_admin_flags(texts.admin, out.explain.pages);
       return read ? check_explain_flags(out.explain) : read;
     }},
    {"log", Verb::log, "Follow the requests of a running tier", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine&) {
       add_log_flags(app, texts.log);
       add_admin_flags(app, texts.admin, "The admin pages of those that are to be followed");
     },
     [](const Texts& texts, CommandLine& out) {
       const auto read = read_admin_flags(texts.admin, out.log.pages);
       return read ? read_log_flags(texts.log, out.log) : read;
     }},
    {"sidecar", Verb::sidecar, "The front: forwards each request to the replica of its shard",
     Command::sidecar},
    {"cache", Verb::cache, "A cache replica", Command::cache},
    {"replay", Verb::replay, "Send the requests of an access log and count hits", std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine& out) {
       add_replay_flags(app, texts.replay, out.replay);
     },
     [](const Texts& texts, CommandLine& out) {
       return read_replay_flags(texts.replay, out.replay);
     }},
    {"shard", Verb::shard, "Tell to which replica URLs belong", Command::shard,
     [](CLI::App& app, Texts& texts, CommandLine& out) { add_shard(app, texts, out.shard); },
     [](const Texts& texts, CommandLine& out) { return read_shard(texts, out.shard); }},
    {"simulate", Verb::simulate, "Compare sharding schemes while replicas come and go",
     std::nullopt,
     [](CLI::App& app, Texts& texts, CommandLine&) { add_simulate(app, texts.simulate); },
     [](const Texts& texts, CommandLine& out) {
       return read_simulate(texts.simulate, out.simulate);
     }},
    {"version", Verb::version, "Tell the version and what it was built with"},
}};

// Without the first word CLI11 would take its options for ours and its words for a subcommand's.
Result<CommandLine> parse_subcommand(const Subcommand& subcommand, int argc,
                                     const char* const* argv) {
  CommandLine out;
  out.verb = subcommand.verb;
  Texts texts;
  const std::string called = fmt::format("ringside {}", subcommand.name);
  CLI::App app(subcommand.help, called);
  if (subcommand.command) add_configured(app, *subcommand.command, out.invocation);
  subcommand.add(app, texts, out);
  app.allow_extras();
  for (CLI::Option* const option : app.get_options()) {
    if (takes_one_value(*option)) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  const auto wrong = [&](std::string_view message) {
    return invalid_input(fmt::format("{}: {}", called, message));
  };
  try {
    app.parse(argc - 1, argv + 1);
    const auto checked = check_words(app, subcommand.name);
    if (!checked) return wrong(checked.error().message);
    if (subcommand.command) read_options(app, *subcommand.command, out.invocation);
  } catch (const CLI::CallForHelp&) {
    out.verb = Verb::help;
    out.help = app.help();
    return out;
  } catch (const CLI::ArgumentMismatch& failure) {
    return wrong(fmt::format("{}; see {} --help", what_it_takes(app, failure.what()), called));
  } catch (const CLI::ConversionError& failure) {
    return wrong(fmt::format("{}; see {} --help", what_it_takes(app, failure.what()), called));
  } catch (const CLI::ParseError& failure) {
    return wrong(fmt::format("{}; see {} --help", one_line(failure.what()), called));
  }
  if (auto read = subcommand.read(texts, out); !read) return wrong(read.error().message);
  return out;
}

// `ringside config sidecar OPTIONS`: the words of `ringside sidecar OPTIONS`.
Result<CommandLine> parse_config(int argc, const char* const* argv) {
  const std::string_view of = argc > 2 ? argv[2] : "";
  for (const Subcommand& subcommand : subcommands) {
    const bool is_run = subcommand.command && subcommand.command != Command::shard;
    if (!is_run || of != subcommand.name) continue;
    auto line = parse_subcommand(subcommand, argc - 1, argv + 1);
    if (line) line->invocation.show = true;
    return line;
  }
  return invalid_input(
      "ringside config: of what? Give up, sidecar or cache, and its options: "
      "ringside config sidecar --config FILE");
}

std::string overview() {
  std::string out =
      "A sharded HTTP cache that runs beside your application\n"
      "Usage: ringside COMMAND [OPTIONS]\n\n";
  for (const Subcommand& subcommand : subcommands) {
    fmt::format_to(std::back_inserter(out), "  {:<9} {}\n", subcommand.name, subcommand.help);
  }
  fmt::format_to(std::back_inserter(out), "  {:<9} {}\n", "config",
                 "Print what `up`, `sidecar` or `cache` would run with, and end");
  return out + "\n`ringside COMMAND --help` tells the options of each.\n";
}

}  // namespace

Result<CommandLine> parse_command_line(int argc, const char* const* argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  CommandLine out;
  if (word.empty() || word == "--help" || word == "-h" || word == "help") {
    out.help = overview();
    return out;
  }
  if (word == "options") {
    out.verb = Verb::options;
    return out;
  }
  if (word == "--version") {
    out.verb = Verb::version;
    return out;
  }
  if (word == "config") return parse_config(argc, argv);
  std::vector<std::string_view> names{"config"};
  for (const Subcommand& subcommand : subcommands) {
    if (word == subcommand.name) return parse_subcommand(subcommand, argc, argv);
    names.emplace_back(subcommand.name);
  }
  const std::string_view meant = closest(word, names);
  const auto hint = meant.empty() ? "see ringside --help" : fmt::format("did you mean {}?", meant);
  return invalid_input(fmt::format("ringside: {} is no command; {}", quotation(word), hint));
}

}  // namespace ringside::program
