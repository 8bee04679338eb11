#include "program/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "http1/admin_client.h"
#include "program/cache_service.h"
#include "program/scale.h"
#include "program/sidecar_service.h"
#include "program/tier.h"
#include "tests/support/system_clock.h"

namespace ringside::program {
namespace {

using support::system_clock;
using testing::HasSubstr;
using testing::StartsWith;

class ConfigurationFile {
 public:
  explicit ConfigurationFile(const std::string& text) {
    std::string name = std::filesystem::temp_directory_path() / "ringside-XXXXXX";
    path_ = ::mkdtemp(name.data());
    path_ /= "tier.yaml";
    write(text);
  }
  ~ConfigurationFile() { std::filesystem::remove_all(path_.parent_path()); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// A service with its process, as the program makes them, but for the signals.
template <class S>
struct Running {
  Running(Command command, const std::string& yaml) : file("admin: 127.0.0.1:0\n" + yaml) {
    const Invocation invocation{command, file.path(), {}, false};
    const auto configuration = load(invocation);
    EXPECT_TRUE(configuration) << configuration.error().message;
    auto started = S::start(*configuration, system_clock);
    EXPECT_TRUE(started) << started.error().message;
    service = *std::move(started);
    process.emplace(invocation, *configuration, *service, system_clock);
    EXPECT_TRUE(process->start_admin());
  }

  http::AdminAnswer ask(const std::string& method, const std::string& path,
                        const std::string& body = "") const {
    const auto answer = http::ask_admin(process->admin(), method, path, body, Seconds(20));
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : http::AdminAnswer{};
  }
  Result<void> rewrite(const std::string& yaml) {
    file.write("admin: 127.0.0.1:0\n" + yaml);
    return process->reload();
  }

  ConfigurationFile file;
  std::unique_ptr<S> service;
  std::optional<Process> process;
};

const std::string cache_yaml =
    "name: cache-0\nlisten: 127.0.0.1:0\norigin: http://127.0.0.1:9\nthreads: 1\n"
    "peers: cache-0=127.0.0.1:1\ninsecure_peers: true\n";
const std::string sidecar_yaml =
    "listen: 127.0.0.1:0\nthreads: 1\nshard_key: path\nreplicas: cache-0=127.0.0.1:1\n"
    "insecure_peers: true\n";
const std::string up_yaml =
    "listen: 127.0.0.1:0\nthreads: 1\nshard_key: path\nreplicas: 2\nmemory: 1MiB\n";

TEST(Process, PagesOfACache) {
  Running<CacheService> running(Command::cache, cache_yaml);
  EXPECT_EQ(running.ask("GET", "/livez").status, 200);
  const auto ready = running.ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_THAT(ready.body, StartsWith("ready\ncache cache-0 at 127.0.0.1:"));
  EXPECT_THAT(running.ask("GET", "/metrics").body, HasSubstr("ringside_build_info"));
  EXPECT_EQ(nlohmann::json::parse(running.ask("GET", "/config").body)["name"], "cache-0");
  EXPECT_THAT(running.ask("GET", "/").body, HasSubstr("<h1>Ringside: cache cache-0</h1>"));
  const auto purged = running.ask("POST", "/purge", R"({"all": true})");
  EXPECT_EQ(purged.status, 200);
  EXPECT_EQ(nlohmann::json::parse(purged.body)["removed"], 0);
  EXPECT_EQ(running.ask("POST", "/purge", "{}").status, 400);
  EXPECT_EQ(running.ask("GET", "/scale").status, 404);
  const auto told = nlohmann::json::parse(running.ask("GET", "/topology").body);
  EXPECT_EQ(
      told["self"].dump(),
      R"({"buckets":16384,"buckets_away":0,"buckets_to_give":0,"fills":0,"leavers":[],)"
      R"("moved_bytes":0,"moved_responses":0,"moves_waiting":0,"name":"cache-0","refusals":0})");
  EXPECT_EQ(told["members"][0]["address"], "127.0.0.1:1");
}

// The watch began when a process was up: what was written between that and the reading of the file
// was never read.
TEST(Process, WhatIsWrittenWhileItStartsIsAChange) {
  const ConfigurationFile token("the token at the start\n");
  const ConfigurationFile file(cache_yaml + "admin_token_file: " + token.path() + "\n");
  for (const ConfigurationFile* const changed : {&file, &token}) {
    FileWatch files;
    const auto loaded = load({Command::cache, file.path(), {}, false}, &files);
    ASSERT_TRUE(loaded);
    watch_named(files, Command::cache, *loaded);
    changed->write("other: content\n");
    EXPECT_FALSE(files.look()) << "it may be half written";
    EXPECT_TRUE(files.look());
    EXPECT_FALSE(files.look());
    file.write(cache_yaml + "admin_token_file: " + token.path() + "\n");
  }
}

// A key that could not be changed by a reload stayed in use, and its file was watched no more.
TEST(Process, WhatStaysInUseStaysWatched) {
  const ConfigurationFile key("a\n");
  const ConfigurationFile other("b\n");
  const ConfigurationFile state(
      R"({"format": 1, "scheme": "range", "state": {"shards": [{"at": ""}]}})");
  const std::string yaml =
      "name: cache-0\nlisten: 127.0.0.1:0\norigin: http://127.0.0.1:9\n"
      "peers: cache-0=127.0.0.1:1\nscheme: range\nstate: " +
      state.path() + "\n";
  const ConfigurationFile file(yaml + "state_writer: self\npeer_key_file: " + key.path() + "\n");
  const Invocation invocation{Command::cache, file.path(), {}, false};
  const auto running = load(invocation);
  ASSERT_TRUE(running) << running.error().message;
  file.write(yaml + "peer_key_file: " + other.path() + "\n");
  auto next = load_again(invocation, *running);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_THAT(next->kept, testing::UnorderedElementsAre("peer-key-file", "state-writer"));
  const auto is_watched = [&](const ConfigurationFile& changed) {
    changed.write("another content\n");
    static_cast<void>(next->files.look());
    return next->files.look();
  };
  EXPECT_TRUE(is_watched(key));
  EXPECT_FALSE(is_watched(other));
  EXPECT_FALSE(is_watched(state)) << "it is written by this process";
  EXPECT_TRUE(is_watched(file));
}

TEST(Process, PutTopology) {
  Running<SidecarService> running(Command::sidecar, sidecar_yaml);
  const auto put = [&](const std::string& version, const std::string& members) {
    return running.ask(
        "PUT", "/topology",
        R"({"version": )" + version + R"(, "scheme": "ring", "members": )" + members + "}");
  };
  const std::string two = R"([{"name": "cache-0", "address": "127.0.0.1:1"},
                              {"name": "cache-1", "address": "127.0.0.1:2"}])";
  EXPECT_EQ(put("1", two).status, 409);
  EXPECT_EQ(put("3", two).status, 200);
  const auto page = nlohmann::json::parse(running.ask("GET", "/topology").body);
  EXPECT_EQ(page["version"], 3);
  EXPECT_EQ(page["members"][1]["address"], "127.0.0.1:2");
  EXPECT_FALSE(page.contains("self")) << "a sidecar is no member";
  const auto older = put("2", two);
  EXPECT_EQ(older.status, 409);
  EXPECT_THAT(older.body, HasSubstr("not newer than 3"));
  EXPECT_EQ(put("4", R"([{"name": "cache-0"}])").status, 400);
  EXPECT_EQ(running.ask("PUT", "/topology", "x").status, 400);

