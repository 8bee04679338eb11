#include "geo/database_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <maxminddb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>

#include "base/check.h"
#include "base/limits.h"
#include "geo/value_check.h"

namespace ringside::geo {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::string_view kMetadataMarker = "\xab\xcd\xefMaxMind.com";
constexpr std::size_t kMetadataMostBytes = 128 * limits::kKiB;  // by the format
constexpr std::size_t kSeparatorBytes = 16;                     // zeros between tree and data

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool ok() const noexcept { return fd_ >= 0; }

 private:
  int fd_;
};

// A shared mapping of an anonymous file, to fill and to check it.
class Mapping {
 public:
  Mapping(int fd, std::size_t size)
      : size_(size), start_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)) {}
  ~Mapping() {
    if (ok()) ::munmap(start_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  [[nodiscard]] bool ok() const noexcept { return start_ != MAP_FAILED; }
  [[nodiscard]] std::span<std::uint8_t> bytes() const noexcept {
    return {static_cast<std::uint8_t*>(start_), size_};
  }

 private:
  std::size_t size_;
  void* start_;
};

// False with errno where reading fails; errno 0 where the file ended early.
bool read_fully(int fd, std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::read(fd, out.data(), out.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

struct Section {
  std::size_t marker = 0;  // where the data section ends at the latest
  Bytes metadata;
};

// The last marker, as libmaxminddb looks for it.
std::optional<Section> find_metadata(Bytes file) {
  const std::size_t start = file.size() - std::min(file.size(), kMetadataMostBytes);
  const std::string_view area(reinterpret_cast<const char*>(file.data()) + start,
                              file.size() - start);
  const std::size_t at = area.rfind(kMetadataMarker);
  if (at == std::string_view::npos) return std::nullopt;
  return Section{start + at, file.subspan(start + at + kMetadataMarker.size())};
}

}  // namespace

Error bad_database(const std::string& path, std::string_view what, std::string_view remedy) {
  return invalid_input(fmt::format(
      "geo database {}: {}; {} or give --geo-optional to run with country ZZ", path, what, remedy));
}

struct DatabaseFile::Handle {
  MMDB_s mmdb{};
  bool opened = false;
  std::size_t data_size = 0;  // without the metadata, which libmaxminddb counts in

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (opened) ::MMDB_close(&mmdb);
  }

  // Opens the copy behind `fd`. What is wrong with it; empty where nothing is.
  std::string_view open(int fd, Bytes file) {
    constexpr std::string_view strange = "file is truncated or not a MaxMind database";
    const auto section = find_metadata(file);
    if (!section) return strange;
    ValueCheck check(section->metadata, ValueCheck::Arrays::of_strings);
    if (!check.is_sound_map(0)) return "file is corrupt in its metadata";
    const std::string name = fmt::format("/proc/self/fd/{}", fd);
    const int status = ::MMDB_open(name.c_str(), MMDB_MODE_MMAP, &mmdb);
    if (status == MMDB_UNKNOWN_DATABASE_FORMAT_ERROR) {
      return "file has a version of the MaxMind format that is not known";
    }
    if (status == MMDB_FILE_OPEN_ERROR)
      return "the copy in memory can't be opened (is /proc there?)";
    if (status != MMDB_SUCCESS) return strange;
    opened = true;
    // libmaxminddb counts in 32 bits here, which a wrong node count overflows.
    const std::size_t tree_size =
        std::size_t{mmdb.metadata.node_count} * mmdb.full_record_byte_size;
    if (tree_size + kSeparatorBytes > section->marker) return strange;
    const Bytes separator = file.subspan(tree_size, kSeparatorBytes);
    if (std::any_of(separator.begin(), separator.end(), [](auto byte) { return byte != 0; })) {
      return "file is corrupt (its search tree does not end where the metadata says)";
    }
    data_size = section->marker - tree_size - kSeparatorBytes;
    return {};
  }
};

DatabaseFile::DatabaseFile(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
DatabaseFile::~DatabaseFile() = default;

Result<std::unique_ptr<DatabaseFile>> DatabaseFile::open(const std::string& path) {
  const auto system_error = [&path](std::string_view what, int code) {
    return bad_database(path, fmt::format("{}: {}", what, std::generic_category().message(code)),
                        "check the path");
  };
  // Non-blocking, so that a named pipe is refused and not waited for.
  const Descriptor source(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!source.ok()) return system_error("can't be opened", errno);
  struct stat status {};
  if (::fstat(source.get(), &status) != 0) return system_error("can't be examined", errno);
  if (!S_ISREG(status.st_mode)) {
    return bad_database(path, S_ISDIR(status.st_mode) ? "is a directory" : "is no regular file",
                        "name the .mmdb file itself");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return bad_database(path, "file is empty");
  if (size > limits::geo_database_size_bytes) {
    return bad_database(
        path,
        fmt::format("file is larger than {} MiB", limits::geo_database_size_bytes / limits::kMiB),
        "give a country database");
  }
  const Descriptor copy(::memfd_create("ringside-geo", MFD_CLOEXEC));
  if (!copy.ok() || ::ftruncate(copy.get(), status.st_size) != 0) {
    return system_error("no memory for a copy", errno);
  }
  const Mapping mapping(copy.get(), size);
  if (!mapping.ok()) return system_error("no memory for a copy", errno);
  if (!read_fully(source.get(), mapping.bytes())) {
    if (errno == 0) return bad_database(path, "file shrank while it was read", "try once more");
    return system_error("can't be read", errno);
  }
  auto handle = std::make_unique<Handle>();
  const std::string_view wrong = handle->open(copy.get(), mapping.bytes());
  if (!wrong.empty()) return bad_database(path, wrong);
  return std::unique_ptr<DatabaseFile>(new DatabaseFile(std::move(handle)));
}

bool DatabaseFile::is_v4_only() const noexcept { return handle_->mmdb.metadata.ip_version == 4; }

std::uint32_t DatabaseFile::node_count() const noexcept {
  return handle_->mmdb.metadata.node_count;
}

std::string DatabaseFile::type() const { return handle_->mmdb.metadata.database_type; }

std::uint64_t DatabaseFile::build_epoch() const noexcept {
  return handle_->mmdb.metadata.build_epoch;
}

std::array<std::uint32_t, 2> DatabaseFile::children(std::uint32_t node) const noexcept {
  MMDB_search_node_s records{};
  RINGSIDE_CHECK(::MMDB_read_node(&handle_->mmdb, node, &records) == MMDB_SUCCESS);
  return {static_cast<std::uint32_t>(records.left_record),
          static_cast<std::uint32_t>(records.right_record)};
}

std::optional<DatabaseFile::CountryField> DatabaseFile::country_field(std::uint32_t record) const {
  const std::size_t behind_tree = record - node_count();
  if (behind_tree < kSeparatorBytes) return std::nullopt;
  const std::size_t offset = behind_tree - kSeparatorBytes;
  ValueCheck check(Bytes(handle_->mmdb.data_section, handle_->data_size));
  if (!check.is_sound_map(offset)) return std::nullopt;
  constexpr const char* nested[] = {"country", "iso_code", nullptr};
  constexpr const char* flat[] = {"country_code", nullptr};
  for (const char* const* path : {&nested[0], &flat[0]}) {
    MMDB_entry_s entry{&handle_->mmdb, static_cast<std::uint32_t>(offset)};
    MMDB_entry_data_s value{};
    // The record is sound, so that a failure only says that it has no such path.
    if (::MMDB_aget_value(&entry, &value, path) != MMDB_SUCCESS || !value.has_data ||
        value.type != MMDB_DATA_TYPE_UTF8_STRING) {
      continue;
    }
    return CountryField{true, Country::from({value.utf8_string, value.data_size})};
  }
  return CountryField{};
}

}  // namespace ringside::geo
