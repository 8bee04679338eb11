// A client that keeps to a rate, for the latencies that bench/run tells of servers that are not
// at their limit; wrk asks as fast as it gets answers.
//
//   paced PORT CONNECTIONS RATE SECONDS SIZE PATHS SEED
//
// Asks for /SIZE/1 to /SIZE/PATHS, drawn log-uniformly, at random moments, RATE of them a second on
// average (a Poisson process). A moment at which all connections are busy is not forgotten: its
// request goes out when one is free, and what it waited counts as latency. Prints what load.lua
// does.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr std::chrono::seconds patience{10};  // for what is under way at the end

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): there is one thread
}

unsigned number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail("not a number");
  return value;
}

struct Connection {
  int descriptor;
  Clock::time_point due;  // of the request that is under way
  std::string came;
};

class Load {
 public:
  Load(int port, unsigned rate, unsigned size, unsigned paths, unsigned seed)
      : port_(port), size_(size), scale_(std::log(paths + 1.0)), engine_(seed), pause_(rate) {
    for (unsigned path = 1; path <= paths; ++path) {
      requests_.push_back("GET /" + std::to_string(size) + "/" + std::to_string(path) +
                          " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n");
    }
  }

  void connect_all(unsigned count) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (unsigned i = 0; i < count; ++i) {
      const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): what the system call takes
      if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        fail("connect");
      }
      const int on = 1;
      setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u32 = i;
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
      connections_.push_back({descriptor, {}, {}});
      idle_.push_back(i);
    }
  }

  void run(std::chrono::seconds duration) {
    const Clock::time_point began = Clock::now();
    Clock::time_point next = began;
    std::array<epoll_event, 512> events{};
    while (next < began + duration || !waiting_.empty() || under_way() > 0) {
      const Clock::time_point now = Clock::now();
      if (now > began + duration + patience) break;
      for (; next <= now && next < began + duration; next += pause()) waiting_.push_back(next);
      while (!waiting_.empty() && !idle_.empty()) send_one();
      // It spins: a sleep would be late by more than what is measured.
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 0);
      for (int i = 0; i < count; ++i) receive(events[static_cast<std::size_t>(i)].data.u32);
      if (next >= began + duration && connections_.size() == broken_) break;
    }
    duration_ = Clock::now() - began;
  }

  void tell() {
    std::sort(latencies_us_.begin(), latencies_us_.end());
    const std::size_t unanswered = waiting_.size() + under_way();
    std::printf(
        "{\"requests\": %zu, \"duration_us\": %lld, \"bytes\": %llu, \"p50_us\": %lld, "
        "\"p99_us\": %lld, \"p999_us\": %lld, \"errors\": {\"read\": %zu, \"status\": %zu, "
        "\"timeout\": %zu}}\n",
        latencies_us_.size(),
        static_cast<long long>(
            std::chrono::duration_cast<std::chrono::microseconds>(duration_).count()),
        static_cast<unsigned long long>(bytes_), percentile(0.5), percentile(0.99),
        percentile(0.999), broken_, wrong_, unanswered);
  }

 private:
  std::size_t under_way() const { return connections_.size() - idle_.size() - broken_; }

  Clock::duration pause() {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(pause_(engine_)));
  }

  void send_one() {
    Connection& connection = connections_[idle_.front()];
    idle_.pop_front();
    connection.due = waiting_.front();
    waiting_.pop_front();
    const auto path = static_cast<std::size_t>(std::exp(share_(engine_) * scale_));
    const std::string& request = requests_[std::min(path, requests_.size()) - 1];
    // An end of the connection shows when it is read.
    (void)!send(connection.descriptor, request.data(), request.size(), MSG_NOSIGNAL);
  }

  void receive(std::uint32_t index) {
    Connection& connection = connections_[index];
    const ssize_t got = recv(connection.descriptor, buffer_.data(), buffer_.size(), 0);
    if (got <= 0) {
      // Also while it was idle: it is in the way of no other, but counts as a failure.
      idle_.erase(std::remove(idle_.begin(), idle_.end(), index), idle_.end());
      close(connection.descriptor);
      ++broken_;
      return;
    }
    bytes_ += static_cast<std::uint64_t>(got);
    connection.came.append(buffer_.data(), static_cast<std::size_t>(got));
    const std::size_t head = connection.came.find(end_of_head);
    if (head == std::string::npos) return;
    const bool right = connection.came.starts_with("HTTP/1.1 200");
    if (right && connection.came.size() < head + end_of_head.size() + size_) return;
    wrong_ += right ? 0 : 1;
    connection.came.clear();
    idle_.push_back(index);
    latencies_us_.push_back(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - connection.due)
            .count());
  }

  long long percentile(double share) const {
    if (latencies_us_.empty()) return 0;
    const auto rank = static_cast<std::size_t>(share * static_cast<double>(latencies_us_.size()));
    return latencies_us_[std::min(rank, latencies_us_.size() - 1)];
  }

  int port_;
  std::size_t size_;
  double scale_;
  std::mt19937_64 engine_;
  std::exponential_distribution<> pause_;
  std::uniform_real_distribution<> share_;
  std::vector<std::string> requests_;
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Connection> connections_;
  std::deque<std::uint32_t> idle_;
  std::deque<Clock::time_point> waiting_;  // moments that no connection was free for
  std::vector<long long> latencies_us_;
  std::uint64_t bytes_ = 0;
  std::size_t broken_ = 0;
  std::size_t wrong_ = 0;
  Clock::duration duration_{};
  std::array<char, 1 << 17> buffer_{};
};

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string_view> arguments(words + 1, words + count);
  if (arguments.size() != 7) {
    std::fputs("paced PORT CONNECTIONS RATE SECONDS SIZE PATHS SEED\n", stderr);
    return 2;
  }
  const int port = static_cast<int>(number(arguments[0]));
  Load load(port, number(arguments[2]), number(arguments[4]), number(arguments[5]),
            number(arguments[6]));
  load.connect_all(number(arguments[1]));
  load.run(std::chrono::seconds(number(arguments[3])));
  load.tell();
}
