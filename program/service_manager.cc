#include "program/service_manager.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/quotation.h"

namespace ringside::program {

Result<void> tell_ready(const char* socket) {
  const std::string_view path = socket ? socket : "";
  if (path.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto failure = [&](std::string_view reason) {
    return invalid_input(
        fmt::format("NOTIFY_SOCKET names {}: {}; unset it, unless a service manager waits there",
                    quotation(path), reason));
  };
  if (path.size() >= sizeof address.sun_path) return failure("too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  if (path.front() == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());

  const int to = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (to < 0) return failure(std::generic_category().message(errno));
  constexpr std::string_view ready = "READY=1";
  const auto sent = ::sendto(to, ready.data(), ready.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), size);
  const int error = errno;
  ::close(to);
  if (sent < 0) return failure(std::generic_category().message(error));
  return {};
}

}  // namespace ringside::program
