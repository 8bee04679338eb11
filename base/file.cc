#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "base/log.h"

namespace ringside {
namespace {

struct Closer {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};
using File = std::unique_ptr<std::FILE, Closer>;

Error cannot(const std::string& path, int code) {
  const ErrorKind kind = code == ENOENT ? ErrorKind::not_found : ErrorKind::invalid_input;
  return {kind, ErrorSource::ourselves, Retry::no,
          fmt::format("{}: {}", path, std::generic_category().message(code))};
}

// The name of a file that was renamed is on its disk once its folder is.
int sync_folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  const int code = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  return code;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const File file(std::fopen(path.c_str(), "rbe"));
  if (!file) return cannot(path, errno);
  // Read by and by, so that a large limit costs a small file nothing; one byte more than allowed
  // shows that there is more.
  constexpr std::size_t piece_size_bytes = 65'536;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t before = text.size();
    text.resize(before + piece_size_bytes);
    const std::size_t read = std::fread(text.data() + before, 1, piece_size_bytes, file.get());
    text.resize(before + read);
    if (std::ferror(file.get()) != 0) return cannot(path, errno);
    if (read < piece_size_bytes) break;
  }
  if (text.size() <= most_bytes) return text;
  return invalid_input(fmt::format("{}: is larger than {} bytes", path, most_bytes));
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  const std::string beside = path + ".new";
  const auto give_up = [&](int code) {
    static_cast<void>(std::remove(beside.c_str()));
    return cannot(path, code);
  };
  File file(std::fopen(beside.c_str(), "wbe"));
  if (!file) return cannot(beside, errno);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                          std::fflush(file.get()) == 0 && ::fsync(::fileno(file.get())) == 0;
  if (!is_written) return give_up(errno);
  if (std::fclose(file.release()) != 0) return give_up(errno);
  if (std::rename(beside.c_str(), path.c_str()) != 0) return give_up(errno);
  // It is written, and read by whoever opens it. Some file systems can't do more.
  if (const int code = sync_folder_of(path); code != 0) {
    log::warning("{}: its folder is not synchronised: {}", path,
                 std::generic_category().message(code));
  }
  return {};
}

}  // namespace ringside
