#include "http/field_lines.h"

#include "http/date.h"

namespace ringside::http {

void FieldLines::add_joined(std::string_view name, const std::optional<std::string>& before,
                            std::string_view value) {
  text_.append(name).append(": ");
  if (before && !before->empty()) text_.append(*before).append(", ");
  text_.append(value).append("\r\n");
}

Fields fields_of(std::string_view lines) {
  Fields fields;
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(line.size() + 2);
    const auto colon = line.find(':');
    fields.add(line.substr(0, colon), line.substr(colon + 2));
  }
  return fields;
}

void add_date(FieldLines& out, TimePoint now) {
  const auto date = format_date(now);
  out.add("Date", {date.data(), date.size()});
}

void add_date_if_absent(FieldLines& out, const Fields& fields, TimePoint now) {
  if (!fields.has("date")) add_date(out, now);
}

}  // namespace ringside::http
