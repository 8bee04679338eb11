#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "cache/core_state.h"
#include "cache/inquiry.h"
#include "cache/messages.h"
#include "cache/shared_fetch.h"
#include "http/access_record.h"
#include "http/connection.h"
#include "http/head.h"

namespace ringside::cache {

// One connection to a replica from accept to close: the replica's half of the life of a request,
// again and again. Its strings and vectors are reused from request to request.
class Session {
 public:
  Session(CoreState& state, http::Connection& client);
  ~Session();
  http::Task<void> run();

 private:
  void begin(bool head_was_read);
  Result<void> look();
  [[nodiscard]] StoredPointer find_usable();
  http::Task<void> answer_stored(StoredPointer stored);
  http::Task<void> answer_shared();
  http::Task<void> answer_from_flight(SharedFetch& fetch);
  http::Task<void> stream(Flight::Reader& reader, http::Coding coding);
  http::Task<void> pass_on();
  http::Task<void> carry_tunnel(http::Exchange& exchange);
  http::Task<void> relay_answer(http::Exchange& exchange);
  http::Task<void> purge();
  http::Task<void> answer_options();
  http::Task<void> refuse(const Error& error);
  http::Task<bool> write(std::span<const http::asio::const_buffer> buffers);
  [[nodiscard]] AnswerNotes notes() const noexcept;
  void count(SteadyPoint began) noexcept;

  CoreState& state_;
  http::Connection& client_;
  std::shared_ptr<const Settings> settings_;  // the request's
  http::RequestHead request_;
  Inquiry inquiry_;
  Store::Found found_;
  http::CacheStatus status_;  // our member for the request in hand
  metrics::Outcome outcome_ = metrics::Outcome::error;
  std::uint64_t body_bytes_ = 0;
  http::AccessRecord record_;  // for the access log, where there is one
  std::string head_;           // scratch for heads that are written
  bool keep_alive_ = true;
  std::uint32_t requests_ = 0;
};

}  // namespace ringside::cache
