#include "program/route_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"
#include "http/characters.h"
#include "http/conditional.h"
#include "http/fields.h"
#include "program/route_keys.h"
#include "program/rule_reading.h"
#include "program/rule_values.h"
#include "program/spelling.h"

namespace ringside::program {
namespace {

using http::ValueCondition;
using nlohmann::ordered_json;
using Entry = YamlValue::Entry;
using Kind = YamlValue::Kind;

// What a value becomes that requests are to have.
using Normalise = Result<std::string> (*)(const std::string& name, std::string_view value);

Result<std::string> header_value(const std::string& name, std::string_view value) {
  auto parsed = parse_field_value(value);
  if (!parsed) return parsed.error();
  return http::canonical_value(name, *parsed);
}

Result<std::string> parameter_value(const std::string& /*name*/, std::string_view value) {
  return value.empty() ? Result<std::string>(std::string()) : normalised_query_part(value);
}

Result<std::string> parameter_name(std::string_view text) {
  auto name = parse_parameter_name(text);
  if (!name || !name->ends_with('*')) return name;
  return invalid_input(fmt::format("{} ends with *, which is no name; write one", quotation(text)));
}

// `{present: true}` or `{regex: …}`.
Result<ValueCondition> read_how(const YamlFile& file, const Entry& entry) {
  constexpr std::string_view remedy = "write a value, {present: true} or {regex: …}";
  if (entry.value.entries.size() != 1) {
    return file.wrong(entry.line, fmt::format("{}: not one condition; {}", entry.key, remedy));
  }
  const Entry& how = entry.value.entries.front();
  if (how.key == "present") {
    const auto present = read_switch(file, how);
    if (!present) return present.error();
    if (*present) return ValueCondition{};
    return file.wrong(how.line,
                      fmt::format("{}: that something is absent can't be asked for; write the "
                                  "other requests' route with it, and this one without",
                                  entry.key));
  }
  if (how.key != "regex") return file.unknown_key(how, "of a condition", {"present", "regex"});
  const auto text = file.text_of(how);
  if (!text) return text.error();
  auto regex = http::Regex::make(*text);
  if (!regex) return file.wrong(how, regex.error());
  return ValueCondition{{}, {}, *std::move(regex)};
}

Result<ValueCondition> read_condition(const YamlFile& file, const Entry& entry, std::string name,
                                      Normalise normalise) {
  if (entry.value.kind == Kind::map) {
    auto condition = read_how(file, entry);
    if (condition) condition->name = std::move(name);
    return condition;
  }
  const auto text = file.text_of(entry);
  if (!text) return text.error();
  auto value = normalise(name, *text);
  if (!value) return file.wrong(entry, value.error());
  return ValueCondition{std::move(name), *std::move(value), {}};
}

Result<std::vector<ValueCondition>> read_conditions_of(
    const YamlFile& file, const Entry& entry, Result<std::string> (*parse_name)(std::string_view),
    Normalise normalise, bool (*same_name)(std::string_view, std::string_view)) {
  if (entry.value.kind != Kind::map) {
    return file.wrong(entry.line, fmt::format("{} is {}; write a map, such as {{NAME: value}} or "
                                              "{{NAME: {{present: true}}}}",
                                              entry.key, name(entry.value.kind)));
  }
  if (entry.value.entries.size() > limits::rule_conditions) {
    return file.wrong(entry.line, fmt::format("{}: {} of them; name at most {}", entry.key,
                                              entry.value.entries.size(), limits::rule_conditions));
  }
  std::vector<ValueCondition> conditions;
  for (const Entry& one : entry.value.entries) {
    auto parsed = parse_name(one.key);
    if (!parsed) {
      return file.wrong(one.line, fmt::format("{}: {}", entry.key, parsed.error().message));
    }
    const bool is_known =
        std::any_of(conditions.begin(), conditions.end(),
                    [&](const ValueCondition& other) { return same_name(other.name, *parsed); });
    if (is_known) {
      return file.wrong(one.line, fmt::format("{}: {} is there twice; take one out", entry.key,
                                              quotation(one.key)));
    }
    auto condition = read_condition(file, one, *std::move(parsed), normalise);
    if (!condition) return condition.error();
    conditions.push_back(*std::move(condition));
  }
  return conditions;
}

bool same_parameter(std::string_view a, std::string_view b) noexcept { return a == b; }

ordered_json shown(const std::vector<ValueCondition>& conditions) {
  auto out = ordered_json::object();
  for (const ValueCondition& one : conditions) {
    if (one.value) {
      out[one.name] = *one.value;
    } else if (one.regex) {
      out[one.name] = {{"regex", one.regex->text()}};
    } else {
      out[one.name] = {{"present", true}};
    }
  }
  return out;
}

Error conflict(const RouteConfiguration& route, std::string_view key, std::string_view message) {
  return invalid_input(
      fmt::format("{}: of route {}: {}: {}", route.place, route.name, key, message));
}

// Says something else from hop to hop.
bool changes_on_its_way(const Configuration& configuration, std::string_view header) {
  return stays_here(configuration, header) || http::is_condition(header) ||
         http::same_token(header, "via") || http::same_token(header, "max-forwards") ||
         http::same_token(header, "accept-encoding");
}

// A replica asks another one with what its route's rules have made of a request.
Result<void> check_headers(const Configuration& configuration, const RouteConfiguration& route,
                           const std::vector<RouteConfiguration>& all) {
  for (const ValueCondition& header : route.match.conditions.headers) {
    if (changes_on_its_way(configuration, header.name)) {
      return conflict(route, "headers",
                      fmt::format("{} is not passed on from hop to hop as a client sent it, so "
                                  "they would choose different routes; take another header",
                                  quotation(header.name)));
    }
    const auto changing =
        std::find_if(all.begin(), all.end(), [&](const RouteConfiguration& other) {
          return other.cache.values.request_fields.replaces(header.name);
        });
    if (changing == all.end()) continue;
    return conflict(route, "headers",
                    fmt::format("request_headers of route {} changes {}, so another replica would "
                                "choose another route; take it out there, or another header here",
                                changing->name, quotation(header.name)));
  }
  return {};
}

bool says_otherwise(const http::PathRules& own, const http::PathRules& of_uri) {
  const auto differs = [&](std::optional<bool> http::PathRules::*rule) {
    return own.*rule && *(own.*rule) != (of_uri.*rule).value_or(false);
  };
  return differs(&http::PathRules::merge_slashes) ||
         differs(&http::PathRules::refuses_escaped_slashes) ||
         differs(&http::PathRules::refuses_parameters);
}

// One URI has one form, whatever else a request for it says. `own`: what the route itself says.
Result<void> check_form(const RouteConfiguration& route, const CacheRules& own) {
  const cache::Rules& of_uri = route.cache.values;
  const bool has_other_query = own.given("query") && own.values.query != of_uri.query;
  if (!has_other_query && !says_otherwise(own.values.paths, of_uri.paths)) return {};
  return invalid_input(
      fmt::format("{}: of route {}: methods, headers and query choose among the requests for one "
                  "URI, which has one form; write it for the route of that path without them alone",
                  own.place(has_other_query ? "query" : "paths"), route.name));
}

bool may_meet(std::string_view host, std::string_view other) noexcept {
  const bool are_exact =
      !host.empty() && !other.empty() && host.front() != '*' && other.front() != '*';
  return !are_exact || host == other;
}

// The parameters that the route, or its rules, look at.
std::vector<std::string> parameters_asked(const RouteConfiguration& route) {
  std::vector<std::string> names;
  for (const ValueCondition& parameter : route.match.conditions.query) {
    names.push_back(parameter.name);
  }
  const cache::Rules& rules = route.cache.values;
  for (const auto* conditions : {&rules.bypass, &rules.no_store}) {
    for (const cache::Condition& condition : *conditions) {
      if (condition.in == cache::Condition::In::query) names.push_back(condition.name);
    }
  }
  return names;
}

// A regular expression may take some of the route's URIs and give them another form: what the route
// asks for would be gone before it is looked at.
Result<void> check_forms_of_regexes(const RouteConfiguration& route,
                                    const std::vector<RouteConfiguration>& all) {
  for (const RouteConfiguration& other : all) {
    const bool is_plain_regex = other.match.path_regex && other.match.conditions.empty();
    if (!is_plain_regex || !may_meet(route.match.host, other.match.host)) continue;
    for (const std::string& name : parameters_asked(route)) {
      if (!other.cache.values.query.applied(name).empty()) continue;
      return conflict(route, "query",
                      fmt::format("{} is asked for, and route {} takes it away of paths that its "
                                  "path_regex matches; keep it there, or take it out here",
                                  quotation(name), other.name));
    }
  }
  return {};
}

Result<void> check_query_is_kept(const RouteConfiguration& route) {
  for (const ValueCondition& parameter : route.match.conditions.query) {
    if (!route.cache.values.query.applied(parameter.name).empty()) continue;
    return conflict(route, "query",
                    fmt::format("the cache rule query takes {} away before anybody looks at it; "
                                "keep it there, or take it out here",
                                quotation(parameter.name)));
  }
  return {};
}

// The methods of the IANA registry (RFC 9110 §16.1), and PURGE, each with a blank on either side.
constexpr std::string_view registered_methods =
    " ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK "
    "MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH "
    "POST PRI PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT "
    "UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL ";

// What an unregistered method was probably meant to be; empty: it may be an application's own.
std::string_view meant_method(std::string_view method) {
  constexpr auto usual =
      std::to_array<std::string_view>({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"});
  const bool is_registered =
      registered_methods.find(fmt::format(" {} ", method)) != std::string_view::npos;
  return is_registered ? std::string_view() : closest(method, usual);
}

}  // namespace

Result<std::vector<std::string>> parse_methods(std::string_view text) {
  std::vector<std::string> methods;
  bool has_head = false;
  while (!text.empty()) {
    const std::string_view method = http::trimmed(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.find(','), text.size() - 1) + 1);
    if (!http::is_token(method)) {
      return invalid_input(
          fmt::format("{} is no method; write such as GET or POST", quotation(method)));
    }
    if (std::any_of(method.begin(), method.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
      return invalid_input(
          fmt::format("{}: methods are written in capitals; write such as GET", quotation(method)));
    }
    if (const std::string_view meant = meant_method(method); !meant.empty()) {
      return invalid_input(
          fmt::format("{} is no method that is known; did you mean {}?", quotation(method), meant));
    }
    if (method == "PURGE" || method == "TRACE" || method == "CONNECT") {
      return invalid_input(fmt::format("{} goes by no route; take it out", method));
    }
    has_head = has_head || method == "HEAD";
    if (method != "HEAD" && std::find(methods.begin(), methods.end(), method) == methods.end()) {
      methods.emplace_back(method);
    }
  }
  if (methods.size() > limits::rule_conditions) {
    return invalid_input(
        fmt::format("{} methods; name at most {}", methods.size(), limits::rule_conditions));
  }
  const bool has_get = std::find(methods.begin(), methods.end(), "GET") != methods.end();
  if (has_head && !has_get) {
    return invalid_input("HEAD is answered with what GET has stored; name GET, which is both");
  }
  if (methods.empty()) return invalid_input("no method is named; name one, or leave it out");
  return methods;
}

Result<std::vector<ValueCondition>> read_header_conditions(const YamlFile& file,
                                                           const Entry& entry) {
  return read_conditions_of(file, entry, parse_header_name, header_value, http::same_token);
}

Result<std::vector<ValueCondition>> read_query_conditions(const YamlFile& file,
                                                          const Entry& entry) {
  return read_conditions_of(file, entry, parameter_name, parameter_value, same_parameter);
}

nlohmann::ordered_json to_json(const http::RequestConditions& conditions) {
  auto out = ordered_json::object();
  if (!conditions.methods.empty()) out["methods"] = conditions.methods;
  if (!conditions.headers.empty()) out["headers"] = shown(conditions.headers);
  if (!conditions.query.empty()) out["query"] = shown(conditions.query);
  return out;
}

void share_forms(std::vector<RouteConfiguration>& routes) {
  std::vector<http::RouteMatch> matches;
  bool has_conditions = false;
  for (const RouteConfiguration& route : routes) {
    matches.push_back(route.match);
    has_conditions = has_conditions || !route.match.conditions.empty();
  }
  if (!has_conditions) return;
  const auto table = http::RouteTable::make(matches);
  if (!table) return;  // is refused elsewhere
  for (RouteConfiguration& route : routes) {
    if (route.match.conditions.empty()) continue;
    const std::string& host = route.match.host;
    const auto of_uri =
        table->find(host.starts_with('*') ? "any" + host.substr(1) : host, route.match.path_prefix);
    if (!of_uri) continue;
    const cache::Rules& rules = routes[of_uri->index].cache.values;
    if (of_uri->index == static_cast<std::size_t>(&route - routes.data())) continue;
    route.cache.values.query = rules.query;
    route.cache.values.paths = rules.paths;
  }
}

Result<void> check_route_conditions(const Configuration& configuration) {
  const auto all = effective_routes(configuration);
  for (std::size_t i = 0; i < configuration.routes.size(); ++i) {
    const RouteConfiguration& route = all[i];
    if (route.match.conditions.empty()) continue;
    if (auto form = check_form(route, configuration.routes[i].cache); !form) return form.error();
    if (auto forms = check_forms_of_regexes(route, all); !forms) return forms.error();
    if (auto headers = check_headers(configuration, route, all); !headers) return headers.error();
    if (auto query = check_query_is_kept(route); !query) return query.error();
  }
  return {};
}

}  // namespace ringside::program
