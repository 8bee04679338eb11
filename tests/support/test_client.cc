#include "tests/support/test_client.h"

#include "tests/support/scripted_peer.h"

namespace ringside::support {

std::string Reply::field(std::string_view name) const { return support::field(head, name); }

bool TestClient::receive_more(Reply& reply) {
  reply.ended = socket_.receive(received_);
  return !reply.ended;
}

bool TestClient::take_until(Reply& reply, std::string_view wanted, std::string& into) {
  std::size_t at = received_.find(wanted);
  while (at == std::string::npos) {
    if (!receive_more(reply)) return false;
    at = received_.find(wanted);
  }
  into = received_.substr(0, at + wanted.size());
  received_.erase(0, at + wanted.size());
  return true;
}

bool TestClient::take_bytes(Reply& reply, std::size_t bytes) {
  bool more = true;
  while (received_.size() < bytes && more) more = receive_more(reply);
  reply.body += received_.substr(0, bytes);
  received_.erase(0, bytes);
  return more;
}

bool TestClient::take_chunks(Reply& reply) {
  while (true) {
    std::string line;
    if (!take_until(reply, "\r\n", line)) return false;
    const std::size_t size = std::stoul(line, nullptr, 16);
    if (!take_bytes(reply, size) || !take_until(reply, "\r\n", line)) return false;
    if (size == 0) return true;
  }
}

Reply TestClient::read(std::string_view method) {
  Reply reply;
  if (!take_until(reply, "\r\n\r\n", reply.head)) return reply;
  reply.status = std::stoi(reply.head.substr(9, 3));
  if (method == "HEAD" || reply.status < 200 || reply.status == 204 || reply.status == 304) {
    reply.whole = true;
  } else if (reply.field("transfer-encoding") == "chunked") {
    reply.whole = take_chunks(reply);
  } else if (const auto length = reply.field("content-length"); !length.empty()) {
    reply.whole = take_bytes(reply, std::stoul(length));
  } else {
    while (receive_more(reply)) {
    }
    reply.body.swap(received_);
    reply.whole = reply.ended == RawSocket::End::closed;
  }
  return reply;
}

Reply TestClient::ask(std::string_view request) {
  send(request);
  return read(request.substr(0, request.find(' ')));
}

Reply TestClient::get(std::string_view target, std::string_view field_lines) {
  return ask(get_request(target, field_lines));
}

std::string TestClient::read_until(std::string_view wanted) {
  Reply reply;
  std::string taken;
  if (!take_until(reply, wanted, taken)) taken.swap(received_);
  return taken;
}

RawSocket::End TestClient::read_to_end(std::string* rest) {
  Reply reply;
  while (receive_more(reply)) {
  }
  if (rest != nullptr) rest->append(received_);
  return *reply.ended;
}

std::string get_request(std::string_view target, std::string_view field_lines) {
  std::string request("GET ");
  request.append(target).append(" HTTP/1.1\r\nHost: a.test\r\n");
  return request.append(field_lines).append("\r\n");
}

}  // namespace ringside::support
