#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "net/core.h"
#include "net/deadlines.h"
#include "net/loop.h"
#include "net/name_channel.h"

namespace ringside::net {

// One question for the addresses of a name, of both families at once: by /etc/hosts, then by the
// name servers of /etc/resolv.conf, with its search list. It has a channel of its own, so
// that a changed resolv.conf is followed without a restart, that it ends without touching another,
// and that each question goes out from a port of its own. On the core's thread; nothing in it
// blocks but the reading of those files.
class NameLookup final : public Closable,
                         private Deadline,
                         public std::enable_shared_from_this<NameLookup> {
 public:
  // Called once, on the core's thread and never from within start(); not after abandon().
  using Done = std::function<void(NameAnswer)>;

  // `servers`: `address:port,…` to be asked instead of resolv.conf's; empty: those. It ends after
  // limits::resolve_timeout, and when the core stops.
  [[nodiscard]] static std::shared_ptr<NameLookup> start(Core& core, const std::string& name,
                                                         const std::string& servers, Done done);
  NameLookup(Core& core, Done done);  // for start()
  ~NameLookup() override;

  // Ends it without an answer, at once.
  void abandon() noexcept;
  void close() noexcept override;

 private:
  // A socket of the channel's, which opens and closes it; we only wait until it is ready.
  struct Watched;

  void begin(const std::string& name, const std::string& servers);
  void close_channel() noexcept;
  // The channel wants to know when the socket is readable or writable; neither: it is about to
  // close it.
  void watch(int socket, bool readable, bool writable) noexcept;
  void wait(const std::shared_ptr<Watched>& watched);
  void wait_for(const std::shared_ptr<Watched>& watched, bool to_write);
  void ready(const std::shared_ptr<Watched>& watched, bool to_write);
  void set_timer();
  void conclude(NameAnswer answer);
  void fail(std::string reason);
  void expire() noexcept override;

  Core& core_;
  Timer timer_;  // the channel's own: when it asks again
  Done done_;
  NameAnswer answer_;
  bool concluded_ = false;
  std::optional<NameChannel> channel_;
  std::map<int, std::shared_ptr<Watched>> sockets_;
};

}  // namespace ringside::net
