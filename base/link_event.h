#pragma once

#include <cstdint>

namespace ringside {

// What is counted of connections that carry many requests at once (link/).
enum class LinkEvent : std::uint8_t {
  opened,
  closed,
  faulty,  // and closed for that: what came on it makes no sense
  ticket,  // an answer that it does not carry
};

}  // namespace ringside
