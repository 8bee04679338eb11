#include "tests/support/name_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <optional>

namespace ringside::support {
namespace {

// RFC 1035 §3.2.2, RFC 3596 §2.1, RFC 2782, RFC 6891 §6.1.1
constexpr unsigned type_a = 1;
constexpr unsigned type_cname = 5;
constexpr unsigned type_aaaa = 28;
constexpr unsigned type_srv = 33;
constexpr unsigned type_opt = 41;
constexpr std::size_t header_size_bytes = 12;
constexpr std::size_t datagram_size_bytes = 512;
constexpr unsigned truncated_flag = 0x200;

std::string u16(unsigned value) {
  return {static_cast<char>(value >> 8U), static_cast<char>(value & 0xffU)};
}
std::string u32(std::uint32_t value) { return u16(value >> 16U) + u16(value & 0xffffU); }

// RFC 1035 §3.1
std::string labels(const std::string& name) {
  std::string encoded;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t dot = std::min(name.find('.', at), name.size());
    encoded += static_cast<char>(dot - at);
    encoded += name.substr(at, dot - at);
    at = dot + 1;
  }
  return encoded + '\0';
}

struct Question {
  std::string id;
  std::string name;
  unsigned type = 0;
  std::string section;  // as it came
  std::size_t datagram_most_bytes = datagram_size_bytes;
  bool has_edns = false;
};

unsigned read_u16(std::string_view message, std::size_t at) {
  return static_cast<unsigned>(static_cast<unsigned char>(message[at])) << 8U |
         static_cast<unsigned char>(message[at + 1]);
}

// Where EDNS is, it is all that comes after the question.
void read_edns(std::string_view message, std::size_t at, Question& into) {
  if (message.size() < at + 5 || message[at] != 0 || read_u16(message, at + 1) != type_opt) return;
  into.has_edns = true;
  into.datagram_most_bytes = std::max<std::size_t>(read_u16(message, at + 3), datagram_size_bytes);
}

std::optional<Question> read_question(std::string_view message) {
  if (message.size() < header_size_bytes) return std::nullopt;
  Question question;
  question.id = message.substr(0, 2);
  std::size_t at = header_size_bytes;
  while (at < message.size() && message[at] != 0) {
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(message[at]));
    if (!question.name.empty()) question.name += '.';
    question.name += message.substr(at + 1, length);
    at += 1 + length;
  }
  if (at + 5 > message.size()) return std::nullopt;
  question.type = static_cast<unsigned char>(message[at + 2]);
  question.section = message.substr(header_size_bytes, at + 5 - header_size_bytes);
  read_edns(message, at + 5, question);
  return question;
}

struct Records {
  std::string bytes;
  unsigned count = 0;
};

struct Encoded {
  unsigned type = type_cname;
  std::string data;
};

Encoded encode(const NameRecord& record) {
  std::string data(16, '\0');
  if (record.port != 0) return {type_srv, u32(0) + u16(record.port) + labels(record.value)};
  if (::inet_pton(AF_INET, record.value.c_str(), data.data()) == 1) {
    data.resize(4);
    return {type_a, data};
  }
  if (::inet_pton(AF_INET6, record.value.c_str(), data.data()) == 1) return {type_aaaa, data};
  return {type_cname, labels(record.value)};
}

void append(const std::string& owner, const NameRecord& record, const Encoded& encoded,
            Records& into) {
  into.bytes += owner + u16(encoded.type) + u16(1) + u32(record.ttl_s) +
                u16(static_cast<unsigned>(encoded.data.size())) + encoded.data;
  ++into.count;
}

Records encode_answer(const std::vector<NameRecord>& records, unsigned asked_type) {
  Records answer;
  std::string owner = u16(0xc000U + header_size_bytes);  // a pointer to the question's name
  for (const NameRecord& record : records) {
    const Encoded encoded = encode(record);
    if (encoded.type != type_cname && encoded.type != asked_type) continue;
    append(owner, record, encoded, answer);
    if (encoded.type == type_cname) owner = encoded.data;
  }
  return answer;
}

Records encode_additional(const std::vector<NameRecord>& records) {
  Records additional;
  for (const NameRecord& record : records) {
    append(labels(record.owner), record, encode(record), additional);
  }
  return additional;
}

