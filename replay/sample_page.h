#pragma once

#include <string>
#include <string_view>

namespace ringside::replay {

// What the sample origin has at a path for a country. Equal arguments give an equal page.
struct SamplePage {
  std::string html;  // 1 to 20 KiB, by the path
  std::string etag;  // strong, with its quotes
};
[[nodiscard]] SamplePage sample_page(std::string_view target, std::string_view country);

// Whether If-None-Match (RFC 9110 §13.1.2) names the entity tag, or any: by weak comparison.
[[nodiscard]] bool names_entity_tag(std::string_view if_none_match, std::string_view etag);

}  // namespace ringside::replay
