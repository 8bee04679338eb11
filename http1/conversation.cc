#include "http1/conversation.h"

#include "http1/client_caller.h"
#include "http1/response_writer.h"

namespace ringside::http {
namespace {

class Conversation {
 public:
  Conversation(Connection& client, hop::Handler& handler, hop::AccessLog::Queue* log,
               const TurnTerms& terms)
      : client_(client),
        handler_(handler),
        log_(log),
        terms_(terms),
        caller_(client, terms.io),
        writer_(client, handler, terms.io) {}

  Task<void> run() {
    const HeadLimits head_limits =
        handler_.serves_hops() ? HeadLimits::between_hops() : HeadLimits::defaults();
    std::uint32_t requests = 0;
    for (bool goes_on = true; goes_on;) {
      const auto next = co_await next_request(client_, request_, terms_, head_limits);
      if (next && !*next) co_return;
      if (next && handler_.introduce(client_.remote(), request_, response_)) {
        ResponseWriter::Terms word;
        word.minor_version = request_.minor_version;
        const auto told = co_await write(word, request_.keep_alive);
        if (handler_.knows_caller()) client_.leave_place();
        goes_on = told.keep_alive && client_.body_done();
        continue;
      }
      const SteadyPoint began = client_.core().steady_now();
      handler_.begin(client_.remote());
      begin_record(next.has_value());
      goes_on = next && request_.keep_alive && ++requests < handler_.requests_per_connection();
      ResponseWriter::Terms terms;  // known before the content is pulled, which takes the views
      terms.is_head = next && request_.method == "HEAD";
      terms.minor_version = next ? request_.minor_version : 1;
      if (const auto admitted = next ? admit(client_.core(), request_) : Result<void>(next.error());
          !admitted) {
        handler_.refuse(admitted.error(), response_);
      } else {
        co_await handler_.answer(request_, caller_, response_);
      }
      auto written = co_await write(terms, goes_on);
      const bool can_be_told = written.sent.failure && written.sent.status == 0 &&
                               written.sent.failure->source != ErrorSource::client;
      if (can_be_told) {
        handler_.refuse(*written.sent.failure, response_);
        written = co_await write(terms, goes_on);
      }
      goes_on = written.keep_alive && client_.body_done();
      response_.begin(0, {});
      written.sent.took = std::chrono::duration_cast<std::chrono::microseconds>(
          client_.core().clock().steady_now() - began);
      handler_.sent(written.sent);
      end_record(written.sent);
    }
    co_await end_connection(client_, terms_);
  }

 private:
  // A request whose content is left unread is the last one.
  Task<ResponseWriter::Written> write(ResponseWriter::Terms terms, bool goes_on) {
    terms.keep_alive = goes_on && client_.body_done() && !client_.core().draining();
    return writer_.write(response_, terms);
  }

  void begin_record(bool head_was_read) {
    if (log_ == nullptr) return;
    record_.begin(client_.core().now(), client_.remote(), head_was_read ? &request_ : nullptr);
  }

  void end_record(const hop::Sent& sent) {
    if (log_ == nullptr) return;
    const hop::AccessNotes notes = handler_.access_notes();
    record_.client = notes.client;
    record_.replica = notes.replica;
    record_.status = sent.status;
    record_.end(notes.outcome, notes.country, sent.took, sent.body_bytes);
    log_->write(record_);
  }

  Connection& client_;
  hop::Handler& handler_;
  hop::AccessLog::Queue* const log_;
  const TurnTerms& terms_;
  ClientCaller caller_;
  ResponseWriter writer_;
  RequestHead request_;
  Response response_;
  hop::AccessRecord record_;
};

}  // namespace

Task<void> converse(Connection& client, hop::Handler& handler, hop::AccessLog::Queue* log,
                    const TurnTerms& terms) {
  if (handler.expects_proxy_header(client.remote())) {
    const auto told = co_await read_proxy_header(client);
    if (!told) co_return;
  }
  Conversation conversation(client, handler, log, terms);
  co_await conversation.run();
}

}  // namespace ringside::http
