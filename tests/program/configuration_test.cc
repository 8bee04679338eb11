#include "program/configuration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string_view>

#include "base/file.h"
#include "program/configuration_file.h"
#include "program/configuration_json.h"
#include "program/invocation.h"
#include "program/options.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string example = RINGSIDE_SOURCE_DIR "/docs/ringside.example.yaml";
const std::string without_key = "\ninsecure_peers: true\n";  // peer_keys_test.cc is about keys

Result<Configuration> read(const std::string& text, Command command = Command::sidecar) {
  Configuration configuration = defaults(command);
  if (auto overlaid = overlay_yaml(configuration, text, "f"); !overlaid) return overlaid.error();
  return configuration;
}

TEST(Configuration, TheExampleIsValidAndUsesEveryKey) {
  Configuration configuration = defaults(Command::sidecar);
  ASSERT_TRUE(overlay_file(configuration, example));
  const std::set<std::string_view> instead{"kubernetes", "kubeconfig", "dns", "insecure-peers",
                                           "state"};
  for (const Option& option : all_options()) {
    const bool stands_instead = instead.contains(option.name);
    EXPECT_EQ(configuration.given(option.name), !stands_instead) << option.key();
  }
  for (const std::string_view key : cache_rule_keys()) {
    EXPECT_TRUE(configuration.cache.given(key)) << key;
  }
  EXPECT_EQ(configuration.routes.size(), 5U);
  EXPECT_EQ(configuration.replicas.size(), 3U);
  EXPECT_EQ(configuration.replicas[1].member.weight, 2U);
  EXPECT_EQ(configuration.replicas, configuration.peers);
  for (const Command command : {Command::sidecar, Command::cache}) {
    const auto checked = check(command, configuration);
    EXPECT_TRUE(checked) << checked.error().message;
  }
}

// What can't stand beside `replicas` and `peers`, or beside the scheme, stands in comments, and is
// right too.
TEST(Configuration, TheExamplesAlternativesAreValid) {
  const std::string text = read_file(example, limits::configuration_size_bytes).value();
  for (const std::string key : {"kubernetes", "kubeconfig", "dns", "insecure_peers", "state"}) {
    const auto from = text.find("\n# " + key + ": ");
    ASSERT_NE(from, std::string::npos) << key;
    const auto line = text.substr(from + 3, text.find('\n', from + 3) - from - 3);
    const auto configuration = read(line);
    EXPECT_TRUE(configuration) << configuration.error().message;
  }
}

// Members are either listed or discovered, and by one source.
TEST(Configuration, MembersHaveOneSource) {
  const std::string sidecar = "listen: 127.0.0.1:1\n";
  const std::string cache = "name: a\nlisten: 127.0.0.1:1\norigin: http://o:1\n";
  struct Case {
    Command command;
    std::string text;
    std::string message;  // empty: right
  };
  const std::vector<Case> cases{
      {Command::sidecar, sidecar, "no replica is given; give --replicas"},
      {Command::sidecar, sidecar + "kubernetes: shop/cache", ""},
      {Command::sidecar, sidecar + "dns: cache.shop", ""},
      {Command::sidecar, sidecar + "dns: c\nkubernetes: c", "excludes --kubernetes"},
      {Command::sidecar, sidecar + "kubernetes: c\nreplicas: a=h:1",
       "replicas: excludes --kubernetes c; give one of them"},
      {Command::sidecar, sidecar + "kubernetes: c\npeers: a=h:1", ""},  // not the sidecar's
      {Command::sidecar, sidecar + "dns: c\ntopology_version: 3",
       "excludes --dns c, which numbers the topologies itself"},
      {Command::cache, cache + "kubernetes: shop/cache:http", ""},
      {Command::cache, cache + "dns: c\npeers: a=h:1", "peers: excludes --dns c"},
  };
  for (const Case& one : cases) {
    const auto loaded = read(one.text + without_key, one.command);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto checked = check(one.command, *loaded);
    ASSERT_EQ(checked.has_value(), one.message.empty()) << one.text;
    if (checked) continue;
    EXPECT_THAT(checked.error().message, HasSubstr(one.message)) << one.text;
  }
}

