#include "base/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace ringside {

Result<std::string> read_file(const std::string& path, std::size_t most_bytes) {
  const auto cannot = [&](int code) {
    const ErrorKind kind = code == ENOENT ? ErrorKind::not_found : ErrorKind::invalid_input;
    return Error{kind, ErrorSource::ourselves, Retry::no,
                 fmt::format("{}: {}", path, std::generic_category().message(code))};
  };
  struct Closer {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return cannot(errno);
  // Read by and by, so that a large limit costs a small file nothing; one byte more than allowed
  // shows that there is more.
  constexpr std::size_t piece_size_bytes = 65'536;
  std::string text;
  while (text.size() <= most_bytes) {
    const std::size_t before = text.size();
    text.resize(before + piece_size_bytes);
    const std::size_t read = std::fread(text.data() + before, 1, piece_size_bytes, file.get());
    text.resize(before + read);
    if (std::ferror(file.get()) != 0) return cannot(errno);
    if (read < piece_size_bytes) break;
  }
  if (text.size() <= most_bytes) return text;
  return invalid_input(fmt::format("{}: is larger than {} bytes", path, most_bytes));
}

}  // namespace ringside
