#include "http/head.h"

#include "http/field_lines.h"

namespace ringside::http {

Fields fields_of(const ResponseHead& head) {
  Fields fields = fields_of(head.ready_lines);
  for (const Field& field : head.fields) fields.add(field.name, field.value);
  return fields;
}

bool is_safe(std::string_view method) noexcept {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

bool is_idempotent(std::string_view method) noexcept {
  return is_safe(method) || method == "PUT" || method == "DELETE";
}

}  // namespace ringside::http
