#include "base/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace ringside {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kMiB = 1 << 20;

// Paths and contents; what is not there does not exist.
using Files = std::map<std::string, std::string>;

CgroupLimits limits_in(const Files& files) {
  return read_cgroup_limits([&](const std::string& path) -> Result<std::string> {
    const auto found = files.find(path);
    if (found != files.end()) return found->second;
    return Error{ErrorKind::not_found, ErrorSource::ourselves, Retry::no, path + " is not there"};
  });
}

struct Case {
  const char* where;
  Files files;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> cores;
};

void expect(const Case& one) {
  SCOPED_TRACE(one.where);
  const CgroupLimits limits = limits_in(one.files);
  EXPECT_EQ(limits.memory_bytes, one.memory_bytes);
  EXPECT_EQ(limits.cores, one.cores);
  EXPECT_THAT(limits.complaints, IsEmpty());
}

// What a container of containerd 1.6 with 256 MiB and 1.5 cores said, on a machine with version 1,
// and version 2 beside it without a controller.
const Files version_one_container{
    {"/proc/self/cgroup",
     "9:name=systemd:/default/rec2\n8:pids:/default/rec2\n4:memory:/default/rec2\n"
     "2:cpuacct:/default/rec2\n1:cpu:/default/rec2\n0::/default/rec2\n"},
    {"/proc/self/mountinfo",
     "73 71 0:46 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=755\n"
     "74 73 0:29 /default/rec2 /sys/fs/cgroup/cpu ro,nosuid,nodev,noexec,relatime - cgroup cgroup "
     "rw,cpu\n"
     "75 73 0:30 /default/rec2 /sys/fs/cgroup/cpuacct ro,nosuid,nodev,noexec,relatime - cgroup "
     "cgroup rw,cpuacct\n"
     "77 73 0:32 /default/rec2 /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime - cgroup "
     "cgroup rw,memory\n"
     "82 73 0:37 /default/rec2 /sys/fs/cgroup/systemd ro,nosuid,nodev,noexec,relatime - cgroup "
     "cgroup rw,name=systemd\n"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}};

// The same container without a mount of the groups, as `ctr run` makes it.
const Files unmounted{
    {"/proc/self/cgroup", "4:memory:/default/rec1\n1:cpu:/default/rec1\n0::/default/rec1\n"},
    {"/proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n"}};