  // The file has not changed what it says of the members: PUT's stay.
  ASSERT_TRUE(running.rewrite(sidecar_yaml + "country_header: X-Land\n"));
  EXPECT_EQ(running.service->membership()->topology->version(), 3U);
  ASSERT_TRUE(running.rewrite(sidecar_yaml + "topology_version: 9\n"));
  EXPECT_EQ(running.service->membership()->topology->version(), 9U);
  EXPECT_EQ(running.service->membership()->size(), 1U);
  // It was left without anybody to ask.
  const auto none = put("10", "[]");
  EXPECT_EQ(none.status, 400);
  EXPECT_THAT(none.body, HasSubstr("name one at least"));
  EXPECT_EQ(running.ask("GET", "/livez").status, 200);
}

TEST(Process, AnInvalidFileIsRefusedAndTheOldOneStays) {
  const Running<CacheService> replica(Command::cache, cache_yaml);
  const std::string yaml =
      "listen: 127.0.0.1:0\nthreads: 1\nshard_key: path\ninsecure_peers: true\nreplicas: cache-0=" +
      replica.service->address().text() + "\n";
  Running<SidecarService> running(Command::sidecar, yaml);
  const std::string before = running.ask("GET", "/config").body;
  const auto refused = running.rewrite(yaml + "lisen: x\n");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("tier.yaml:7: "));
  EXPECT_EQ(running.ask("GET", "/config").body, before);
  const auto ready = running.ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_THAT(ready.body, HasSubstr("reloads: 0 applied, 1 refused\nlast refusal: "));
  EXPECT_THAT(ready.body, HasSubstr("did you mean listen?"));