std::string message(const Question& question, unsigned flags, const Records& answer,
                    const Records& additional = {}) {
  return question.id + u16(0x8180U | flags) + u16(1) + u16(answer.count) + u16(0) +
         u16(additional.count) + question.section + answer.bytes + additional.bytes;
}

// Empty: none is sent.
std::string answer_to(const Question& question, const NameReply& reply, bool over_udp) {
  using Kind = NameReply::Kind;
  std::vector<NameRecord> records = reply.records;
  unsigned flags = 0;
  switch (reply.kind) {
    case Kind::absent:
      return message(question, 3, {});
    case Kind::failure:
      return message(question, 2, {});
    case Kind::silence:
      return {};
    case Kind::garbage:
      return message(question, 0, {"\xff\xff\xff", 1});
    case Kind::old:
      if (question.has_edns) return message(question, 1, {});
      break;
    case Kind::truncated:
      if (over_udp) return message(question, truncated_flag, {});
      break;
    case Kind::cut:
      records.resize(records.size() / 2);
      flags = truncated_flag;
      break;
    case Kind::records:
    case Kind::after_noise:
      break;
  }
  const Records answer = encode_answer(records, question.type);
  const Records additional = answer.count == 0 ? Records() : encode_additional(reply.additional);
  auto whole = message(question, flags, answer, additional);
  const bool fits = !over_udp || whole.size() <= question.datagram_most_bytes;
  return fits ? whole : message(question, truncated_flag, {});
}

}  // namespace

NameServer::NameServer() {
  // A free port of TCP's is rarely taken in UDP, but it can be.
  do {
    peer_ = std::make_unique<ScriptedPeer>([this](Stage& stage) { answer_stream(stage); });
  } while (!bind_beside_peer());
  thread_ = std::thread([this] { answer_datagrams(); });
}

NameServer::~NameServer() {
  stop_.open();
  thread_.join();
}

bool NameServer::bind_beside_peer() {
  datagrams_ = Descriptor(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(peer_->address().port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(datagrams_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void NameServer::set(const std::string& name, NameReply reply) {
  const std::lock_guard lock(mutex_);
  replies_[name] = std::move(reply);
}

std::size_t NameServer::questions(const std::string& name, NameType type) const {
  const std::lock_guard lock(mutex_);
  const auto found = questions_.find({name, type});
  return found == questions_.end() ? 0 : found->second.size();
}

NameReply NameServer::reply_to(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = replies_.find(name);
  return found == replies_.end() ? NameReply{NameReply::Kind::absent, {}} : found->second;
}

void NameServer::answer_datagrams() {
  while (true) {
    std::array<pollfd, 2> polled{pollfd{datagrams_.get(), POLLIN, 0},
                                 pollfd{stop_.descriptor(), POLLIN, 0}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[1].revents != 0) return;
    std::array<char, 512> buffer{};
    sockaddr_in from{};
    socklen_t from_size = sizeof from;
    auto* const sender = reinterpret_cast<sockaddr*>(&from);
    const ssize_t size =
        ::recvfrom(datagrams_.get(), buffer.data(), buffer.size(), 0, sender, &from_size);
    if (size < 0) continue;
    const auto question = read_question({buffer.data(), static_cast<std::size_t>(size)});
    if (!question) continue;
    const auto send = [&](const std::string& bytes) {
      ::sendto(datagrams_.get(), bytes.data(), bytes.size(), 0, sender, from_size);
    };
    const NameReply reply = reply_to(question->name);
    {
      const std::lock_guard lock(mutex_);
      questions_[{question->name, static_cast<NameType>(question->type)}].emplace(from.sin_port,
                                                                                  question->id);
    }
    if (reply.kind == NameReply::Kind::after_noise) {
      send("no");
      send(std::string(header_size_bytes + 30, '\xff'));
    }
    if (const auto answer = answer_to(*question, reply, true); !answer.empty()) send(answer);
  }
}

void NameServer::answer_stream(Stage& stage) const {
  while (true) {
    const std::string size = stage.read(2);
    const auto high = static_cast<unsigned char>(size[0]);
    const auto low = static_cast<unsigned char>(size[1]);
    const auto question = read_question(stage.read(std::size_t{high} * 256 + low));
    if (!question) return;
    const auto answer = answer_to(*question, reply_to(question->name), false);
    stage.send(u16(static_cast<unsigned>(answer.size())) + answer);
  }
}

}  // namespace ringside::support
