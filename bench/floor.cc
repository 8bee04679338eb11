// The floor: the least that an answer can cost on this machine, for bench/run to measure beside the
// servers. It reads no head, keeps no limit and no deadline, and is no server for anything else.
//
//   floor serve PORT BYTES STATUS keep|close|count
//       Each read is answered with the same bytes. close: then the connection ends. count: with as
//       many answers as ends of heads came, for clients that pipeline.
//   floor relay PORT UPSTREAM_PORT...
//       Bytes go to and fro between each connection and one of its own to the next upstream.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t most_answers = 64;
constexpr std::string_view end_of_head = "\r\n\r\n";

enum class Kind : std::uint8_t { closed, listener, client, upstream };

struct Socket {
  Kind kind = Kind::closed;
  int peer = -1;          // of a relay
  std::size_t ended = 0;  // how much of end_of_head was last seen
};

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): there is one thread
}

int number(std::string_view text) {
  int value = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9' || value > 100'000'000) fail("not a number");
    value = value * 10 + (digit - '0');
  }
  return value;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// All of it, whatever the socket's buffer takes at once.
bool send_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      if (poll(&room, 1, -1) < 0) return false;
    } else {
      return false;
    }
  }
  return true;
}

class Floor {
 public:
  explicit Floor(int port) : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in address = loopback(port);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the system call takes
    if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener, 4096) != 0) {
      fail("listen");
    }
    add(listener, Kind::listener);
  }

  std::string answers;  // the one to give, most_answers times
  std::size_t answer_size = 0;
  bool closes = false;
  bool counts = false;
  std::vector<int> upstreams;

  [[noreturn]] void run() {
    std::array<epoll_event, 512> events{};
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
        const Kind kind = of(descriptor).kind;
        if (kind == Kind::listener) {
          accept_one(descriptor);
        } else if (kind != Kind::closed) {
          read_one(descriptor);
        }
      }
    }
  }

 private:
  Socket& of(int descriptor) { return sockets_[static_cast<std::size_t>(descriptor)]; }

  void add(int descriptor, Kind kind) {
    if (static_cast<std::size_t>(descriptor) >= sockets_.size()) {
      sockets_.resize(static_cast<std::size_t>(descriptor) * 2 + 64);
    }
    of(descriptor) = {kind, -1, 0};
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  }

  void accept_one(int listener) {
    const int client = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    add(client, Kind::client);
    if (upstreams.empty()) return;
    const int upstream = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (upstream < 0) fail("socket");
    const sockaddr_in address = loopback(upstreams[turn_++ % upstreams.size()]);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the system call takes
    if (connect(upstream, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fail("connect");
    }
    add(upstream, Kind::upstream);
    of(client).peer = upstream;
    of(upstream).peer = client;
  }

  void read_one(int descriptor) {
    const ssize_t size = recv(descriptor, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) return end(descriptor);
    const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(size));
    Socket& socket = of(descriptor);
    const bool sent =
        socket.peer >= 0 ? send_all(socket.peer, bytes)
                         : send_all(descriptor, {answers.data(), answer_size * due(socket, bytes)});
    if (!sent || (closes && socket.peer < 0)) end(descriptor);
  }

  std::size_t due(Socket& socket, std::string_view bytes) const {
    if (!counts) return 1;
    std::size_t heads = 0;
    for (const char byte : bytes) {
      socket.ended = byte == end_of_head[socket.ended] ? socket.ended + 1 : (byte == '\r' ? 1 : 0);
      if (socket.ended < end_of_head.size()) continue;
      socket.ended = 0;
      ++heads;
    }
    if (heads > most_answers) fail("too many requests at once");
    return heads;
  }

  void end(int descriptor) {
    const int peer = of(descriptor).peer;
    for (const int each : {descriptor, peer}) {
      if (each < 0) continue;
      of(each).kind = Kind::closed;
      close(each);
    }
  }

  int epoll_;
  std::vector<Socket> sockets_;
  std::size_t turn_ = 0;
  std::array<char, 1 << 17> buffer_{};
};

void set_answer(Floor& floor, int bytes, std::string_view status, std::string_view manner) {
  floor.closes = manner == "close";
  floor.counts = manner == "count";
  std::string answer = "HTTP/1.1 " + std::string(status) + " Answer\r\n";
  answer += "Content-Type: application/octet-stream\r\nCache-Control: max-age=3600\r\nAge: 1\r\n";
  if (floor.closes) answer += "Connection: close\r\n";
  if (status != "304") answer += "Content-Length: " + std::to_string(bytes) + "\r\n";
  answer += end_of_head.substr(2);
  if (status != "304") answer.append(static_cast<std::size_t>(bytes), 'x');
  floor.answer_size = answer.size();
  for (std::size_t i = 0; i < (floor.counts ? most_answers : 1); ++i) floor.answers += answer;
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string_view> arguments(words + 1, words + count);
  const bool serves = arguments.size() == 5 && arguments[0] == "serve";
  const bool relays = arguments.size() >= 3 && arguments[0] == "relay";
  if (!serves && !relays) {
    std::fputs("floor serve PORT BYTES STATUS keep|close|count, floor relay PORT UPSTREAM...\n",
               stderr);
    return 2;
  }
  Floor floor(number(arguments[1]));
  if (serves) {
    set_answer(floor, number(arguments[2]), arguments[3], arguments[4]);
  } else {
    for (std::size_t i = 2; i < arguments.size(); ++i) {
      floor.upstreams.push_back(number(arguments[i]));
    }
  }
  floor.run();
}
