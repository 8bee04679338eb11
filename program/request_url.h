#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/target.h"

namespace ringside::program {

// What a request for a URL would ask for, as the data path normalises it.
struct RequestUrl {
  std::string host;  // normalised; empty where the text was only a path
  http::Target target;
};

// `http://host[:port]/path?query` or `/path?query`. An Error names the remedy.
[[nodiscard]] Result<RequestUrl> parse_request_url(std::string_view text);

}  // namespace ringside::program
