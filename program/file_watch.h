#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringside::program {

// What tells one content of a file from the next without reading it, but for one of the same size
// that is written in place within a tick of the file system's clock. Symbolic links are followed,
// so that the swap of a Kubernetes ConfigMap's link is a change.
struct FileStamp {
  bool exists = false;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
[[nodiscard]] FileStamp stamp_of(const std::string& path) noexcept;

// Notices when files change. A change is told once it has settled (two looks alike), so that a file
// that is being written is not read half. Pure but for look(), which reads the stamps.
class FileWatch {
 public:
  // Watches one more file, from what it is now. Add it before it is read: what is written between
  // the two is a change then.
  void add(std::string path);
  void drop(const std::string& path);  // watched no more; nothing where it is not watched

  // True where the files changed since they were added or last told of, and have not
  // changed since the last look. Call it every limits::file_poll.
  [[nodiscard]] bool look();
  // The same with the stamps given, in the order of the paths.
  [[nodiscard]] bool judge(const std::vector<FileStamp>& stamps);

 private:
  [[nodiscard]] std::vector<FileStamp> stamps() const;

  std::vector<std::string> paths_;
  std::vector<FileStamp> told_;  // what the world was told of
  std::vector<FileStamp> last_;  // at the last look
};

}  // namespace ringside::program
