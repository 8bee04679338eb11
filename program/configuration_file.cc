#include "program/configuration_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/file.h"
#include "http/path_pattern.h"
#include "http/target.h"
#include "program/cache_rules.h"
#include "program/options.h"
#include "program/route_conditions.h"
#include "program/values.h"
#include "program/yaml_document.h"
#include "program/yaml_file.h"
#include "shard/member.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

using shard::quotation;
using Kind = YamlValue::Kind;

// Normalised, with its wildcard.
Result<void> set_host(RouteConfiguration& route, std::string_view text) {
  const bool wildcard = text.substr(0, 2) == "*.";
  std::string host;
  auto normalised = http::normalise_host(wildcard ? text.substr(2) : text, host);
  if (!normalised) {
    return invalid_input(
        fmt::format("{} is no host; write HOST, HOST:PORT or *.HOST", quotation(text)));
  }
  route.match.host = wildcard ? "*." + host : host;
  return {};
}

// Normalised.
Result<void> set_path(RouteConfiguration& route, std::string_view text) {
  auto pattern = http::normalise_pattern(text);
  if (!pattern) return pattern.error();
  if (pattern->ends_with("/*")) {
    const std::string_view below = text.substr(0, text.size() - 2);
    return invalid_input(fmt::format(
        "{} ends with *, which stands for itself here; a route is for all that lies below its "
        "path, so write {}",
        text, below.empty() ? "/" : below));
  }
  route.match.path_prefix = *std::move(pattern);
  return {};
}

// The whole path must match. False: what it begins with is a letter or a digit, and no alternative
// follows.
bool may_match_path(std::string_view regex) noexcept {
  if (regex.starts_with('^')) regex.remove_prefix(1);
  const bool begins_otherwise = !regex.empty() && ((regex[0] >= 'a' && regex[0] <= 'z') ||
                                                   (regex[0] >= 'A' && regex[0] <= 'Z') ||
                                                   (regex[0] >= '0' && regex[0] <= '9'));
  const bool is_optional =
      regex.size() > 1 && std::string_view("?*{|").find(regex[1]) != std::string_view::npos;
  return !begins_otherwise || is_optional || regex.find('|') != std::string_view::npos;
}

Result<void> set_path_regex(RouteConfiguration& route, std::string_view text) {
  auto regex = http::Regex::make(text);
  if (!regex) return regex.error();
  if (!may_match_path(text)) {
    return invalid_input(fmt::format(
        "{} matches no path, since every path begins with /; write such as /films/[0-9]+",
        quotation(text)));
  }
  route.match.path_regex = *std::move(regex);
  return {};
}

Result<void> set_methods(RouteConfiguration& route, std::string_view text) {
  auto methods = parse_methods(text);
  if (!methods) return methods.error();
  route.match.conditions.methods = *std::move(methods);
  return {};
}

Result<Milliseconds> parse_near_ttl(std::string_view text) {
  if (text == "on") return limits::near_ttl_usual;
  auto ttl = parse_duration(text);
  if (!ttl || *ttl <= limits::near_ttl_most) return ttl;
  return invalid_input(fmt::format(
      "{} is too long for answers that no purge from elsewhere reaches; write at most {}", text,
      duration_text(limits::near_ttl_most)));
}

// A key of a map whose values are single ones, or lists of them.
template <class Of>
struct Key {
  std::string_view name;
  Result<void> (*set)(Of& of, std::string_view text);
  bool may_be_list = false;
};

template <auto member, auto parse>
Result<void> assign_to_member(shard::MemberAt& at, std::string_view text) {
  return assign<member, parse>(at.member, text);
}
constexpr auto member_keys = std::to_array<Key<shard::MemberAt>>({
    {"name", assign_to_member<&shard::Member::name, parse_member_name>},
    {"address", assign<&shard::MemberAt::address, Endpoint::parse, shard::MemberAt>},
    {"weight", assign_to_member<&shard::Member::weight, parse_member_weight>},
    {"zone", assign_to_member<&shard::Member::zone, parse_member_zone>},
});

using Route = RouteConfiguration;
constexpr auto route_keys = std::to_array<Key<Route>>({
    {"name", assign<&Route::name, parse_member_name, Route>},
    {"host", set_host},
    {"path", set_path},
    {"path_regex", set_path_regex},
    {"methods", set_methods, true},
    {"origin", assign<&Route::origins, parse_origins, Route>, true},
    {"shard_key", assign<&Route::shard_key, shard::KeySpec::parse, Route>, true},
    {"key_fallback", assign<&Route::key_fallback, shard::KeySpec::parse, Route>, true},
    {"scheme", assign<&Route::scheme, parse_scheme, Route>},
    {"near_ttl", assign<&Route::near_ttl, parse_near_ttl, Route>},
});

// Those whose values are maps.
constexpr std::array<std::string_view, 3> route_maps{"headers", "query", "cache"};

