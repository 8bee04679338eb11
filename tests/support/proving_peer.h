#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "hop/peer_handshake.h"
#include "http1/head_parser.h"
#include "tests/support/raw_socket.h"
#include "tests/support/scripted_peer.h"

namespace ringside::support {

inline std::shared_ptr<const hop::PeerIdentity> peer_identity(hop::PeerRole role, std::string name,
                                                              const std::string& keys) {
  return std::make_shared<const hop::PeerIdentity>(hop::PeerIdentity{
      role, std::move(name), std::make_shared<const hop::PeerKeys>(*hop::PeerKeys::parse(keys))});
}

// A replica that proves membership, and then tells who it takes the other side for. It says nothing
// before `ready`.
inline ScriptedPeer::Script proving_replica(std::string name, const std::string& keys,
                                            const Gate* ready = nullptr) {
  const auto self = peer_identity(hop::PeerRole::replica, std::move(name), keys);
  return [self, ready](Stage& stage) {
    hop::PeerDoor door;
    while (true) {
      const std::string bytes = stage.read_request();
      if (ready != nullptr) stage.wait(*ready);
      http::RequestHead request;
      ASSERT_TRUE(http::parse_request_head(bytes, http::HeadLimits::defaults(), request));
      http::Response response;
      if (door.hear(self.get(), request, response).is_word) {
        stage.send(
            fmt::format("HTTP/1.1 {} Word\r\n{}\r\n", response.status, response.fields.text()));
        if (response.is_last) return stage.close();
      } else {
        stage.send(answer("200 OK", "", door.proven() != nullptr ? "member" : "stranger"));
      }
    }
  };
}

}  // namespace ringside::support