// A reload that exchanged the list for a source emptied the topology: the source was kept as it
// was, and the list was not.
TEST(Configuration, AReloadThatExchangesTheSourceKeepsTheMembers) {
  const auto listed = *read("replicas: [a=h:1]\npeers: [a=h:1]\ntopology_version: 7\n");
  for (const std::string source : {"kubernetes: shop/cache", "dns: cache.shop"}) {
    const auto discovered = *read(source);
    auto next = discovered;
    EXPECT_EQ(keep_fixed(listed, next).size(), 1U) << source;
    EXPECT_FALSE(discovers(next));
    EXPECT_EQ(next.replicas, listed.replicas);
    EXPECT_EQ(next.peers, listed.peers);
    EXPECT_EQ(next.topology_version, 7U);

    next = listed;
    EXPECT_EQ(keep_fixed(discovered, next).size(), 1U) << source;
    EXPECT_TRUE(discovers(next));
    EXPECT_TRUE(next.replicas.empty() && next.peers.empty() && next.topology_version == 0);
  }
}

const Option* option_named(std::string_view name) {
  for (const Option& option : all_options()) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

TEST(Configuration, FlagsWin) {
  Invocation invocation{Command::sidecar, example, {}, false};
  invocation.flags.emplace_back(option_named("listen"), "127.0.0.1:1");
  invocation.flags.emplace_back(option_named("replicas"), "a=h:1");
  const auto loaded = load(invocation);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->listen->text(), "127.0.0.1:1");
  EXPECT_EQ(loaded->place("listen"), "--listen");
  EXPECT_EQ(loaded->machine.cores, this_machine().machine.cores);
  ASSERT_EQ(loaded->replicas.size(), 1U);
  EXPECT_EQ(loaded->country_header, "X-Country");
  EXPECT_THAT(unused_keys(Command::sidecar, *loaded),
              ElementsAre("name", "peers", "split_above", "split_writes", "place_keys", "memory",
                          "move_rate"));
}

