#include "base/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/file.h"
#include "base/limits.h"
#include "base/quotation.h"

namespace ringside {
namespace {

enum class Version { one, two };

// A line of /proc/self/cgroup: which group of a hierarchy the process is in.
struct Membership {
  Version version = Version::two;
  std::string_view controllers;  // of version 1, such as "cpu,cpuacct"
  std::string_view path;         // from the root of the process's cgroup namespace
};

// A line of /proc/self/mountinfo (proc(5)) that shows a hierarchy, or a part of it.
struct Mount {
  Version version = Version::two;
  std::string_view options;  // of version 1 they have the controllers
  std::string root;          // which group is seen at `point`
  std::string point;
};

// Version 1 says "no limit" as the largest number of whole pages, 2^63 less a page of 4 to 64 KiB.
constexpr std::uint64_t unreachable_bytes = std::uint64_t{1} << 62;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

bool lists(std::string_view names, std::string_view name) {
  const auto all = split(names, ',');
  return std::find(all.begin(), all.end(), name) != all.end();
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view one_line(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// ID:CONTROLLERS:PATH, where the path may have colons too.
std::optional<Membership> membership_of(std::string_view line) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(":/", std::min(first, line.size() - 1) + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return Membership{line.substr(0, first) == "0" ? Version::two : Version::one,
                    line.substr(first + 1, second - first - 1), line.substr(second + 1)};
}

// Spaces and the like are written as a backslash and three octal digits.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view digits = text.substr(i + 1, 3);
    if (text[i] == '\\' && digits.size() == 3 &&
        std::all_of(digits.begin(), digits.end(), is_octal)) {
      unsigned code = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 8);
      out.push_back(static_cast<char>(code));
      i += digits.size();
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// ID PARENT DEVICE ROOT POINT OPTIONS [TAG…] - TYPE SOURCE OPTIONS
std::optional<Mount> cgroup_mount_of(std::string_view line) {
  const auto fields = split(line, ' ');
  constexpr std::size_t root = 3, point = 4, first_tag = 6;
  if (fields.size() <= first_tag) return std::nullopt;
  const auto dash = std::find(fields.begin() + first_tag, fields.end(), "-");
  if (fields.end() - dash < 3) return std::nullopt;
  const bool second = dash[1] == "cgroup2";
  if (!second && dash[1] != "cgroup") return std::nullopt;
  return Mount{second ? Version::two : Version::one, fields.back(), unescaped(fields[root]),
               unescaped(fields[point])};
}

// `path` from `root` on, such as "/b" of "/a/b" from "/a" on. Absent where it does not lie in
// there.
std::optional<std::string_view> path_within(std::string_view root, std::string_view path) {
  if (path == "/") path = "";
  if (root == "/") return path;
  if (!path.starts_with(root)) return std::nullopt;
  path.remove_prefix(root.size());
  if (!path.empty() && path.front() != '/') return std::nullopt;
  return path;
}

// The folders in which the process's own group of a hierarchy and those around it are seen.
std::vector<std::string> folders(const Membership& group, const std::vector<Mount>& mounts,
                                 std::string_view controller) {
  std::vector<std::string> found, points;
  for (const Mount& mount : mounts) {
    if (mount.version != group.version) continue;
    if (mount.version == Version::one && !lists(mount.options, controller)) continue;
    points.push_back(mount.point);
    const auto within = path_within(mount.root, group.path);
    if (!within) continue;
    found.push_back(mount.point);
    for (std::string below(*within); !below.empty(); below.resize(below.rfind('/'))) {
      found.push_back(mount.point + below);
    }
  }
  // A namespace that is younger than its mounts is told paths that they don't have. What is seen at
  // their points is then a group around ours.
  return found.empty() ? points : found;
}

class Reading {
 public:
  explicit Reading(const FileReader& read) : read_(read) {}

  CgroupLimits limits() {
    const std::string groups_path = "/proc/self/cgroup";
    const auto groups = contents(groups_path), mounts_text = contents("/proc/self/mountinfo");
    if (!groups || !mounts_text) return std::move(out_);
    std::vector<Mount> mounts;
    for (const std::string_view line : split(*mounts_text, '\n')) {
      if (auto mount = cgroup_mount_of(line)) mounts.push_back(*std::move(mount));
    }
    for (const std::string_view line : split(*groups, '\n')) {
      if (const auto group = membership_of(line)) {
        look_at(*group, mounts);
      } else {
        not_understood(groups_path, line);
      }
    }
    return std::move(out_);
  }

 private:
  void look_at(const Membership& group, const std::vector<Mount>& mounts) {
    const bool second = group.version == Version::two;
    if (second || lists(group.controllers, "memory")) {
      for (const auto& folder : folders(group, mounts, "memory")) {
        take(out_.memory_bytes, memory_of(folder, group.version));
      }
    }
    if (second || lists(group.controllers, "cpu")) {
      for (const auto& folder : folders(group, mounts, "cpu")) {
        take(out_.cores, second ? quota_of(folder) : old_quota_of(folder));
      }
    }
  }

  template <class Number>
  static void take(std::optional<Number>& least, std::optional<Number> other) {
    if (other && (!least || *other < *least)) least = other;
  }

  // Absent where there is no such file, or where it can't be read, which is complained of.
  std::optional<std::string> contents(const std::string& path) {
    auto text = read_(path);
    if (text) return *std::move(text);
    if (text.error().kind != ErrorKind::not_found) complain(text.error().message);
    return std::nullopt;
  }

  std::nullopt_t not_understood(const std::string& path, std::string_view text) {
    complain(fmt::format("{} says {}, which is not understood; no limit is assumed of it", path,
                         quotation(one_line(text))));
    return std::nullopt;
  }

  void complain(std::string line) {
    auto& all = out_.complaints;
    if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(std::move(line));
  }

  std::optional<std::uint64_t> memory_of(const std::string& folder, Version version) {
    const std::string path =
        folder + (version == Version::two ? "/memory.max" : "/memory.limit_in_bytes");
    const auto text = contents(path);
    if (!text || one_line(*text) == "max") return std::nullopt;
    const auto bytes = number<std::uint64_t>(one_line(*text));
    if (!bytes || *bytes == 0) return not_understood(path, *text);
    if (*bytes >= unreachable_bytes) return std::nullopt;
    return bytes;
  }

  // "QUOTA PERIOD" in microseconds, or "max PERIOD".
  std::optional<double> quota_of(const std::string& folder) {
    const std::string path = folder + "/cpu.max";
    const auto text = contents(path);
    if (!text) return std::nullopt;
    const auto words = split(one_line(*text), ' ');
    if (words.size() != 2) return not_understood(path, *text);
    if (words[0] == "max") return std::nullopt;
    const auto quota = number<std::int64_t>(words[0]), period = number<std::int64_t>(words[1]);
    if (!quota || !period || *quota <= 0 || *period <= 0) return not_understood(path, *text);
    return static_cast<double>(*quota) / static_cast<double>(*period);
  }

  std::optional<double> old_quota_of(const std::string& folder) {
    const std::string quota_path = folder + "/cpu.cfs_quota_us";
    const std::string period_path = folder + "/cpu.cfs_period_us";
    const auto quota_text = contents(quota_path), period_text = contents(period_path);
    if (!quota_text || !period_text) return std::nullopt;
    const auto quota = number<std::int64_t>(one_line(*quota_text));
    const auto period = number<std::int64_t>(one_line(*period_text));
    if (!quota || *quota < -1 || *quota == 0) return not_understood(quota_path, *quota_text);
    if (*quota == -1) return std::nullopt;
    if (!period || *period <= 0) return not_understood(period_path, *period_text);
    return static_cast<double>(*quota) / static_cast<double>(*period);
  }

  const FileReader& read_;
  CgroupLimits out_;
};

}  // namespace

CgroupLimits read_cgroup_limits(const FileReader& read) { return Reading(read).limits(); }

Result<std::string> read_kernel_file(const std::string& path) {
  return read_file(path, limits::kernel_file_size_bytes);
}

}  // namespace ringside
