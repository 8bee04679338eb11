#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cache/request_state.h"
#include "cache/shared_fetch.h"
#include "http/byte_range.h"
#include "http1/relay.h"

namespace ringside::cache {

// Which bytes of a flight's body go to the client: from `first` on, `length_bytes` of them;
// nullopt: all that come.
struct StreamWindow {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> length_bytes;
};

enum class Relayed {
  all,
  cut_off,  // some, or none: the client's connection ends
  nothing,  // they are not to be had, and nothing was sent
};
// Those bytes of the whole of which `head` tells the entity tag, from a fetch of the request's own,
// if the origin has the same entity still (RFC 9110 §13.1.5). `unsent` goes before the first byte.
Task<Relayed> relay_span(RequestState& state, const StoredHead& head, const http::ByteSpan& span,
                         http::Coding coding, std::string_view unsent);

// A body's way from a flight to one client. A client that takes less than others of a body that is
// not stored gets the rest by a fetch of its own, if an entity tag tells that it is of the same
// bytes (RFC 9110 §13.1.5).
class FlightStream {
 public:
  // All must outlive the stream.
  FlightStream(RequestState& state, SharedFetch& fetch, StreamWindow window, http::Coding coding)
      : state_(state), fetch_(fetch), window_(window), coding_(coding) {}

  // `head` goes before the first byte; empty: none. False: the client did not get all of it, and
  // its connection ends so that it can tell; or it was answered in another way, where nothing had
  // been said yet.
  Task<bool> run(std::string_view head);

 private:
  [[nodiscard]] bool is_full() const noexcept;
  void add(std::string_view bytes, std::array<char, 20>& line);
  Task<bool> end_without_the_rest(Error error, std::string_view unsent);
  [[nodiscard]] Task<Relayed> fetch_the_rest(std::string_view unsent);

  RequestState& state_;
  SharedFetch& fetch_;
  const StreamWindow window_;
  const http::Coding coding_;
  std::uint64_t at_ = 0;    // of the flight's body
  std::uint64_t sent_ = 0;  // of the window
  std::vector<std::string_view> buffers_;
  std::vector<std::array<char, 20>> lines_;
};

}  // namespace ringside::cache