TEST(Configuration, WrongFilesNameTheLineAndTheRemedy) {
  struct Case {
    std::string text;
    std::string place;
    std::string message;
  };
  const std::vector<Case> cases{
      {"lisen: h:1", "f:1: ", "did you mean listen?"},
      {"scheme: ring\ndrain-deadline: 1s", "f:2: ", "did you mean drain_deadline?"},
      {"quite_another: 1", "f:1: ", "it may be routes, cache, listen"},
      {"default_ttl: 1h", "f:1: ", "write it in cache: {default_ttl: …}"},
      {"near_ttl: 1s", "f:1: ", "write it in one of the routes"},
      {"cache: {trust: 10.0.0.0/8}", "f:1: ", "write it at the top of the file"},
      {"listen: nowhere", "f:1: listen: ", "nowhere"},
      {"listen: [a]", "f:1: ", "listen is a list; write a single value"},
      {"trust: {a: b}", "f:1: ", "trust is a map; write a single value or a list"},
      {"trust:\n - ::1\n - 10.0.0.1/8", "f:3: trust: ", "10.0.0.1/8"},
      {"trust:\n - [a]", "f:2: trust: ", "an item is a list"},
      {"memory: 1MB", "f:1: memory: ", "256MiB"},
      {"memory: 1KiB", "f:1: memory: ", "at least 1MiB"},
      {"memory: 95%", "f:1: memory: ", "write 1% to 90%"},
      {"connect_timeout: 10", "f:1: connect_timeout: ", "has no unit"},
      {"geo_optional: yes", "f:1: geo_optional: ", "true or false"},
      {"threads: 0", "f:1: threads: ", "from 1 to"},
      {"scheme: rung", "f:1: scheme: ", "rung"},
      {"shard_key: [country, way]", "f:1: shard_key: ", "way"},
      {"shard_key: []", "f:1: shard_key: ", "empty"},
      {"origin: ftp://h", "f:1: origin: ", "no URL"},
      {"without_replica: maybe", "f:1: without_replica: ", "refuse or origin"},
      {"replicas: many", "f:1: replicas: ", "no whole number"},
      {"replicas:\n - name: a\n   address: h:1\n   wight: 2", "f:4: ", "did you mean weight?"},
      {"replicas:\n - name: a", "f:2: ", "a has no address"},
      {"replicas:\n - address: h:1", "f:2: ", "without a name"},
      {"replicas:\n - name: a\n   address: h:1\n   weight: -1", "f:4: weight: ", "from 0 to"},
      {"replicas:\n - a=h:1\n - b", "f:3: replicas: ", "has no address"},
      {"replicas:\n - name: [a]", "f:2: ", "\"name\" is a list"},
      // The fuzzer's find: a key that is none was quoted with its control bytes.
      {"routes:\n - name: a\n   a\x1e: [b]", "f:3: ", "\"a?\" is no key"},
      {"routes: 1", "f:1: ", "write a list of routes"},
      {"routes:\n - x", "f:2: ", "a route is a single value"},
      {"routes:\n - host: h", "f:2: ", "a route without a name"},
      {"routes:\n - name: a\n   hots: h", "f:3: ", "did you mean host?"},
      {"routes:\n - name: a\n   host: 'h h'", "f:3: host: ", "is no host"},
      {"routes:\n - name: a\n   host: a.*.b", "f:3: host: ", "is no host"},
      {"routes:\n - name: a\n   path: x", "f:3: path: ", "starts with /"},
      {"routes:\n - name: a\n   path: /x?y", "f:3: path: ", "starts with /"},
      {"routes:\n - name: a\n   path: /films/*", "f:3: path: /films/* ends with *",
       "so write /films"},
      {"routes:\n - name: a\n   path: /*", "f:3: path: /* ends with *", "so write /"},
      {"routes:\n - name: a\n   origin: h", "f:3: origin: ", "write http://"},
      {"routes:\n - name: a\n   shard_key: way", "f:3: shard_key: ", "way"},
  };
  for (const Case& one : cases) {
    const auto loaded = read(one.text);
    ASSERT_FALSE(loaded) << one.text;
    EXPECT_THAT(loaded.error().message, StartsWith(one.place)) << one.text;
    EXPECT_THAT(loaded.error().message, HasSubstr(one.message)) << one.text;
    EXPECT_EQ(loaded.error().kind, ErrorKind::invalid_input);
  }
}