  ASSERT_TRUE(running.rewrite(yaml + "trust: 10.0.0.0/8\n"));
  EXPECT_THAT(running.ask("GET", "/config").body, HasSubstr("10.0.0.0/8"));
  EXPECT_THAT(running.ask("GET", "/readyz").body, HasSubstr("reloads: 1 applied, 1 refused\n"));
}

TEST(Process, WhatCantChangeStaysAndTheRestIsApplied) {
  Running<CacheService> running(Command::cache, cache_yaml);
  ASSERT_TRUE(running.rewrite(cache_yaml + "memory: 1GiB\ncountry_header: X-Land\n"));
  const auto page = nlohmann::json::parse(running.ask("GET", "/config").body);
  EXPECT_EQ(page["memory"], "256MiB");
  EXPECT_EQ(page["country_header"], "X-Land");
}

TEST(Process, DrainingIsNotReady) {
  Running<CacheService> running(Command::cache, cache_yaml);
  EXPECT_EQ(running.ask("POST", "/drain").status, 200);
  const auto ready = running.ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, StartsWith("not ready: draining\n"));
  EXPECT_EQ(running.ask("POST", "/drain").status, 200);
  EXPECT_FALSE(http::ask_admin(running.service->address(), "GET", "/", "", Seconds(20)));
}

TEST(Process, ScaleThroughTheAdminPages) {
  Running<Tier> running(Command::up, up_yaml);
  EXPECT_EQ(running.ask("PUT", "/scale", R"({"replicas": 0})").status, 400);
  EXPECT_EQ(running.ask("PUT", "/scale", R"({"replicas": "3"})").status, 400);
  EXPECT_EQ(running.ask("PUT", "/scale", R"({"replicas": 3})").status, 200);
  const auto state = nlohmann::json::parse(running.ask("GET", "/scale").body);
  EXPECT_EQ(state["replicas"], 3);
  EXPECT_EQ(state["settled"], true);
  EXPECT_EQ(state["components"].size(), 4U);
  EXPECT_EQ(nlohmann::json::parse(running.ask("GET", "/origin").body)["requests"], 0);
  const auto put = running.ask("PUT", "/topology", R"({"scheme": "ring", "members": []})");
  EXPECT_EQ(put.status, 409);
  EXPECT_THAT(put.body, HasSubstr("ringside scale"));
}

TEST(Process, ScaleCommand) {
  Running<Tier> running(Command::up, up_yaml);
  const auto scaled = run_scale({3, running.process->admin()}, system_clock);
  EXPECT_TRUE(scaled) << scaled.error().message;
  EXPECT_EQ(running.service->membership()->size(), 3U);

  Running<CacheService> cache(Command::cache, cache_yaml);
  const auto other = run_scale({3, cache.process->admin()}, system_clock);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("no `ringside up`"));

  const Endpoint gone = cache.process->admin();
  cache.process.reset();
  const auto nobody = run_scale({3, gone}, system_clock);
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().message, HasSubstr("nothing listens there"));
}

// In a child, because the signals are the whole process's.
TEST(ProcessDeathTest, SigtermDrainsAndSighupReloads) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const Signals signals;
        Running<CacheService> running(Command::cache, cache_yaml);
        running.file.write("admin: 127.0.0.1:0\n" + cache_yaml + "country_header: X-Land\n");
        ::kill(::getpid(), SIGHUP);
        std::thread([&] {
          while (running.ask("GET", "/config").body.find("X-Land") == std::string::npos) {
          }
          ::kill(::getpid(), SIGTERM);
        }).detach();
        std::_Exit(running.process->run(signals));
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ringside::program
