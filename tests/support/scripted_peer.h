#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/address.h"
#include "tests/support/raw_socket.h"

namespace ringside::support {

// One accepted connection of a ScriptedPeer, as its script sees it. Where the other side ends
// before what a script waits for has come, the script ends too, quietly.
class Stage {
 public:
  // Which of the peer's connections this is, from 0.
  [[nodiscard]] std::size_t connection() const noexcept { return connection_; }

  // Reads one request with its body and returns it, head and body as they came; counts it.
  std::string read_request();
  // Reads one request's head only.
  std::string read_head();
  // Reads this many bytes of what follows.
  std::string read(std::size_t bytes);
  // Reads until the other side ends, and returns what came.
  std::string read_to_end();
  void send(std::string_view bytes);
  // Says nothing until the gate opens, or the peer stops.
  void wait(const Gate& gate);
  // Says nothing until the other side ends, or the peer stops.
  void stall();
  void close();
  void reset();

 private:
  friend class ScriptedPeer;
  struct Over {};  // ends a script
  Stage(RawSocket socket, std::size_t connection, std::function<void(std::string_view)> on_request,
        const Gate& stop)
      : socket_(std::move(socket)),
        connection_(connection),
        on_request_(std::move(on_request)),
        stop_(stop) {}
  void receive_more();

  RawSocket socket_;
  const std::size_t connection_;
  std::function<void(std::string_view)> on_request_;
  const Gate& stop_;
  std::string received_;
};

// A TCP server on a free port of 127.0.0.1 that does what a script says, right or wrong: one thread
// and one run of the script for each connection.
class ScriptedPeer {
 public:
  using Script = std::function<void(Stage&)>;
  explicit ScriptedPeer(Script script);
  ~ScriptedPeer();  // ends all scripts
  ScriptedPeer(const ScriptedPeer&) = delete;
  ScriptedPeer& operator=(const ScriptedPeer&) = delete;

  [[nodiscard]] const Endpoint& address() const noexcept { return listener_.address(); }
  [[nodiscard]] std::size_t connections() const noexcept { return connections_.load(); }
  [[nodiscard]] std::size_t requests() const noexcept { return requests_.load(); }
  // The heads of all requests so far.
  [[nodiscard]] std::vector<std::string> heads() const;

 private:
  void accept_all();
  void play(Stage& stage);

  Script script_;
  RawListener listener_;
  Gate stop_;
  std::atomic<std::size_t> connections_{0};
  std::atomic<std::size_t> requests_{0};
  mutable std::mutex mutex_;  // of all below
  std::vector<std::string> heads_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

// Polls until `condition` holds; false: it did not within the test's patience.
bool eventually(const std::function<bool()>& condition);

// A script that answers every request on the connection alike.
[[nodiscard]] ScriptedPeer::Script always(std::string answer);

// `HTTP/1.1 <status>` with those field lines (each with its CRLF), Content-Length and body.
[[nodiscard]] std::string answer(std::string_view status, std::string_view field_lines,
                                 std::string_view body);

// `bytes` in the chunked coding, in chunks of that size.
[[nodiscard]] std::string chunked(std::string_view bytes, std::size_t chunk_size_bytes);

// The value of the first field of that name in a head; empty where there is none.
[[nodiscard]] std::string field(std::string_view head, std::string_view name);

}  // namespace ringside::support
