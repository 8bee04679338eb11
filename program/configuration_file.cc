#include "program/configuration_file.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "base/file.h"
#include "http/target.h"
#include "program/cache_rules.h"
#include "program/options.h"
#include "program/values.h"
#include "program/yaml_document.h"
#include "program/yaml_file.h"
#include "shard/member.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

using shard::quotation;
using Kind = YamlValue::Kind;

// Reads a document's values, knowing the file for the messages.
class FileReader {
 public:
  FileReader(Configuration& configuration, std::string file)
      : configuration_(configuration), file_(std::move(file)) {}

  Result<void> read(const YamlValue& root);

 private:
  Result<void> read_option(const YamlValue::Entry& entry, const Option& option);
  Result<void> read_list(const YamlValue::Entry& entry, const Option& option);
  Result<std::vector<shard::MemberAt>> read_members(const YamlValue::Entry& entry);
  Result<shard::MemberAt> read_member(const YamlValue& map);
  Result<void> set_member_key(shard::MemberAt& member, const YamlValue::Entry& entry);
  Result<void> read_routes(const YamlValue::Entry& entry);
  Result<RouteConfiguration> read_route(const YamlValue& map);
  Result<void> set_route_key(RouteConfiguration& route, const YamlValue::Entry& entry);

  Configuration& configuration_;
  const YamlFile file_;
};

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
    std::vector<std::string> keys{"routes", "cache"};
    const Option* found = nullptr;
    for (const Option& option : all_options()) {
      keys.push_back(option.key());
      if (keys.back() == entry.key) found = &option;
    }
    if (!found) {
      const std::vector<std::string_view> known(keys.begin(), keys.end());
      return file_.unknown_key(entry, "of the configuration", known);
    }
    if (auto read = read_option(entry, *found); !read) return read.error();
  }
  return {};
}

Result<void> FileReader::read_option(const YamlValue::Entry& entry, const Option& option) {
  configuration_.places.insert_or_assign(std::string(option.name),
                                         fmt::format("{}: {}", file_.place(entry.line), entry.key));
  if (entry.value.kind == Kind::list && option.form == Option::Form::list) {
    return read_list(entry, option);
  }
  if (entry.value.kind != Kind::scalar) {
    return file_.wrong(
        entry.line,
        fmt::format("{} is {}; write a single value{}", entry.key, name(entry.value.kind),
                    option.form == Option::Form::list ? " or a list" : ""));
  }
  if (auto set = option.set(configuration_, entry.value.text); !set) {
    return file_.wrong(entry.value.line, fmt::format("{}: {}", entry.key, set.error().message));
  }
  return {};
}

Result<void> FileReader::read_list(const YamlValue::Entry& entry, const Option& option) {
  if (option.name == "replicas" || option.name == "peers") {
    auto members = read_members(entry);
    if (!members) return members.error();
    (option.name == "peers" ? configuration_.peers : configuration_.replicas) = *std::move(members);
    if (option.name == "replicas") configuration_.replica_count.reset();
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
    if (auto set = option.set(scratch, item.text); !set) {
      return file_.wrong(item.line, fmt::format("{}: {}", entry.key, set.error().message));
    }
    if (!joined.empty()) joined.push_back(',');
    joined += item.text;
  }
  if (auto set = option.set(configuration_, joined); !set) {
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
    if (auto set = set_member_key(member, entry); !set) return set.error();
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

Result<void> FileReader::set_member_key(shard::MemberAt& member, const YamlValue::Entry& entry) {
  const auto text = file_.text_of(entry);
  if (!text) return text.error();
  const auto fail = [&](const Error& error) { return file_.wrong(entry, error); };
  if (entry.key == "name") {
    if (auto checked = shard::check_member_name(*text); !checked) return fail(checked.error());
    member.member.name = *text;
  } else if (entry.key == "address") {
    auto address = Endpoint::parse(*text);
    if (!address) return fail(address.error());
    member.address = *std::move(address);
  } else if (entry.key == "weight") {
    const auto weight = parse_number(*text, 1, limits::member_weight);
    if (!weight) return fail(weight.error());
    member.member.weight = static_cast<std::uint32_t>(*weight);
  } else if (entry.key == "zone") {
    if (auto checked = shard::check_member_zone(*text); !checked) return fail(checked.error());
    member.member.zone = *text;
  } else {
    return file_.unknown_key(entry, "of a replica", {"name", "address", "weight", "zone"});
  }
  return {};
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
                                                "origin, shard_key, near_ttl, cache",
                                                name(item.kind)));
    }
    auto route = read_route(item);
    if (!route) return route.error();
    configuration_.routes.push_back(*std::move(route));
  }
  return {};
}