// Reads a document's values, knowing the file for the messages.
class FileReader {
 public:
  FileReader(Configuration& configuration, std::string file)
      : configuration_(configuration), file_(std::move(file)) {}

  Result<void> read(const YamlValue& root);

 private:
  [[nodiscard]] Error unknown_option(const YamlValue::Entry& entry) const;
  Result<void> read_option(const YamlValue::Entry& entry, const Option& option);
  Result<void> read_list(const YamlValue::Entry& entry, const Option& option);
  Result<std::vector<shard::MemberAt>> read_members(const YamlValue::Entry& entry);
  Result<shard::MemberAt> read_member(const YamlValue& map);
  Result<void> read_routes(const YamlValue::Entry& entry);
  Result<RouteConfiguration> read_route(const YamlValue& map);
  template <class Of>
  Result<void> set_key(Of& of, const YamlValue::Entry& entry, std::span<const Key<Of>> keys,
                       std::string_view where, std::span<const std::string_view> more = {});
  Result<void> read_map(RouteConfiguration& route, const YamlValue::Entry& entry);

  Configuration& configuration_;
  const YamlFile file_;
};

// `more` are keys that are read elsewhere, for the message.
template <class Of>
Result<void> FileReader::set_key(Of& of, const YamlValue::Entry& entry,
                                 std::span<const Key<Of>> keys, std::string_view where,
                                 std::span<const std::string_view> more) {
  const auto key = std::find_if(keys.begin(), keys.end(),
                                [&](const Key<Of>& one) { return one.name == entry.key; });
  if (key == keys.end()) {  // before its value: that may be of another kind
    std::vector<std::string_view> known;
    for (const Key<Of>& one : keys) known.push_back(one.name);
    known.insert(known.end(), more.begin(), more.end());
    return file_.unknown_key(entry, where, known);
  }
  std::string joined;
  if (key->may_be_list && entry.value.kind == Kind::list) {
    for (const YamlValue& item : entry.value.items) {
      if (item.kind != Kind::scalar) {
        return file_.wrong(item.line, fmt::format("{}: write single values", entry.key));
      }
      joined += (joined.empty() ? "" : ",") + item.text;
    }
  } else {
    const auto text = file_.text_of(entry);
    if (!text) return text.error();
    joined = *text;
  }
  if (auto set = key->set(of, joined); !set) return file_.wrong(entry, set.error());
  return {};
}

Result<void> FileReader::read(const YamlValue& root) {
  for (const YamlValue::Entry& entry : root.entries) {
    if (entry.key == "routes") {
      if (auto routes = read_routes(entry); !routes) return routes.error();
      continue;
    }
    if (entry.key == "cache") {
      auto rules = read_cache_rules(file_, entry);
      if (!rules) return rules.error();
      configuration_.cache = *std::move(rules);
      continue;
    }
    const Option* const found = find_option(entry.key);
    if (!found) return unknown_option(entry);
    if (auto read = read_option(entry, *found); !read) return read.error();
  }
  return {};
}

Error FileReader::unknown_option(const YamlValue::Entry& entry) const {
  std::vector<std::string> keys{"routes", "cache"};
  for (const Option& option : all_options()) keys.push_back(option.key());
  return file_.unknown_key(entry, "of the configuration", {keys.begin(), keys.end()});
}

Result<void> FileReader::read_option(const YamlValue::Entry& entry, const Option& option) {
  configuration_.places.insert_or_assign(std::string(option.name),
                                         fmt::format("{}: {}", file_.place(entry.line), entry.key));
  if (entry.value.kind == Kind::list && option.value.form == OptionValue::Form::list) {
    return read_list(entry, option);
  }
  if (entry.value.kind != Kind::scalar) {
    return file_.wrong(
        entry.line,
        fmt::format("{} is {}; write a single value{}", entry.key, name(entry.value.kind),
                    option.value.form == OptionValue::Form::list ? " or a list" : ""));
  }
  if (auto set = option.value.set(configuration_, entry.value.text); !set) {
    return file_.wrong(entry.value.line, fmt::format("{}: {}", entry.key, set.error().message));
  }
  return {};
}

Result<void> FileReader::read_list(const YamlValue::Entry& entry, const Option& option) {
  if (option.value.set_members != nullptr) {
    auto members = read_members(entry);
    if (!members) return members.error();
    option.value.set_members(configuration_, *std::move(members));
    return {};
  }
  std::string joined;
  for (const YamlValue& item : entry.value.items) {
    if (item.kind != Kind::scalar) {
      return file_.wrong(item.line, fmt::format("{}: an item is {}; write single values", entry.key,
                                                name(item.kind)));
    }
    // Alone first: so that the message can name the item's own line.
    Configuration scratch;
    if (auto set = option.value.set(scratch, item.text); !set) {
      return file_.wrong(item.line, fmt::format("{}: {}", entry.key, set.error().message));
    }
    if (!joined.empty()) joined.push_back(',');
    joined += item.text;
  }
  if (auto set = option.value.set(configuration_, joined); !set) {
    return file_.wrong(entry.line, fmt::format("{}: {}", entry.key, set.error().message));
  }
  return {};
}

