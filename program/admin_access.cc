#include "program/admin_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/limits.h"
#include "http/fields.h"

namespace ringside::program {

Result<std::string> read_admin_token(const std::string& file) {
  const auto text = read_file(file, limits::admin_token_size_bytes);
  if (!text) {
    return invalid_input(text.error().message + "; give a file with the token");
  }
  std::string_view token = *text;
  while (token.ends_with('\n') || token.ends_with('\r')) token.remove_suffix(1);
  const bool visible = std::all_of(token.begin(), token.end(), [](char c) {
    return c > 0x20 && c < 0x7f;  // what a field may carry as one word
  });
  if (token.size() >= limits::admin_token_least_bytes && visible) return std::string(token);
  return invalid_input(
      fmt::format("{}: is no token of {} or more visible characters without blanks; make one with "
                  "`(umask 077 && openssl rand -hex 32 > {})`",
                  file, limits::admin_token_least_bytes, file));
}

Result<http::AdminAccess> load_admin_access(const Configuration& configuration) {
  http::AdminAccess access;
  access.hosts = configuration.admin_hosts;
  if (configuration.admin_token_file.empty()) return access;
  auto token = read_admin_token(configuration.admin_token_file);
  if (!token) {
    return invalid_input(
        fmt::format("{}: {}", configuration.place("admin-token-file"), token.error().message));
  }
  access.token = *std::move(token);
  return access;
}

}  // namespace ringside::program
