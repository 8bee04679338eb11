#include "program/topology_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/quotation.h"
#include "program/scale.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using shard::MemberAt;
using shard::TopologyRequest;

constexpr const char* topology_path = "/topology";

bool is_number(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

auto place_of(std::vector<MemberAt>& members, std::string_view name) {
  return std::find_if(members.begin(), members.end(),
                      [&](const MemberAt& one) { return one.member.name == name; });
}

// The present topology, one version on, with a state that follows from its members.
Result<TopologyRequest> next_of(const std::string& answer) {
  auto request = shard::parse_topology_json(answer);
  if (!request) return request.error();
  ++request->version;
  request->state.reset();
  return request;
}

// Not as /dev/stdin: who ran us may have opened it as another user.
Result<std::string> read_stdin() {
  std::string text(limits::admin_body_size_bytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() <= limits::admin_body_size_bytes) return text;
  return invalid_input(fmt::format("stdin has more than {} bytes", limits::admin_body_size_bytes));
}

Result<std::string> read_document(const std::string& file) {
  auto text = file == "-" ? read_stdin() : read_file(file, limits::admin_body_size_bytes);
  if (text) return text;
  return invalid_input(
      fmt::format("{}; give a file as `ringside topology get` prints it", text.error().message));
}

Result<TopologyRequest> changed(const TopologyOptions& options, const std::string& present) {
  if (options.action == "add") return with_members_added(present, options.words);
  if (options.action == "remove") return with_members_removed(present, options.words);
  const auto document = read_document(options.words.front());
  if (!document) return document.error();
  return with_document(present, *document);
}

// The highest version that one of them is at: each counts its own. Who can't be asked is told of it
// when it is to take the next one.
std::uint64_t highest_version(const AdminPages& pages) {
  std::uint64_t highest = 0;
  for (const Endpoint& address : pages.addresses) {
    const auto answer = ask_page(address, pages.token, "GET", topology_path);
    if (!answer) continue;
    const auto topology = shard::parse_topology_json(*answer);
    if (topology) highest = std::max(highest, topology->version);
  }
  return highest;
}

// Each of them, also behind one that refuses; but nobody where the first does.
Result<void> tell_all(const AdminPages& pages, const TopologyRequest& request) {
  const std::string body = shard::to_json(request);
  std::vector<std::string> refusals;
  std::vector<std::string> refusers;
  for (const Endpoint& address : pages.addresses) {
    const auto put = ask_page(address, pages.token, "PUT", topology_path, body);
    if (!put && refusals.empty() && address == pages.addresses.front()) return put.error();
    if (!put) {
      refusals.push_back(put.error().message);
      refusers.push_back(address.text());
      continue;
    }
    const auto page = parse_strict_json(*put);
    const std::string id = page ? page->value("id", std::string("?")) : "?";
    fmt::print("taken      by {}: version {}, id {}\n", address.text(), request.version, id);
  }
  std::fflush(stdout);
  if (refusals.empty()) return {};
  return Error{ErrorKind::refused, ErrorSource::peer, Retry::no,
               fmt::format("{} of {} did not take it ({}); tell them with `ringside topology get "
                           "--admin {} | ringside topology set - --admin {}`",
                           refusals.size(), pages.addresses.size(), fmt::join(refusals, "; "),
                           pages.addresses.front().text(), fmt::join(refusers, ","))};
}

}  // namespace

void add_topology_flags(CLI::App& app, TopologyOptions& out) {
  app.add_option("ACTION", out.action,
                 "get: print it; add NAME=ADDRESS:PORT[;weight=N]...; remove NAME...; "
                 "set FILE: as `get` prints it (-: stdin), or set N: so many, of `ringside up`")
      ->required();
  app.add_option("WHAT", out.words, "What the action takes");
}

Result<void> check_topology_flags(const TopologyOptions& options) {
  const std::size_t words = options.words.size();
  const std::string& action = options.action;
  if (action == "get") {
    return words == 0 ? Result<void>{} : invalid_input("get takes nothing more");
  }
  if (action == "add") {
    return words > 0 ? Result<void>{}
                     : invalid_input("add whom? Give NAME=ADDRESS:PORT[;weight=N]");
  }
  if (action == "remove") {
    return words > 0 ? Result<void>{} : invalid_input("remove whom? Give NAME");
  }
  if (action == "set") {
    return words == 1 ? Result<void>{}
                      : invalid_input("set takes one file, or -, or a number of replicas");
  }
  return invalid_input(
      fmt::format("{} is no action; there are get, add, remove and set", quotation(action)));
}

Result<TopologyRequest> with_members_added(const std::string& answer,
                                           const std::vector<std::string>& members) {
  auto request = next_of(answer);
  if (!request) return request;
  for (const std::string& text : members) {
    auto parsed = parse_members(text);
    if (!parsed) return parsed.error();
    for (MemberAt& one : *parsed) {
      if (place_of(request->members, one.member.name) != request->members.end()) {
        return invalid_input(
            fmt::format("there is a replica {} already; remove it first, or change it with set",
                        one.member.name));
      }
      request->members.push_back(std::move(one));
    }
  }
  return request;
}

Result<TopologyRequest> with_members_removed(const std::string& answer,
                                             const std::vector<std::string>& names) {
  auto request = next_of(answer);
  if (!request) return request;
  for (const std::string& name : names) {
    const auto place = place_of(request->members, name);
    if (place == request->members.end()) {
      return invalid_input(
          fmt::format("there is no replica {}; see ringside topology get", quotation(name)));
    }
    request->members.erase(place);
  }
  if (request->members.empty()) {
    return invalid_input("that would be all of them; a tier needs a replica, so stop it instead");
  }
  return request;
}

Result<TopologyRequest> with_document(const std::string& answer, const std::string& document) {
  const auto present = shard::parse_topology_json(answer);
  if (!present) return present.error();
  auto request = shard::parse_topology_json(document);
  if (!request) return request;
  if (request->version > present->version) return request;
  if (request->version != 0 && request->version < present->version) {
    return invalid_input(fmt::format(
        "the tier has changed since: it is at version {}, and this is made of version {}; get it "
        "again",
        present->version, request->version));
  }
  request->version = present->version + 1;
  return request;
}

Result<void> run_topology(const TopologyOptions& options, const Clock& clock) {
  const AdminPages& pages = options.pages;
  const Endpoint& first = pages.addresses.front();
  if (options.action == "set" && is_number(options.words.front())) {
    const auto replicas = parse_number(options.words.front(), 1, limits::members);
    if (!replicas) return invalid_input("set: " + replicas.error().message);
    return run_scale({static_cast<std::size_t>(*replicas), first, pages.token}, clock);
  }
  const auto present = ask_page(first, pages.token, "GET", topology_path);
  if (!present) return present.error();
  if (options.action == "get") {
    std::fputs(present->c_str(), stdout);
    return {};
  }
  auto request = changed(options, *present);
  if (!request) return request.error();
  request->version = std::max(request->version, highest_version(pages) + 1);
  if (auto told = tell_all(pages, *request); !told) return told;
  if (pages.addresses.size() == 1) {
    fmt::print("           Who was not told goes on as before: list all of them in --admin\n");
  }
  return {};
}

}  // namespace ringside::program
