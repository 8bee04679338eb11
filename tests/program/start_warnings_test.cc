#include "program/start_warnings.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "program/configuration_file.h"

namespace ringside::program {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> warnings_of(Command command, const std::string& text) {
  Configuration configuration = defaults(command);
  const auto overlaid = overlay_yaml(configuration, text, "f");
  EXPECT_TRUE(overlaid) << overlaid.error().message;
  return start_warnings(command, configuration);
}

TEST(StartWarnings, SecretsThatEverybodyCanRead) {
  const std::string path = testing::TempDir() + "ringside-secret-" + std::to_string(::getpid());
  std::ofstream(path) << std::string(64, 'a');
  const auto warned = Contains(
      HasSubstr("every user of this machine can read " + path + "; `chmod o-r " + path + "`"));
  for (const char* const key : {"peer_key_file", "admin_token_file"}) {
    const std::string text = std::string(key) + ": " + path + "\n";
    ::chmod(path.c_str(), 0644);
    EXPECT_THAT(warnings_of(Command::cache, text), warned) << key;
    ::chmod(path.c_str(), 0640);
    EXPECT_THAT(warnings_of(Command::cache, text), Not(warned)) << key;
  }
  std::filesystem::remove(path);
}

TEST(StartWarnings, PeersThatProveNothing) {
  const auto warned = Contains(HasSubstr("--peer-key-file instead"));
  EXPECT_THAT(warnings_of(Command::cache, "insecure_peers: true\n"), warned);
  EXPECT_THAT(warnings_of(Command::up, "insecure_peers: true\n"), Not(warned));
}

// A sidecar on loopback that trusted the private networks put every client into country ZZ, and
// nothing told of it.
TEST(StartWarnings, AListenerOnLoopbackThatBelievesNobodyThere) {
  const auto warned = Contains(
      AllOf(HasSubstr("every client is in country ZZ"), HasSubstr("give --trust 127.0.0.0/8")));
  const std::string text = "listen: 127.0.0.1:8080\n";
  EXPECT_THAT(warnings_of(Command::sidecar, text), warned);
  EXPECT_THAT(warnings_of(Command::sidecar, text + "trust: 10.0.0.0/8\n"), warned);
  EXPECT_THAT(warnings_of(Command::sidecar, "listen: localhost:8080\n"), warned);
  EXPECT_THAT(warnings_of(Command::sidecar, "listen: '[::1]:8080'\n"),
              Contains(HasSubstr("give --trust ::1")));
  for (const std::string& told :
       {text + "trust: 127.0.0.0/8\n", text + "proxied_from: 127.0.0.1\n",
        text + "shard_key: path\n", std::string("listen: 0.0.0.0:80\n")}) {
    EXPECT_THAT(warnings_of(Command::sidecar, told), Not(warned)) << told;
  }
  EXPECT_THAT(warnings_of(Command::cache, text), Not(warned));
  EXPECT_THAT(warnings_of(Command::up, text), Not(warned));
}

}  // namespace
}  // namespace ringside::program
