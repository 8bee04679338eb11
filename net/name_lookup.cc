#include "net/name_lookup.h"

#include <fmt/format.h>

#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <utility>

#include "base/limits.h"

namespace ringside::net {
struct NameLookup::Watched {
  using Stream = asio::posix::basic_stream_descriptor<Executor>;
  explicit Watched(const Executor& executor, int the_socket)
      : stream(executor), socket(the_socket) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  // c-ares closes it.
  ~Watched() {
    if (stream.is_open()) stream.release();
  }

  struct Direction {
    bool wanted = false;
    bool waiting = false;
  };
  Stream stream;
  const int socket;
  Direction read;
  Direction write;
};

NameLookup::NameLookup(Core& core, Done done)
    : Deadline(core.deadlines()),
      core_(core),
      timer_(core.loop().executor()),
      done_(std::move(done)) {}

NameLookup::~NameLookup() { abandon(); }

std::shared_ptr<NameLookup> NameLookup::start(Core& core, const std::string& name,
                                              const std::string& servers, Done done) {
  auto lookup = std::make_shared<NameLookup>(core, std::move(done));
  lookup->begin(name, servers);
  return lookup;
}

void NameLookup::begin(const std::string& name, const std::string& servers) {
  core_.add(*this);
  if (core_.stopped()) return close();
  Deadline::set(core_.steady_now() + limits::resolve_timeout);
  NameChannel::Terms terms;
  terms.servers = servers;
  channel_.emplace(terms, [this](int socket, bool readable, bool writable) {
    watch(socket, readable, writable);
  });
  if (!channel_->failure().empty()) return fail(channel_->failure());
  channel_->find_addresses(name, [this](NameAnswer answer) { conclude(std::move(answer)); });
  set_timer();
}

// It tells of each of its sockets, so that none is watched afterwards.
void NameLookup::close_channel() noexcept {
  channel_.reset();
  sockets_.clear();
}

void NameLookup::watch(int socket, bool readable, bool writable) noexcept {
  const auto found = sockets_.find(socket);
  if (!readable && !writable) {
    if (found != sockets_.end()) sockets_.erase(found);
    return;
  }
  if (found != sockets_.end()) {
    found->second->read.wanted = readable;
    found->second->write.wanted = writable;
    return wait(found->second);
  }
  auto watched = std::make_shared<Watched>(core_.loop().executor(), socket);
  boost::system::error_code code;
  watched->stream.assign(socket, code);
  if (code) return fail(fmt::format("cannot wait: {}", code.message()));
  watched->read.wanted = readable;
  watched->write.wanted = writable;
  sockets_.emplace(socket, watched);
  wait(watched);
}

void NameLookup::wait(const std::shared_ptr<Watched>& watched) {
  if (watched->read.wanted && !watched->read.waiting) wait_for(watched, false);
  if (watched->write.wanted && !watched->write.waiting) wait_for(watched, true);
}

// The waiting holds neither of them: both may be gone, and the number be another socket's, when it
// comes to its end.
void NameLookup::wait_for(const std::shared_ptr<Watched>& watched, bool to_write) {
  (to_write ? watched->write : watched->read).waiting = true;
  watched->stream.async_wait(
      to_write ? Watched::Stream::wait_write : Watched::Stream::wait_read,
      [lookup = weak_from_this(), weak = std::weak_ptr(watched), to_write](const auto& code) {
        const auto self = lookup.lock();
        const auto still = weak.lock();
        if (code != asio::error::operation_aborted && self && still) self->ready(still, to_write);
      });
}

void NameLookup::ready(const std::shared_ptr<Watched>& watched, bool to_write) {
  auto& direction = to_write ? watched->write : watched->read;
  direction.waiting = false;
  if (!channel_ || !direction.wanted) return;
  channel_->process(watched->socket, !to_write, to_write);
  const auto found = sockets_.find(watched->socket);
  if (found != sockets_.end() && found->second == watched) wait(watched);
  set_timer();
}

void NameLookup::set_timer() {
  if (!channel_) return;
  const auto due = channel_->due_in();
  if (!due) return;
  timer_.expires_after(*due);
  timer_.async_wait([lookup = weak_from_this()](const auto& code) {
    const auto self = lookup.lock();
    if (code || !self || !self->channel_) return;
    self->channel_->process();
    self->set_timer();
  });
}

// Only noted here, for we may be within the channel, which can't be closed then, or within the
// core's round of its Closables.
void NameLookup::conclude(NameAnswer answer) {
  if (concluded_) return;
  concluded_ = true;
  answer_ = std::move(answer);
  core_.post([self = shared_from_this()] {
    auto done = std::exchange(self->done_, nullptr);
    self->abandon();
    if (done) done(std::move(self->answer_));
  });
}

void NameLookup::fail(std::string reason) {
  NameAnswer answer;
  answer.reason = std::move(reason);
  conclude(std::move(answer));
}

void NameLookup::abandon() noexcept {
  done_ = nullptr;
  concluded_ = true;
  Deadline::clear();
  timer_.cancel();
  close_channel();
}

void NameLookup::close() noexcept { fail("broken off"); }

void NameLookup::expire() noexcept {
  fail(fmt::format("no answer within {} ms", limits::resolve_timeout.count()));
}

}  // namespace ringside::net
