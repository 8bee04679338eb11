#include "program/file_watch.h"

#include <sys/stat.h>

#include <utility>

namespace ringside::program {

FileStamp stamp_of(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t ns_per_second = 1'000'000'000;
  return {true, status.st_dev, status.st_ino, status.st_size,
          status.st_mtim.tv_sec * ns_per_second + status.st_mtim.tv_nsec};
}

void FileWatch::add(std::string path) {
  const FileStamp stamp = stamp_of(path);
  paths_.push_back(std::move(path));
  told_.push_back(stamp);
  last_.push_back(stamp);
}

std::vector<FileStamp> FileWatch::stamps() const {
  std::vector<FileStamp> out;
  for (const std::string& path : paths_) out.push_back(stamp_of(path));
  return out;
}

bool FileWatch::look() { return judge(stamps()); }

bool FileWatch::judge(const std::vector<FileStamp>& stamps) {
  const bool settled = stamps == last_;
  last_ = stamps;
  if (!settled || stamps == told_) return false;
  told_ = stamps;
  return true;
}

}  // namespace ringside::program
