#include "program/simulate_command_line.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/check.h"
#include "base/simulate_limits.h"
#include "program/options.h"
#include "program/simulate_steps.h"
#include "program/values.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

Result<double> parse_exponent(std::string_view text) {
  double value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  // Written so that what is no number is not let through either.
  const bool is_good = failure == std::errc{} && end == text.data() + text.size() && value >= 0 &&
                       value <= limits::simulate_zipf_exponent;
  if (is_good) return value;
  return invalid_input(fmt::format("--zipf: {} is no exponent; write a number from 0 to {}",
                                   shard::quotation(text), limits::simulate_zipf_exponent));
}

// One source of keys, and options that fit it.
Result<void> check_source(const SimulateTexts& texts) {
  const bool generated = !texts.keys.empty() || !texts.zipf.empty();
  const int sources =
      (generated ? 1 : 0) + (texts.keys_file.empty() ? 0 : 1) + (texts.log.empty() ? 0 : 1);
  if (sources > 1) {
    return invalid_input(
        "keys are generated (--keys, --zipf), of a file (--keys-from) or of a log (--log); give "
        "one of these");
  }
  const std::pair<const char*, bool> of_logs[] = {{"--host", !texts.host.empty()},
                                                  {"--config", !texts.config_file.empty()},
                                                  {"--shard-key", !texts.shard_key.empty()},
                                                  {"--geo", !texts.geo.empty()},
                                                  {"--geo-optional", texts.geo_optional}};
  for (const auto& [name, is_given] : of_logs) {
    if (!is_given || !texts.log.empty()) continue;
    return invalid_input(
        fmt::format("{}: says how keys are made of a log; give --log FILE too", name));
  }
  return {};
}

void add_flag(std::string_view name, const std::string& text, Invocation& out) {
  const Option* const option = find_option(name);
  RINGSIDE_CHECK(option != nullptr);
  if (!text.empty()) out.flags.emplace_back(option, text);
}

}  // namespace

void add_simulate(CLI::App& app, SimulateTexts& texts) {
  app.add_option("--keys", texts.keys, "How many to generate (default 1000000)")->type_name("N");
  app.add_option("--zipf", texts.zipf,
                 "The k-th of them is asked for in proportion to 1/k^S; 0: all alike (default 1)")
      ->type_name("S");
  app.add_option("--keys-from", texts.keys_file,
                 "Instead: a file with a key a line, and behind a tab its weight; -: stdin")
      ->type_name("FILE");
  app.add_option(
         "--log", texts.log,
         "Instead: an access log in Combined Log Format, of which a sidecar's keys are made")
      ->type_name("FILE");
  app.add_option("--host", texts.host, "Of the log's requests, where routes go by it")
      ->type_name("HOST");
  app.add_option("--config", texts.config_file, "YAML file with the routes of the log's requests")
      ->type_name("FILE");
  app.add_option("--shard-key", texts.shard_key, "Of the log's requests (default country,path)")
      ->type_name("PART,...");
  app.add_option("--geo", texts.geo, "Country database (default: the one beside the program)")
      ->type_name("FILE");
  app.add_flag("--geo-optional", texts.geo_optional, "Without a database every country is ZZ");
  app.add_option("--schemes", texts.schemes, "Which (default: all)")->type_name("NAME,...");
  app.add_option("--replicas", texts.replicas,
                 "One membership after another; 11-cache-3: eleven without cache-3 (default "
                 "10,11,12,10)")
      ->type_name("N[-cache-K],...");
  app.add_option("--weights", texts.weights,
                 "Of all steps; or given again, once for each step, - for none (default: 1 each)")
      ->type_name("cache-K=W,...")
      ->allow_extra_args(false);
  app.add_flag("--json", texts.json, "JSON instead of a table");
  app.add_flag("--csv", texts.csv, "CSV instead of a table");
  app.add_option("--html", texts.html_file, "Also a page with plots, all in one file")
      ->type_name("FILE");
}

Result<void> read_simulate(const SimulateTexts& texts, SimulateOptions& out) {
  if (auto checked = check_source(texts); !checked) return checked;
  if (!texts.keys.empty()) {
    const auto keys = parse_number(texts.keys, 1, limits::simulate_keys);
    if (!keys) return invalid_input("--keys: " + keys.error().message);
    out.generated_keys = static_cast<std::size_t>(*keys);
  }
  if (!texts.zipf.empty()) {
    const auto exponent = parse_exponent(texts.zipf);
    if (!exponent) return exponent.error();
    out.zipf_exponent = *exponent;
  }
  if (texts.json && texts.csv) return invalid_input("--json and --csv both go to stdout; give one");
  auto schemes = parse_schemes(texts.schemes);
  if (!schemes) return schemes.error();
  auto steps = parse_steps(texts.replicas, texts.weights);
  if (!steps) return steps.error();
  out.schemes = *std::move(schemes);
  out.steps = *std::move(steps);
  out.keys_file = texts.keys_file;
  out.log = texts.log;
  out.host = texts.host;
  out.invocation.command = Command::shard;
  out.invocation.config_file = texts.config_file;
  add_flag("shard_key", texts.shard_key, out.invocation);
  add_flag("geo", texts.geo, out.invocation);
  add_flag("geo_optional", texts.geo_optional ? "true" : "", out.invocation);
  out.form = texts.json  ? SimulateOptions::Form::json
             : texts.csv ? SimulateOptions::Form::csv
                         : SimulateOptions::Form::table;
  out.html_file = texts.html_file;
  return {};
}

}  // namespace ringside::program