TEST(Configuration, ValuesThatDontFitTogetherNameTheirPlace) {
  struct Case {
    Command command;
    std::string text;
    std::string message;  // how it starts; empty: valid
  };
  const std::string cache = "name: a\nlisten: 0.0.0.0:1\norigin: http://o\n";
  const std::string sidecar = "listen: 0.0.0.0:1\nreplicas: a=h:1\n";
  const std::vector<Case> cases{
      {Command::up, "", ""},
      {Command::up, "replicas: 3", ""},
      {Command::up, "replicas: a=h:1", "f:1: replicas: is a list of addresses"},
      {Command::up, "memory: 75%", "f:1: memory: 75% is a share, but `up` runs several replicas"},
      {Command::cache, cache + "memory: 75%", ""},
      {Command::sidecar, sidecar + "memory: 75%", ""},
      {Command::sidecar, sidecar, ""},
      {Command::sidecar, "replicas: a=h:1", "--listen is missing"},
      {Command::sidecar, "listen: 0.0.0.0:1", "--replicas: no replica is given"},
      {Command::sidecar, "listen: 0.0.0.0:1\nreplicas: 3", "f:2: replicas: is a number"},
      {Command::sidecar, sidecar + "without_replica: origin", "--origin is missing"},
      {Command::sidecar, "listen: 0.0.0.0:1\nwithout_replica: origin\norigin: http://o", ""},
      {Command::sidecar, "listen: 0.0.0.0:1\nreplicas: a=h:1,a=h:2", "f:2: replicas: "},
      {Command::sidecar, "listen: 0.0.0.0:1\nreplicas: a=h:1,b=h:1",
       "f:2: replicas: a and b are both"},
      {Command::sidecar, sidecar + "routes:\n - name: x\n - name: x", "f:5: another route"},
      {Command::sidecar, sidecar + "routes:\n - name: x\n - name: y",
       "f:3: routes: routes 1 and 2"},
      {Command::cache, cache, ""},
      {Command::cache, "listen: 0.0.0.0:1\norigin: http://o", "--name is missing"},
      {Command::cache, "name: a\norigin: http://o", "--listen is missing"},
      {Command::cache, "name: a\nlisten: 0.0.0.0:1", "--origin is missing"},
      {Command::cache, cache + "peers: b=h:2", "f:4: peers: a is not among them"},
      {Command::cache, cache + "peers: b=h:2,a=h:1", ""},
      {Command::cache, "name: a\nlisten: 0.0.0.0:1\nroutes:\n - name: x",
       "f:4: route x has no origin"},
      {Command::sidecar, "listen: localhost:1\nreplicas: a=h:1", ""},
      {Command::sidecar, "listen: '[::1]:1'\nreplicas: a=h:1", ""},
      {Command::sidecar, "replicas: a=h:1\nlisten: h:1", "f:2: listen: h is a name; give an IP"},
      {Command::cache, cache + "admin: h.example:1", "f:4: admin: h.example is a name; give an IP"},
      {Command::up, "listen: here:1", "f:1: listen: here is a name; give an IP"},
      {Command::shard, "", ""},
      {Command::shard, "listen: h:1\nadmin: h:1", ""},
  };
  for (const Case& one : cases) {
    const auto loaded = read(one.text + without_key, one.command);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const auto checked = check(one.command, *loaded);
    ASSERT_EQ(checked.has_value(), one.message.empty()) << one.text;
    if (checked) continue;
    EXPECT_THAT(checked.error().message, StartsWith(one.message)) << one.text;
  }
}

TEST(Configuration, RoutesAreNormalisedAndFilledIn) {
  const auto loaded = read(
      "origin: http://o:1\nshard_key: path\n"
      "routes:\n - name: a\n   host: '*.Example.COM'\n   path: /x/../%7ey\n   near_ttl: on\n"
      " - name: b\n   origin: [http://p:2, https://q;weight=3]\n   shard_key: [ip, path]\n");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto routes = effective_routes(*loaded);
  EXPECT_EQ(routes[0].match.host, "*.example.com");
  EXPECT_EQ(routes[0].match.path_prefix, "/~y");
  EXPECT_EQ(origin_text(routes[0].origins.at(0)), "http://o:1");
  EXPECT_EQ(routes[0].shard_key->text(), "path");
  EXPECT_EQ(routes[0].near_ttl, limits::near_ttl_usual);
  EXPECT_EQ(routes[1].near_ttl, Milliseconds{0});
  ASSERT_EQ(routes[1].origins.size(), 2U);
  EXPECT_EQ(origin_text(routes[1].origins[0]), "http://p:2");
  EXPECT_EQ(origin_text(routes[1].origins[1]), "https://q:443;weight=3");
  EXPECT_EQ(routes[1].shard_key->text(), "ip,path");
  EXPECT_FALSE(uses_country(*loaded));
  EXPECT_TRUE(uses_country(defaults(Command::up)));
}

TEST(Configuration, AnEmptyListTakesADefaultAway) {
  EXPECT_FALSE(defaults(Command::up).trusted.empty());
  EXPECT_TRUE(read("trust: []", Command::up)->trusted.empty());
}

TEST(Configuration, FilesThatCantBeRead) {
  Configuration configuration;
  EXPECT_THAT(overlay_file(configuration, "/nowhere/x.yaml").error().message,
              StartsWith("/nowhere/x.yaml: No such file"));
  EXPECT_THAT(overlay_file(configuration, "/").error().message, HasSubstr("Is a directory"));
  EXPECT_THAT(overlay_file(configuration, "/dev/zero").error().message, HasSubstr("larger than"));
}

