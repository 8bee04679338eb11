#include "tests/support/scripted_peer.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/limits.h"

namespace ringside::support {

void Stage::receive_more() {
  if (socket_.receive(received_)) throw Over{};
}

std::string Stage::read(std::size_t bytes) {
  while (received_.size() < bytes) receive_more();
  const std::string taken = received_.substr(0, bytes);
  received_.erase(0, bytes);
  return taken;
}

std::string Stage::read_head() {
  std::size_t end = received_.find("\r\n\r\n");
  while (end == std::string::npos) {
    receive_more();
    end = received_.find("\r\n\r\n");
  }
  std::string head = read(end + 4);
  on_request_(head);
  return head;
}

std::string Stage::read_request() {
  std::string request = read_head();
  const std::string head = request;
  if (const auto length = field(head, "content-length"); !length.empty()) {
    request += read(std::stoul(length));
  } else if (field(head, "transfer-encoding") == "chunked") {
    while (true) {
      std::size_t end = received_.find("\r\n");
      while (end == std::string::npos) {
        receive_more();
        end = received_.find("\r\n");
      }
      const std::string line = read(end + 2);
      const std::size_t size = std::stoul(line, nullptr, 16);
      request += line + read(size + 2);
      if (size == 0) break;
    }
  }
  return request;
}

std::string Stage::read_to_end() {
  while (!socket_.receive(received_)) {
  }
  return received_;
}

void Stage::send(std::string_view bytes) {
  if (!socket_.send(bytes)) throw Over{};
}

void Stage::wait(const Gate& gate) {
  while (!gate.wait(std::chrono::milliseconds{20})) {
    if (stop_.wait(std::chrono::milliseconds{0})) throw Over{};
  }
}

void Stage::stall() {
  while (!socket_.receive(received_, limits::kMiB, std::chrono::milliseconds{-1})) {
  }
  throw Over{};
}

void Stage::close() {
  socket_.close();
  throw Over{};
}

void Stage::reset() {
  socket_.reset();
  throw Over{};
}

ScriptedPeer::ScriptedPeer(Script script)
    : script_(std::move(script)), acceptor_([this] { accept_all(); }) {}

ScriptedPeer::~ScriptedPeer() {
  stop_.open();
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
}

std::vector<std::string> ScriptedPeer::heads() const {
  const std::lock_guard lock(mutex_);
  return heads_;
}

void ScriptedPeer::accept_all() {
  while (auto socket = listener_.accept(&stop_)) {
    const auto on_request = [this](std::string_view head) {
      const std::lock_guard lock(mutex_);
      heads_.emplace_back(head);
      requests_.fetch_add(1);
    };
    Stage stage(std::move(*socket), connections_.fetch_add(1), on_request, stop_);
    threads_.emplace_back([this, owned = std::move(stage)]() mutable { play(owned); });
  }
}

void ScriptedPeer::play(Stage& stage) {
  try {
    script_(stage);
  } catch (const Stage::Over&) {  // It was cut short; the test sees it from the other side.
  }
  stage.socket_.close();
}

bool eventually(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  return true;
}

ScriptedPeer::Script always(std::string answer) {
  return [answer = std::move(answer)](Stage& stage) {
    while (true) {
      stage.read_request();
      stage.send(answer);
    }
  };
}

std::string answer(std::string_view status, std::string_view field_lines, std::string_view body) {
  std::string out("HTTP/1.1 ");
  out.append(status).append("\r\n").append(field_lines);
  out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return out.append(body);
}

std::string chunked(std::string_view bytes, std::size_t chunk_size_bytes) {
  std::string out;
  while (!bytes.empty()) {
    const auto chunk = bytes.substr(0, chunk_size_bytes);
    bytes.remove_prefix(chunk.size());
    std::array<char, 16> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), chunk.size(), 16).ptr;
    out.append(digits.data(), end).append("\r\n").append(chunk).append("\r\n");
  }
  return out.append("0\r\n\r\n");
}

std::string field(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at)) {
    at += 2;
    const auto line = head.substr(at, head.find("\r\n", at) - at);
    const std::size_t colon = line.find(':');
    if (colon != name.size() || strncasecmp(line.data(), name.data(), colon) != 0) continue;
    const auto value = line.substr(colon + 1);
    const std::size_t from = std::min(value.find_first_not_of(" \t"), value.size());
    return std::string(value.substr(from, value.find_last_not_of(" \t") + 1 - from));
  }
  return {};
}

}  // namespace ringside::support
