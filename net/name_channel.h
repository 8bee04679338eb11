#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "net/name_answer.h"
#include "net/search_list.h"

struct ares_channeldata;

namespace ringside::net {

// The one place that drives c-ares: a channel of its own, its questions and their answers. Somebody
// else waits, by Asio or poll(2), for the sockets that it tells of, and calls it when one is ready
// or its time has come. On one thread; nothing in it blocks but the reading of resolv.conf and
// /etc/hosts, which each channel does anew.
class NameChannel {
 public:
  struct Terms {
    std::string servers;  // `address:port,…` to be asked instead of resolv.conf's; empty: those
    std::string resolv_conf;                                 // a file; empty: the system's
    Milliseconds try_timeout = limits::resolve_try_timeout;  // doubling with each round
    int tries = limits::resolve_tries;                       // rounds through the name servers
    int datagram_size_bytes = 0;  // of an answer, asked for by EDNS; 0: without
  };
  // A socket, which the channel opens and closes, is to be watched for that; for neither: it is
  // about to be closed.
  using Watch = std::function<void(int socket, bool readable, bool writable)>;
  // Called once, from within any call to the channel but these; also when the channel ends.
  using TakeAddresses = std::function<void(NameAnswer)>;
  // `status`: as c-ares numbers them; the message: where it is ARES_SUCCESS.
  using TakeMessage = std::function<void(int status, std::span<const unsigned char> message)>;

  NameChannel(const Terms& terms, Watch watch);
  ~NameChannel();  // tells of each of its sockets before it is closed
  NameChannel(const NameChannel&) = delete;
  NameChannel& operator=(const NameChannel&) = delete;

  // Why nobody can be asked; empty: all is well, and only then the rest may be called.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

  // Of both families at once: by /etc/hosts, then by the name servers, with the search list.
  void find_addresses(const std::string& name, TakeAddresses take);
  // By the name servers, of this very name: the records of one type (RFC 1035 §3.2.2).
  void find_records(const std::string& name, int type, TakeMessage take);
  [[nodiscard]] SearchList search_list();

  // That socket is ready. It may be closed within.
  void process(int socket, bool readable, bool writable);
  // What is due by time.
  void process();
  // How long until something is; absent: nothing is asked.
  [[nodiscard]] std::optional<Milliseconds> due_in() const;
  void cancel();  // all questions, which end with a failure

 private:
  Watch watch_;
  std::string failure_;
  ares_channeldata* channel_ = nullptr;
};

}  // namespace ringside::net
