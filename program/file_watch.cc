#include "program/file_watch.h"

#include <sys/stat.h>

#include <algorithm>
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

void FileWatch::drop(const std::string& path) {
  const auto place = std::find(paths_.begin(), paths_.end(), path);
  if (place == paths_.end()) return;
  const auto index = place - paths_.begin();
  paths_.erase(place);
  told_.erase(told_.begin() + index);
  last_.erase(last_.begin() + index);
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
