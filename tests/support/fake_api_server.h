#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/raw_socket.h"
#include "tests/support/scripted_peer.h"

namespace ringside::support {

// A StatefulSet, as its owner applies it.
struct FakeSet {
  std::string name = "cache";
  std::string service = "cache";
  std::uint64_t replicas = 2;
  std::string weight;  // its annotation; empty: none
};

// A slice of a service; its endpoints are ready pods.
struct FakeSlice {
  struct Pod {
    std::string name;
    std::string address;
    bool ready = true;
  };
  std::string name;
  std::string service = "cache";
  std::vector<Pod> pods;
  std::uint16_t port = 8080;
};

// The part of a Kubernetes API server that discovery speaks to, in plain HTTP on 127.0.0.1: one
// namespace with one StatefulSet and some slices, lists and watches of them. It does the right
// thing until it is told otherwise. Thread-safe.
class FakeApiServer {
 public:
  enum class Kind { group, list_sets, watch_sets, list_slices, watch_slices, unknown };
  // Plays for one request, after its head was read.
  using Script = std::function<void(Stage&)>;

  FakeApiServer();
  [[nodiscard]] const Endpoint& address() const noexcept { return peer_.address(); }

  // Changes, told to all who watch.
  void apply(const FakeSet& set);
  void delete_set();
  void apply(const FakeSlice& slice);
  void delete_slice(const std::string& name);

  // Requests of that kind are answered by those scripts, one each, the first one first.
  void once(Kind kind, Script script);
  // Requests of that kind are answered by this one from now on; null: as they should.
  void always(Kind kind, Script script);
  // Cuts all watches of that kind.
  void cut(Kind kind);
  // Everything is cut, and whoever connects is cut at once, until it is back.
  void go_away();
  void come_back();
  // Forgets its history: who resumes a watch is told that it is gone.
  void compact();

  [[nodiscard]] std::size_t requests(Kind kind) const;
  // The heads of those requests, in the order in which they came.
  [[nodiscard]] std::vector<std::string> heads(Kind kind) const;
  [[nodiscard]] std::uint64_t version() const;  // of the newest change

  // For scripts. What the right answer to a list would be, as a body.
  [[nodiscard]] std::string list_body(Kind kind, const std::string& service = "cache") const;
  // An event as a watch tells it, with its line's end: of the present state of that object.
  [[nodiscard]] std::string event_of_set(const std::string& type) const;
  [[nodiscard]] std::string event_of_slice(const std::string& type, const std::string& name) const;
  [[nodiscard]] static std::string bookmark(const std::string& kind, std::uint64_t version);
  [[nodiscard]] static std::string error_event(int code, const std::string& reason);
  [[nodiscard]] static std::string status_body(int code, const std::string& reason);
  // The head of a watch's answer; its body is sent in chunks.
  [[nodiscard]] static std::string watch_head();
  [[nodiscard]] static std::string chunk(std::string_view bytes);

 private:
  struct Change {
    std::uint64_t version;
    Kind kind;  // of the watch that tells it
    std::string service;
    std::string line;
  };
  struct Held {
    FakeSlice slice;
    std::uint64_t version;
  };

  void play(Stage& stage);
  struct Part {
    Script script;           // null: the right answer
    std::uint64_t cuts = 0;  // of that kind so far
  };
  [[nodiscard]] Part part_for(Kind kind, const std::string& head);
  void answer_list(Stage& stage, Kind kind, const std::string& target);
  void answer_watch(Stage& stage, Kind kind, const std::string& target, std::uint64_t cuts);
  void tell(Kind kind, const std::string& service, const std::string& line);  // locked
  void wake();                                                                // locked
  [[nodiscard]] std::string set_json() const;                                 // locked

  mutable std::mutex mutex_;  // of all below but the peer
  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t set_version_ = 0;  // 0: there is none
  FakeSet set_;
  std::map<std::string, Held> slices_;
  std::vector<Change> changes_;
  bool away_ = false;
  std::map<Kind, std::uint64_t> cuts_;
  std::map<Kind, std::deque<Script>> once_;
  std::map<Kind, Script> always_;
  std::map<Kind, std::vector<std::string>> heads_;
  std::vector<std::shared_ptr<Gate>> waiting_;
  ScriptedPeer peer_;  // last: its scripts use all of the above
};

}  // namespace ringside::support
