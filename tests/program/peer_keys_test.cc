#include "program/peer_keys.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "program/configuration_file.h"
#include "program/settings.h"

namespace ringside::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Configuration configured(const std::string& text, Command command) {
  Configuration configuration = defaults(command);
  const auto overlaid = overlay_yaml(configuration, text, "f");
  EXPECT_TRUE(overlaid) << overlaid.error().message;
  return configuration;
}

TEST(PeerKeysOfTheProgram, WhoSpeaksToPeersNeedsAKeyOrAWord) {
  const std::string sidecar = "listen: 127.0.0.1:1\nreplicas: a=h:1\n";
  const std::string cache = "name: a\nlisten: 127.0.0.1:1\norigin: http://o\n";
  struct Case {
    Command command;
    std::string text;
    std::string message;  // empty: right
  };
  const std::string missing = "--peer-key-file is missing; give all of the tier a file";
  const std::vector<Case> cases{
      {Command::sidecar, sidecar, missing},
      {Command::sidecar, sidecar + "peer_key_file: k", ""},
      {Command::sidecar, sidecar + "insecure_peers: true", ""},
      {Command::sidecar, sidecar + "insecure_peers: false", missing},
      {Command::sidecar, sidecar + "peer_key_file: k\ninsecure_peers: true",
       "f:4: insecure_peers: excludes --peer-key-file; give one of them"},
      {Command::cache, cache, ""},  // of no tier
      {Command::cache, cache + "peers: a=h:1", missing},
      {Command::cache, cache + "kubernetes: c", missing},
      {Command::cache, cache + "dns: c.test", missing},
      {Command::cache, cache + "peers: a=h:1\npeer_key_file: k", ""},
      {Command::cache, cache + "peers: a=h:1\ninsecure_peers: true", ""},
      {Command::up, "", ""},  // it makes its own
      {Command::shard, "replicas: a=h:1", ""},
  };
  for (const Case& one : cases) {
    const auto checked = check(one.command, configured(one.text, one.command));
    ASSERT_EQ(checked.has_value(), one.message.empty()) << one.text;
    if (checked) continue;
    EXPECT_THAT(checked.error().message, HasSubstr(one.message)) << one.text;
  }
}

class KeyFile : public testing::Test {
 protected:
  void write(const std::string& text, mode_t mode = 0600) {
    std::ofstream(path_) << text;
    ::chmod(path_.c_str(), mode);
  }
  void TearDown() override { std::filesystem::remove(path_); }
  [[nodiscard]] Configuration configuration() const {
    return configured("peer_key_file: " + path_ + "\n", Command::sidecar);
  }

  std::string path_ = testing::TempDir() + "ringside-peer-key-" + std::to_string(::getpid());
};

TEST_F(KeyFile, IsReadOrRefusedWithItsPlace) {
  EXPECT_EQ(load_peer_keys(defaults(Command::cache)).value(), nullptr);
  const std::string one = "0123456789abcdef0123456789abcdef";
  const std::string other = one + "fedcba98";
  write(one + "\n" + other + "\n");
  EXPECT_THAT(load_peer_keys(configuration()).value()->all(), ElementsAre(one, other));
  write("");
  const auto empty = load_peer_keys(configuration());
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(empty.error().message,
            "f:1: peer_key_file: " + path_ + ": there is no key; `openssl rand -hex 32` makes one");
  std::filesystem::remove(path_);
  const auto absent = load_peer_keys(configuration());
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message,
              HasSubstr(path_ + ": No such file or directory; give a file that this process may"));
}

// What `ringside shard` makes of a tier's file must not need the key.
TEST_F(KeyFile, IsReadByWhoServesAlone) {
  const auto settings = make_sidecar_settings(
      configuration(), first_membership(configuration(), {}).value(), nullptr);
  ASSERT_TRUE(settings);
  EXPECT_EQ((*settings)->peer_keys, nullptr);
}

}  // namespace
}  // namespace ringside::program
