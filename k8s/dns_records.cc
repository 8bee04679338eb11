#include "k8s/dns_records.h"

#include <ares.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/limits.h"

namespace ringside::k8s {
namespace {

// RFC 1035 §4.1.1
constexpr std::size_t header_size_bytes = 12;
constexpr unsigned truncated_flag = 0x0200;
constexpr unsigned class_in = 1;
constexpr unsigned type_alias = 5;  // CNAME

struct Record {
  std::string owner;
  unsigned type = 0;
  unsigned record_class = 0;
  std::uint32_t ttl_s = 0;
  std::size_t data = 0;  // where its data are in the message
  std::size_t data_size = 0;
};

// Walks through a message. Every step says whether it stayed within.
class Reader {
 public:
  explicit Reader(std::span<const unsigned char> message) : message_(message) {}

  [[nodiscard]] bool has(std::size_t bytes) const noexcept {
    return message_.size() - at_ >= bytes;
  }
  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  void move_to(std::size_t at) noexcept { at_ = at; }
  // Only after has().
  [[nodiscard]] unsigned u16() noexcept {
    at_ += 2;
    return static_cast<unsigned>(message_[at_ - 2]) << 8U | message_[at_ - 1];
  }
  [[nodiscard]] std::uint32_t u32() noexcept {
    const std::uint32_t high = u16();
    return high << 16U | u16();
  }
  // c-ares follows the compression's pointers, and bounds them.
  [[nodiscard]] std::optional<std::string> name() {
    char* expanded = nullptr;
    long encoded_size = 0;
    if (!has(1) ||
        ares_expand_name(message_.data() + at_, message_.data(), static_cast<int>(message_.size()),
                         &expanded, &encoded_size) != ARES_SUCCESS) {
      return std::nullopt;
    }
    std::string text = expanded;
    ares_free_string(expanded);
    at_ += static_cast<std::size_t>(encoded_size);
    for (char& c : text) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');  // RFC 4343
    }
    return text;
  }
  [[nodiscard]] std::optional<Record> record() {
    auto owner = name();
    if (!owner || !has(10)) return std::nullopt;
    Record record;
    record.owner = std::move(*owner);
    record.type = u16();
    record.record_class = u16();
    record.ttl_s = u32();
    record.data_size = u16();
    record.data = at_;
    if (!has(record.data_size)) return std::nullopt;
    at_ += record.data_size;
    return record;
  }
  [[nodiscard]] std::optional<IpAddress> address(const Record& record) const noexcept {
    std::array<std::uint8_t, 16> bytes{};
    const bool is_v4 = record.type == static_cast<unsigned>(RecordType::a);
    if (record.data_size != (is_v4 ? 4U : 16U)) return std::nullopt;
    if (is_v4) bytes[10] = bytes[11] = 0xff;
    std::memcpy(&bytes[is_v4 ? 12 : 0], message_.data() + record.data, record.data_size);
    return IpAddress(bytes);
  }

 private:
  std::span<const unsigned char> message_;
  std::size_t at_ = 0;
};

Failure malformed(std::string_view what) {
  return {FailureReason::malformed, fmt::format("the name server's answer {}", what), {}};
}

// RFC 2782. Within its record: a name may point backwards but does not end beyond it.
std::optional<ServiceRecord> read_service(Reader reader, const Record& record) {
  if (record.data_size < 7) return std::nullopt;
  reader.move_to(record.data + 4);  // all replicas are asked, whatever priority and weight say
  ServiceRecord service;
  service.port = static_cast<std::uint16_t>(reader.u16());
  auto target = reader.name();
  if (!target || reader.at() != record.data + record.data_size) return std::nullopt;
  service.target = std::move(*target);
  return service;
}

// False: it makes no sense.
bool add(const Reader& reader, const Record& record, bool is_answer, DnsRecords& into) {
  // RFC 2181 §8
  if (record.ttl_s > std::numeric_limits<std::int32_t>::max()) into.ttl = Seconds{0};
  into.ttl = std::min(into.ttl, Seconds{record.ttl_s});
  if (record.type == type_alias) return true;
  if (record.type == static_cast<unsigned>(RecordType::srv)) {
    const auto service = read_service(reader, record);
    if (!service) return false;
    if (is_answer) into.services.push_back(*service);
    return true;
  }
  const auto address = reader.address(record);
  if (!address) return false;
  (is_answer ? into.addresses : into.additional).push_back({record.owner, *address});
  return true;
}

bool is_known(const Record& record) noexcept {
  return record.record_class == class_in &&
         (record.type == type_alias || record.type == static_cast<unsigned>(RecordType::a) ||
          record.type == static_cast<unsigned>(RecordType::aaaa) ||
          record.type == static_cast<unsigned>(RecordType::srv));
}

}  // namespace

Outcome<DnsRecords> read_dns_records(std::span<const unsigned char> message) {
  Reader reader(message);
  if (!reader.has(header_size_bytes)) return malformed("is no DNS message");
  reader.move_to(2);
  const unsigned flags = reader.u16();
  const unsigned questions = reader.u16();
  const unsigned answers = reader.u16();
  const unsigned authorities = reader.u16();
  const unsigned records = answers + authorities + reader.u16();
  if ((flags & truncated_flag) != 0) {
    return malformed("is cut, over TCP too: there are more records than one answer can hold");
  }
  for (unsigned i = 0; i < questions; ++i) {
    if (!reader.name() || !reader.has(4)) return malformed("ends within its question");
    reader.move_to(reader.at() + 4);
  }
  DnsRecords read;
  read.ttl = Seconds::max();
  for (unsigned i = 0; i < records; ++i) {
    const auto record = reader.record();
    if (!record) return malformed(fmt::format("ends within record {} of {}", i + 1, records));
    const bool is_authority = i >= answers && i < answers + authorities;
    if (is_authority || !is_known(*record)) continue;
    if (!add(reader, *record, i < answers, read)) {
      return malformed(fmt::format("has a record that makes no sense, {} of {}", i + 1, records));
    }
    if (read.services.size() > limits::members || read.addresses.size() > limits::members) {
      return malformed(fmt::format("has more than {} records", limits::members));
    }
  }
  if (read.ttl == Seconds::max()) read.ttl = Seconds{0};
  return read;
}

}  // namespace ringside::k8s
