#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "hop/access_log.h"
#include "http1/admin_server.h"

namespace ringside::program {

struct LogRequest {
  std::string reader;  // who follows: a name that it has chosen
  hop::LogFilter filter;
};

// `{"reader": "NAME"}`, and what LogFilterTexts has, under its keys. An Error names the remedy.
[[nodiscard]] Result<LogRequest> parse_log_request(std::string_view body);

// `{"lines": ["…"], "dropped": 0, "begun": false}`.
[[nodiscard]] std::string to_json(const hop::LogReader::Taken& taken);

// `POST /log`: the requests that were answered since that reader has asked before. From any thread.
[[nodiscard]] http::AdminServer::Answer answer_log(hop::AccessLog& log, std::string_view body);

}  // namespace ringside::program