TEST(Configuration, WhatCantChangeInARunningProcessIsKeptAndNamed) {
  const auto running = *read("listen: a:1\nthreads: 1\ntrust: ::1");
  auto next = *read("listen: a:2\nthreads: 2\nmemory: 1GiB\ntrust: ::2\naccess_log: x");
  EXPECT_THAT(keep_fixed(running, next), ElementsAre("listen", "memory", "threads", "access-log"));
  EXPECT_EQ(next.access_log, "");
  EXPECT_EQ(next.listen->text(), "a:1");
  EXPECT_EQ(next.trusted[0].text(), "::2/128");
  EXPECT_TRUE(keep_fixed(running, next).empty());
}

// Shares and defaults are of the machine that it runs on; the page tells what they come to.
TEST(Configuration, TheJsonTellsWhatIsInEffect) {
  auto shared = *read("memory: 75%", Command::cache);
  shared.machine = {3, std::uint64_t{1} << 30};
  const auto page = nlohmann::json::parse(to_json(Command::cache, shared));
  EXPECT_EQ(page["memory"], "768MiB");
  EXPECT_EQ(page["threads"], 3);
  const auto given = *read("memory: 2MiB\nthreads: 5", Command::cache);
  EXPECT_EQ(nlohmann::json::parse(to_json(Command::cache, given))["memory"], "2MiB");
  EXPECT_EQ(nlohmann::json::parse(to_json(Command::cache, given))["threads"], 5);
}

TEST(Configuration, ThreadsAreAsGivenElseTheMachines) {
  struct Case {
    std::size_t given, cores, expected;
  };
  for (const Case& one : {Case{0, 4, 4}, Case{0, 0, 1}, Case{0, 1000, limits::threads},
                          Case{7, 4, 7}, Case{1, 4, 1}}) {
    Configuration configuration;
    configuration.threads = one.given;
    configuration.machine.cores = one.cores;
    EXPECT_EQ(thread_count(configuration), one.expected) << one.given << " of " << one.cores;
  }
}

TEST(Configuration, AShareIsKeptAsAShare) {
  const auto running = *read("memory: 75%", Command::cache);
  auto next = *read("memory: 75%", Command::cache);
  EXPECT_TRUE(keep_fixed(running, next).empty());
  next = *read("memory: 74%", Command::cache);
  EXPECT_THAT(keep_fixed(running, next), ElementsAre("memory"));
  EXPECT_EQ(next.memory.percent, 75U);
}

// The fuzzer's finds: GET /config of a configuration without an option's value failed, or told one
// that no file may have.
TEST(Configuration, TheDefaultsWereNoFileOfThemselves) {
  for (const Command command : {Command::up, Command::sidecar}) {
    const Configuration configuration = defaults(command);
    Configuration again = defaults(command);
    const auto overlaid = overlay_yaml(again, to_json(command, configuration), "config.json");
    ASSERT_TRUE(overlaid) << overlaid.error().message;
    EXPECT_EQ(to_json(command, again), to_json(command, configuration));
  }
}

// What GET /config says can be put back into a file and means the same.
TEST(Configuration, TheJsonIsAFileOfTheSameConfiguration) {
  Configuration configuration = defaults(Command::sidecar);
  ASSERT_TRUE(overlay_file(configuration, example));
  for (const Command command : {Command::up, Command::sidecar, Command::cache}) {
    if (command == Command::up) configuration.replica_count = 4;
    const std::string page = to_json(command, configuration);
    Configuration again = defaults(command);
    const auto overlaid = overlay_yaml(again, page, "config.json");
    ASSERT_TRUE(overlaid) << overlaid.error().message << page;
    EXPECT_EQ(to_json(command, again), page);
    configuration.replica_count.reset();
  }
}

}  // namespace
}  // namespace ringside::program