Result<std::vector<shard::MemberAt>> FileReader::read_members(const YamlValue::Entry& entry) {
  std::vector<shard::MemberAt> members;
  for (const YamlValue& item : entry.value.items) {
    if (item.kind == Kind::map) {
      auto member = read_member(item);
      if (!member) return member.error();
      members.push_back(*std::move(member));
      continue;
    }
    if (item.kind == Kind::list) {
      return file_.wrong(item.line,
                         fmt::format("{}: an item is a list; write NAME=HOST:PORT or a map "
                                     "with name and address",
                                     entry.key));
    }
    auto parsed = parse_members(item.text);
    if (!parsed) {
      return file_.wrong(item.line, fmt::format("{}: {}", entry.key, parsed.error().message));
    }
    members.insert(members.end(), parsed->begin(), parsed->end());
  }
  return members;
}

Result<shard::MemberAt> FileReader::read_member(const YamlValue& map) {
  shard::MemberAt member;
  for (const YamlValue::Entry& entry : map.entries) {
    if (auto set = set_key<shard::MemberAt>(member, entry, member_keys, "of a replica"); !set) {
      return set.error();
    }
  }
  if (member.member.name.empty()) {
    return file_.wrong(map.line, "a replica without a name; write name: cache-0 or the like");
  }
  if (member.address.host.empty()) {
    return file_.wrong(
        map.line, fmt::format("{} has no address; write address: HOST:PORT", member.member.name));
  }
  return member;
}

Result<void> FileReader::read_routes(const YamlValue::Entry& entry) {
  if (entry.value.kind != Kind::list) {
    return file_.wrong(entry.line,
                       fmt::format("routes is {}; write a list of routes, each `- name: …`",
                                   name(entry.value.kind)));
  }
  if (entry.value.items.size() > limits::routes) {
    return file_.wrong(entry.line, fmt::format("{} routes; at most {}, so put some together",
                                               entry.value.items.size(), limits::routes));
  }
  configuration_.places.insert_or_assign("routes",
                                         fmt::format("{}: routes", file_.place(entry.line)));
  configuration_.routes.clear();
  for (const YamlValue& item : entry.value.items) {
    if (item.kind != Kind::map) {
      return file_.wrong(item.line, fmt::format("a route is {}; write a map with name, host, path, "
                                                "origin and other keys of a route",
                                                name(item.kind)));
    }
    auto route = read_route(item);
    if (!route) return route.error();
    configuration_.routes.push_back(*std::move(route));
  }
  return {};
}

// A key of a route whose value is a map.
Result<void> FileReader::read_map(RouteConfiguration& route, const YamlValue::Entry& entry) {
  if (entry.key == "cache") {
    auto rules = read_cache_rules(file_, entry);
    if (!rules) return rules.error();
    route.cache = *std::move(rules);
    return {};
  }
  const bool is_query = entry.key == "query";
  auto conditions =
      is_query ? read_query_conditions(file_, entry) : read_header_conditions(file_, entry);
  if (!conditions) return conditions.error();
  http::RequestConditions& of_route = route.match.conditions;
  (is_query ? of_route.query : of_route.headers) = *std::move(conditions);
  return {};
}

Result<RouteConfiguration> FileReader::read_route(const YamlValue& map) {
  RouteConfiguration route;
  route.place = file_.place(map.line);
  for (const YamlValue::Entry& entry : map.entries) {
    const bool is_map =
        std::find(route_maps.begin(), route_maps.end(), entry.key) != route_maps.end();
    auto set = is_map ? read_map(route, entry)
                      : set_key<Route>(route, entry, route_keys, "of a route", route_maps);
    if (!set) return set.error();
  }
  if (route.name.empty())
    return file_.wrong(map.line, "a route without a name; write name: and one");
  return route;
}

}  // namespace

std::vector<std::string_view> route_key_names() {
  std::vector<std::string_view> names;
  names.reserve(route_keys.size());
  for (const Key<Route>& key : route_keys) names.push_back(key.name);
  for (const std::string_view key : route_maps) {
    if (key != "cache") names.push_back(key);
  }
  return names;
}

Result<void> overlay_yaml(Configuration& configuration, std::string_view text,
                          const std::string& file) {
  const auto document = parse_yaml(text, file);
  if (!document) return document.error();
  return FileReader(configuration, file).read(*document);
}

Result<void> overlay_file(Configuration& configuration, const std::string& path) {
  const auto text = read_file(path, limits::configuration_size_bytes);
  if (!text) {
    return invalid_input(text.error().message + "; name a configuration file that can be read");
  }
  return overlay_yaml(configuration, *text, path);
}

}  // namespace ringside::program
