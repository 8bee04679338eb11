#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/raw_socket.h"
#include "tests/support/scripted_peer.h"

namespace ringside::support {

// One resource record: an address, or the name that an alias stands for, or with a port where a
// service is (SRV). Of an answer the records after an alias belong to what it stands for.
struct NameRecord {
  std::string value;
  std::uint32_t ttl_s = 60;
  std::uint16_t port = 0;
  std::string owner{};  // in the additional section: whose it is
};

struct NameReply {
  enum class Kind {
    records,      // those of the type that was asked for; possibly none
    absent,       // NXDOMAIN
    failure,      // SERVFAIL
    silence,      //
    garbage,      // an answer whose record can't be one
    after_noise,  // the records, after datagrams that are no answer
    truncated,    // the records over TCP; over UDP only that there are more
    cut,          // half of the records, with the word that there are more, over TCP too
    old,          // FORMERR to a question with EDNS, as servers say that do not know it
  };
  Kind kind = Kind::records;
  std::vector<NameRecord> records;
  std::vector<NameRecord> additional{};  // addresses, beside an answer that has records
};

enum class NameType : std::uint16_t { a = 1, aaaa = 28, srv = 33 };

// A DNS server on a free port of 127.0.0.1, over UDP and TCP (RFC 1035 §4.2), that says what it is
// told to. Of what it was not told about it says NXDOMAIN. An answer that is larger than a datagram
// may be (512 bytes, or what the question says, RFC 6891) comes over TCP. Thread-safe.
class NameServer {
 public:
  NameServer();
  ~NameServer();
  NameServer(const NameServer&) = delete;
  NameServer& operator=(const NameServer&) = delete;

  // `address:port`
  [[nodiscard]] std::string address() const { return peer_->address().text(); }
  void set(const std::string& name, NameReply reply);
  // How often the name's records were asked for; a question that is sent again counts once.
  [[nodiscard]] std::size_t questions(const std::string& name, NameType type = NameType::a) const;
  // How often somebody came over TCP.
  [[nodiscard]] std::size_t streams() const { return peer_->connections(); }

 private:
  [[nodiscard]] bool bind_beside_peer();
  void answer_datagrams();
  void answer_stream(Stage& stage) const;
  [[nodiscard]] NameReply reply_to(const std::string& name) const;

  mutable std::mutex mutex_;  // of these two
  std::map<std::string, NameReply> replies_;
  std::map<std::pair<std::string, NameType>, std::set<std::pair<std::uint16_t, std::string>>>
      questions_;  // port and id

  Gate stop_;
  Descriptor datagrams_;
  std::unique_ptr<ScriptedPeer> peer_;  // over TCP
  std::thread thread_;
};

}  // namespace ringside::support
