#include "http1/conversation.h"

#include <string>
#include <string_view>

#include "http1/client_caller.h"
#include "http1/response_writer.h"

namespace ringside::http {
namespace {

// The request as it came, and what came behind it.
std::string text_of(const RequestHead& request, std::string_view rest) {
  std::string text(request.method);
  text.append(" ").append(request.target).append(" HTTP/1.1\r\n");
  for (const Field& field : request.fields) {
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  return text.append("\r\n").append(rest);
}

class Conversation {
 public:
  Conversation(Connection& client, hop::Handler& handler, hop::AccessLog::Queue* log,
               const TurnTerms& terms, Crossing* crossing)
      : client_(client),
        handler_(handler),
        log_(log),
        crossing_(crossing),
        terms_(terms),
        caller_(client, terms.io),
        writer_(client, handler, terms.io),
        in_hand_(client.core(), handler, log) {}

  Task<void> run() {
    const HeadLimits head_limits =
        handler_.serves_hops() ? HeadLimits::between_hops() : HeadLimits::defaults();
    for (bool goes_on = true; goes_on;) {
      in_hand_.rest();
      client_.rest();
      client_.set_deadline(terms_.idle);
      const auto begun = co_await client_.wait_for_message();
      if (!begun || !*begun) co_return;
      RequestHead& request = in_hand_.head();
      client_.set_deadline(terms_.head);
      auto read = client_.take_request(head_limits, request);
      if (!read) read = co_await client_.read_request(head_limits, request);
      const Result<bool> next = goes_on_after(*read);
      if (next && !*next) co_return;
      if (next && handler_.introduce(client_.remote(), request, in_hand_.response())) {
        goes_on = co_await tell_word();
        if (handler_.caller() != nullptr) client_.leave_place();
        continue;
      }
      if (next && crossing_ != nullptr) {
        if (const auto core = crossing_->begun_on(request, handler_)) {
          co_return client_.move_to({*core, text_of(request, client_.raw()), handler_.caller()});
        }
        if (crossing_->takes_connection(request, handler_, in_hand_.response())) {
          const bool told = co_await tell_word();
          if (told) co_await crossing_->carry_on(client_, handler_, log_);
          co_return;
        }
        if (const auto waiting = crossing_->begun(request, handler_)) {
          goes_on = co_await give_begun(*waiting);
          continue;
        }
      }
      goes_on = co_await answer(next);
    }
    co_await end_connection(client_, terms_);
  }

 private:
  // What of the request decides how its response is framed: to be known before the content is
  // pulled, which takes the views.
  [[nodiscard]] ResponseWriter::Terms terms_of_request(bool head_was_read) {
    const RequestHead& request = in_hand_.head();
    ResponseWriter::Terms terms;
    terms.is_head = head_was_read && request.method == "HEAD";
    terms.minor_version = head_was_read ? request.minor_version : 1;
    return terms;
  }

  // A request whose content is left unread is the last one.
  void allow_next(ResponseWriter::Terms& terms, bool goes_on) {
    terms.keep_alive = goes_on && client_.body_done() && !client_.core().draining();
  }

  // The answer to what is not counted as a request.
  Task<bool> tell_word() {
    ResponseWriter::Terms terms;
    terms.minor_version = in_hand_.head().minor_version;
    // In a drain, too: a proof of membership goes on while anybody is let in.
    terms.keep_alive =
        in_hand_.head().keep_alive && client_.body_done() && !client_.core().doors_are_closed();
    const auto told = co_await writer_.write(in_hand_.response(), terms);
    co_return told.keep_alive&& client_.body_done();
  }

  Task<bool> answer(const Result<bool>& head) {
    Response& response = in_hand_.response();
    in_hand_.begin(client_.remote(), head.has_value());
    const bool goes_on =
        head && in_hand_.head().keep_alive && ++requests_ < handler_.requests_per_connection();
    ResponseWriter::Terms terms = terms_of_request(head.has_value());
    const bool advertises =
        head && crossing_ != nullptr && crossing_->advertises_to(in_hand_.head(), handler_);
    const auto admitted =
        head ? admit(client_.core(), in_hand_.head()) : Result<void>(head.error());
    if (!admitted) {
      handler_.refuse(admitted.error(), response);
    } else {
      co_await handler_.answer(in_hand_.head(), caller_, response);
    }
    if (advertises) crossing_->advertise(response);
    allow_next(terms, goes_on);
    auto written = co_await writer_.write(response, terms);
    if (refused_instead(written, in_hand_)) written = co_await writer_.write(response, terms);
    in_hand_.end(written.sent);
    co_return written.keep_alive&& client_.body_done();
  }

  Task<bool> give_begun(hop::RequestInHand& begun) {
    ResponseWriter::Terms terms = terms_of_request(true);
    const bool goes_on =
        in_hand_.head().keep_alive && ++requests_ < begun.handler().requests_per_connection();
    allow_next(terms, goes_on);
    terms.cut_without_reset = true;
    ResponseWriter writer(client_, begun.handler(), terms_.io);
    auto written = co_await writer.write(begun.response(), terms);
    if (refused_instead(written, begun)) written = co_await writer.write(begun.response(), terms);
    begun.end(written.sent);
    co_return written.keep_alive&& client_.body_done();
  }

  // What has failed before anything of it was sent is answered once more.
  static bool refused_instead(const ResponseWriter::Written& written, hop::RequestInHand& in_hand) {
    const bool can_be_told = written.sent.failure && written.sent.status == 0 &&
                             written.sent.failure->source != ErrorSource::client;
    if (can_be_told) in_hand.handler().refuse(*written.sent.failure, in_hand.response());
    return can_be_told;
  }

  Connection& client_;
  hop::Handler& handler_;
  hop::AccessLog::Queue* const log_;
  Crossing* const crossing_;
  const TurnTerms& terms_;
  ClientCaller caller_;
  ResponseWriter writer_;
  hop::RequestInHand in_hand_;
  std::uint32_t requests_ = 0;
};

}  // namespace

Task<void> converse(Connection& client, hop::Handler& handler, hop::AccessLog::Queue* log,
                    const TurnTerms& terms, Crossing* crossing) {
  if (handler.expects_proxy_header(client.remote())) {
    const auto told = co_await read_proxy_header(client);
    if (!told) co_return;
  }
  if (client.caller() != nullptr) handler.know(client.caller());
  Conversation conversation(client, handler, log, terms, crossing);
  co_await conversation.run();
}

}  // namespace ringside::http