Result<RouteConfiguration> FileReader::read_route(const YamlValue& map) {
  RouteConfiguration route;
  route.place = file_.place(map.line);
  for (const YamlValue::Entry& entry : map.entries) {
    if (auto set = set_route_key(route, entry); !set) return set.error();
  }
  if (route.name.empty())
    return file_.wrong(map.line, "a route without a name; write name: and one");
  return route;
}

// The normalised host of a route, with its wildcard.
Result<std::string> route_host(std::string_view text) {
  const bool wildcard = text.substr(0, 2) == "*.";
  std::string host;
  auto normalised = http::normalise_host(wildcard ? text.substr(2) : text, host);
  if (!normalised) {
    return invalid_input(
        fmt::format("{} is no host; write HOST, HOST:PORT or *.HOST", quotation(text)));
  }
  return wildcard ? "*." + host : host;
}

// The normalised path of a route.
Result<std::string> route_path(std::string_view text) {
  http::Target target;
  const bool path =
      !text.empty() && text.front() == '/' && text.find('?') == std::string_view::npos;
  if (!path || !http::normalise_target(text, target)) {
    return invalid_input(
        fmt::format("{} is no path; write one that starts with /", quotation(text)));
  }
  return target.path;
}

Result<void> FileReader::set_route_key(RouteConfiguration& route, const YamlValue::Entry& entry) {
  const auto fail = [&](const Error& error) { return file_.wrong(entry, error); };
  if (entry.key == "cache") {
    auto rules = read_cache_rules(file_, entry);
    if (!rules) return rules.error();
    route.cache = *std::move(rules);
    return {};
  }
  std::string joined;
  const bool may_be_list = entry.key == "shard_key" || entry.key == "origin";
  if (may_be_list && entry.value.kind == Kind::list) {
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
  if (entry.key == "name") {
    if (auto checked = shard::check_member_name(joined); !checked) return fail(checked.error());
    route.name = joined;
  } else if (entry.key == "host") {
    auto host = route_host(joined);
    if (!host) return fail(host.error());
    route.match.host = *std::move(host);
  } else if (entry.key == "path") {
    auto path = route_path(joined);
    if (!path) return fail(path.error());
    route.match.path_prefix = *std::move(path);
  } else if (entry.key == "origin") {
    auto origins = parse_origins(joined);
    if (!origins) return fail(origins.error());
    route.origins = *std::move(origins);
  } else if (entry.key == "shard_key") {
    auto key = shard::KeySpec::parse(joined);
    if (!key) return fail(key.error());
    route.shard_key = *std::move(key);
  } else if (entry.key == "near_ttl") {
    auto ttl = parse_duration(joined);
    if (!ttl) return fail(ttl.error());
    if (*ttl > limits::near_ttl_most) {
      return fail(
          invalid_input(fmt::format("{} is too long for answers that no purge from elsewhere "
                                    "reaches; write at most {}",
                                    joined, duration_text(limits::near_ttl_most))));
    }
    route.near_ttl = *ttl;
  } else {
    return file_.unknown_key(entry, "of a route",
                             {"name", "host", "path", "origin", "shard_key", "near_ttl", "cache"});
  }
  return {};
}

}  // namespace

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
