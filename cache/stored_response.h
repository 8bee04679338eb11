#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/body.h"
#include "cache/freshness.h"
#include "http/head.h"

namespace ringside::cache {

// A response's head as it is kept: immutable, shared by reference count between cores.
class StoredHead {
 public:
  // From an origin's answer. Fields that are never stored or that are written anew for each answer
  // are left out: hop-by-hop, internal, Age, Content-Length. Our Via is added, and a Date where
  // there is none (RFC 9110 §6.6.1).
  StoredHead(const http::ResponseHead& response, const Freshness& freshness,
             std::string_view via_name, std::vector<std::string> vary, std::string variant);
  StoredHead(const StoredHead&) = delete;
  StoredHead& operator=(const StoredHead&) = delete;

  // The head after a 304 with those fields: they replace those of the same name (RFC 9111 §3.2),
  // except what describes the stored body, and give it a new life (§4.3.4).
  [[nodiscard]] static std::shared_ptr<const StoredHead> updated(const StoredHead& stored,
                                                                 const http::Fields& fields,
                                                                 const ExchangeTimes& times);

  [[nodiscard]] int status() const noexcept { return status_; }
  // Status line and field lines, each with its CRLF: what is sent, but for what the moment adds.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const http::Fields& fields() const noexcept { return fields_; }
  [[nodiscard]] const Freshness& freshness() const noexcept { return freshness_; }
  [[nodiscard]] const std::vector<std::string>& vary() const noexcept { return vary_; }
  [[nodiscard]] const std::string& variant() const noexcept { return variant_; }
  [[nodiscard]] std::size_t cost_bytes() const noexcept;

 private:
  StoredHead(int status, const Freshness& freshness, std::vector<std::string> vary,
             std::string variant);
  void begin(std::string_view reason);
  void append(std::string_view name, std::string_view value);
  void append_date(TimePoint received);
  void index();

  int status_;
  Freshness freshness_;
  std::vector<std::string> vary_;  // the names; see vary_names
  std::string variant_;            // the variant_key of the request that it answered
  std::string text_;
  http::Fields fields_;  // views into text_
};

// A whole stored response.
struct StoredResponse {
  std::shared_ptr<const StoredHead> head;
  std::shared_ptr<const Body> body;
  [[nodiscard]] std::size_t cost_bytes() const noexcept;
};
using StoredPointer = std::shared_ptr<const StoredResponse>;

}  // namespace ringside::cache
