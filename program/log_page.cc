#include "program/log_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.h"
#include "base/limits.h"
#include "program/log_filter.h"

namespace ringside::program {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* reader_key = "reader";
constexpr const char* expected_form =
    R"(not what is asked for; write {"reader": "NAME"}, with any of "country", "replica", )"
    R"("result", "status" and "slower_than")";

Result<std::string> parse_reader(const json& document) {
  if (!document.contains(reader_key)) return invalid_input(expected_form);
  auto name = document[reader_key].get<std::string>();
  if (!name.empty() && name.size() <= limits::log_reader_name_size_bytes) return name;
  return invalid_input("reader: write a name of 1 to " +
                       std::to_string(limits::log_reader_name_size_bytes) +
                       " bytes that no other reader has");
}

}  // namespace

Result<LogRequest> parse_log_request(std::string_view body) {
  const auto document = parse_strict_json(body);
  if (!document) return document.error();
  if (!document->is_object()) return invalid_input(expected_form);
  LogFilterTexts texts;
  for (const auto& [key, value] : document->items()) {
    const auto* const row =
        std::find_if(std::begin(log_filter_rows), std::end(log_filter_rows),
                     [&name = key](const LogFilterRow& one) { return name == one.key; });
    const bool is_filter = row != std::end(log_filter_rows);
    if (!value.is_string() || (!is_filter && key != reader_key))
      return invalid_input(expected_form);
    if (is_filter) texts.*(row->text) = value.get<std::string>();
  }
  auto reader = parse_reader(*document);
  if (!reader) return reader.error();
  auto filter = parse_log_filter(texts);
  if (!filter) return filter.error();
  return LogRequest{*std::move(reader), *std::move(filter)};
}

std::string to_json(const hop::LogReader::Taken& taken) {
  ordered_json page{
      {"lines", ordered_json::array()}, {"dropped", taken.dropped}, {"begun", taken.begun}};
  std::string_view rest = taken.lines;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    page["lines"].push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end, rest.size() - 1) + 1);
  }
  return page.dump() + "\n";
}

http::AdminServer::Answer answer_log(hop::AccessLog& log, std::string_view body) {
  constexpr int bad_request = 400;
  constexpr int unavailable = 503;
  const std::string text_type = "text/plain; charset=utf-8";
  const auto request = parse_log_request(body);
  if (!request) return {bad_request, text_type, request.error().message + "\n"};
  const auto taken = log.follow(request->reader, request->filter);
  if (!taken) return {unavailable, text_type, taken.error().message + "\n"};
  return {200, "application/json", to_json(*taken)};
}

}  // namespace ringside::program
