#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

// What the kernel lets a process's control groups use: in a container that is far less than the
// machine has. Versions 1 and 2 (cgroups(7)), and machines with both.
namespace ringside {

struct CgroupLimits {
  std::optional<std::uint64_t> memory_bytes;  // absent: no limit is set that can be seen
  std::optional<double> cores;                // processor time in a period, by its length
  // One line for each figure that could not be understood or read. No limit is assumed of it.
  std::vector<std::string> complaints;
};

// The contents of the file at an absolute path; ErrorKind::not_found where there is none.
using FileReader = std::function<Result<std::string>(const std::string& path)>;

// The smallest limits of the process's own groups and of those around them that can be seen in its
// mounts. A limit is taken for none where the kernel says so ("max", -1, or version 1's number
// that nobody can reach).
[[nodiscard]] CgroupLimits read_cgroup_limits(const FileReader& read);

// Of this process. Never more than the kernel writes at once: its files are short.
[[nodiscard]] Result<std::string> read_kernel_file(const std::string& path);

}  // namespace ringside