// A machine with both versions and no container, the controllers in version 1.
const Files both_versions{
    {"/proc/self/cgroup", "4:memory:/process/d29e\n2:cpuacct:/\n1:cpu:/\n0::/\n"},
    {"/proc/self/mountinfo",
     "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
     "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
     "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"},
    {"/sys/fs/cgroup/memory/process/d29e/memory.limit_in_bytes", "9223372036854771712\n"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
    {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}};

// With a group namespace of its own, whose mounts are as old as itself.
Files namespaced(const std::string& memory, const std::string& cpu) {
  return {{"/proc/self/cgroup", "0::/\n"},
          {"/proc/self/mountinfo",
           "1548 1547 0:27 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup "
           "rw,nsdelegate,memory_recursiveprot\n"},
          {"/sys/fs/cgroup/memory.max", memory},
          {"/sys/fs/cgroup/cpu.max", cpu}};
}

// A namespace that is younger than its mounts: they show the group around it.
const Files younger_namespace{
    {"/proc/self/cgroup", "4:memory:/\n0::/\n"},
    {"/proc/self/mountinfo",
     "51 47 0:32 /.. /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
     "57 47 0:38 /.. /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"},
    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n"}};

TEST(Cgroup, LimitsOfContainersAndMachines) {
  expect({"version 1, a container", version_one_container, 256 * kMiB, 1.5});
  expect({"version 1, nothing mounted", unmounted, std::nullopt, std::nullopt});
  expect({"both, no container", both_versions, std::nullopt, std::nullopt});
  expect({"version 2", namespaced("536870912\n", "50000 100000\n"), 512 * kMiB, 0.5});
  expect({"version 2, no limit", namespaced("max\n", "max 100000\n"), std::nullopt, std::nullopt});
  expect({"version 2, memory alone", namespaced("1048576\n", "max 100000\n"), kMiB, std::nullopt});
  expect({"a younger namespace", younger_namespace, 128 * kMiB, std::nullopt});
  expect({"no /proc", {}, std::nullopt, std::nullopt});
}

// The machine's own view of a pod of two levels, limits at each.
Files pod(const std::string& inner, const std::string& outer, const std::string& top) {
  const std::string folder = "/sys/fs/cgroup/kubepods.slice";
  return {{"/proc/self/cgroup", "0::/kubepods.slice/pod1.slice/cri-1.scope\n"},
          {"/proc/self/mountinfo",
           "35 26 0:30 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"},
          {folder + "/pod1.slice/cri-1.scope/memory.max", inner},
          {folder + "/pod1.slice/memory.max", outer},
          {folder + "/memory.max", top},
          {folder + "/pod1.slice/cri-1.scope/cpu.max", "max 100000\n"},
          {folder + "/pod1.slice/cpu.max", "250000 100000\n"},
          {folder + "/cpu.max", "400000 100000\n"}};
}

TEST(Cgroup, TheSmallestLimitOfAllThatAreAroundCounts) {
  expect({"the innermost", pod("1048576", "2097152", "max"), kMiB, 2.5});
  expect({"the one around it", pod("3145728", "2097152", "max"), 2 * kMiB, 2.5});
  expect({"the outermost", pod("max", "max", "4194304"), 4 * kMiB, 2.5});
}

TEST(Cgroup, MountsThatShowSomethingElseAreNotAsked) {
  Files files = version_one_container;
  files["/proc/self/mountinfo"] +=
      "90 71 0:32 /default/other /mnt/other rw - cgroup cgroup rw,memory\n"
      "91 71 0:32 /default/rec /mnt/prefix rw - cgroup cgroup rw,memory\n"
      "92 71 0:33 /default/rec2 /mnt/devices rw - cgroup cgroup rw,devices\n"
      "93 71 0:38 /default /mnt/two\\040words rw shared:1 master:2 - cgroup2 cgroup2 rw\n";
  for (const char* const folder : {"/mnt/other", "/mnt/prefix", "/mnt/devices"}) {
    files[std::string(folder) + "/memory.limit_in_bytes"] = "4096\n";
  }
  expect({"as before", files, 256 * kMiB, 1.5});
  // Of both versions the smaller limit counts.
  files["/mnt/two words/rec2/memory.max"] = "1048576\n";
  expect({"version 2 has less", files, kMiB, 1.5});
}

TEST(Cgroup, WhatIsNotUnderstoodIsNoLimitAndIsTold) {
  const std::string quota = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us";
  const std::string period = "/sys/fs/cgroup/cpu/cpu.cfs_period_us";
  const std::string memory = "/sys/fs/cgroup/memory/memory.limit_in_bytes";
  for (const auto& [path, texts] : std::map<std::string, std::vector<std::string>>{
           {memory, {"", "\n", "-1\n", "0\n", "1 2\n", "12k\n", "99999999999999999999\n", "\x01"}},
           {quota, {"", "0\n", "-2\n", "x\n", "max\n"}},
           {period, {"", "0\n", "-1\n", "x\n"}}}) {
    for (const std::string& text : texts) {
      SCOPED_TRACE(path + " " + text);
      Files files = version_one_container;
      files[path] = text;
      const CgroupLimits limits = limits_in(files);
      EXPECT_EQ(limits.memory_bytes.has_value(), path != memory);
      EXPECT_EQ(limits.cores.has_value(), path == memory);
      EXPECT_THAT(limits.complaints, ElementsAre(HasSubstr(path)));
    }
  }
  for (const char* const text : {"", "max\n", "100000\n", "-1 100000\n", "0 100000\n", "5 0\n",
                                 "5 -5\n", "1 2 3\n", "a b\n"}) {
    SCOPED_TRACE(text);
    const CgroupLimits limits = limits_in(namespaced("1048576\n", text));
    EXPECT_EQ(limits.memory_bytes, kMiB);
    EXPECT_FALSE(limits.cores);
    EXPECT_THAT(limits.complaints, ElementsAre(HasSubstr("/sys/fs/cgroup/cpu.max says")));
  }
}

TEST(Cgroup, WhatIsNotUnderstoodOfTheGroupsThemselvesIsTold) {
  for (const char* const text : {"memory\n", "4:memory\n", ":\n", "0::\n", "4:memory:relative\n"}) {
    SCOPED_TRACE(text);
    Files files = version_one_container;
    files["/proc/self/cgroup"] += text;
    const CgroupLimits limits = limits_in(files);
    EXPECT_EQ(limits.memory_bytes, 256 * kMiB);
    EXPECT_THAT(limits.complaints, ElementsAre(HasSubstr("/proc/self/cgroup says")));
  }
  // Lines of mountinfo that are cut short name no mount.
  for (const char* const text :
       {"-\n", "1 2 3 4 5 6 7\n", "1 2 0:1 / /x rw -\n", "1 2 0:1 / /x rw - cgroup2\n"}) {
    SCOPED_TRACE(text);
    Files files = version_one_container;
    files["/proc/self/mountinfo"] += text;
    EXPECT_EQ(limits_in(files).memory_bytes, 256 * kMiB);
  }
}

TEST(Cgroup, AFileThatCantBeReadIsTold) {
  const auto limits = read_cgroup_limits([](const std::string& path) -> Result<std::string> {
    const auto found = version_one_container.find(path);
    if (!path.ends_with("limit_in_bytes")) {
      if (found != version_one_container.end()) return found->second;
    }
    return Error{ErrorKind::internal, ErrorSource::ourselves, Retry::no, path + ": forbidden"};
  });
  EXPECT_FALSE(limits.memory_bytes);
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_THAT(limits.complaints, ElementsAre(HasSubstr("limit_in_bytes: forbidden")));
}

TEST(Cgroup, KernelFilesAreRead) {
  EXPECT_THAT(*read_kernel_file("/proc/self/cgroup"), HasSubstr(":/"));
  EXPECT_EQ(read_kernel_file("/proc/self/nothing").error().kind, ErrorKind::not_found);
  const auto folder = read_kernel_file("/proc/self");
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().kind, ErrorKind::not_found);
  EXPECT_THAT(folder.error().message, HasSubstr("/proc/self: "));
  EXPECT_THAT(read_cgroup_limits(read_kernel_file).complaints, IsEmpty());
}

}  // namespace
}  // namespace ringside
