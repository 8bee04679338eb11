#include "http/head.h"

namespace ringside::http {

bool is_safe(std::string_view method) noexcept {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

bool is_idempotent(std::string_view method) noexcept {
  return is_safe(method) || method == "PUT" || method == "DELETE";
}

}  // namespace ringside::http
