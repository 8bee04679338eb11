#include "program/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ringside::program {
namespace {

namespace fs = std::filesystem;

FileStamp stamp(std::int64_t modified_ns) { return {true, 1, 2, 3, modified_ns}; }

TEST(FileWatch, TellsOnceWhenAChangeHasSettled) {
  FileWatch watch;
  static_cast<void>(watch.judge({stamp(1)}));
  EXPECT_TRUE(watch.judge({stamp(1)}));
  struct Look {
    FileStamp seen;
    bool tells;
  };
  const std::vector<Look>
      looks{
          {stamp(1), false}, {stamp(2), false}, {stamp(3), false}, {stamp(3), true},
          {stamp(3), false}, {{}, false},       {{}, true},        {{}, false},
          {stamp(4), false}, {stamp(3), false}, {stamp(3), true},  {stamp(5), false},
          {stamp(3), false}, {stamp(3), false},  // back to what was told
      };
  for (std::size_t i = 0; i < looks.size(); ++i) {
    EXPECT_EQ(watch.judge({looks[i].seen}), looks[i].tells) << i;
  }
}

class Folder {
 public:
  Folder() {
    std::string name = fs::temp_directory_path() / "ringside-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

TEST(FileWatch, SeesTheSwapOfAConfigMapsLink) {
  const Folder folder;
  for (const char* const version : {"v1", "v2"}) {
    fs::create_directory(folder / version);
    std::ofstream(folder / version / "tier.yaml") << "a: 1\n";
  }
  fs::create_directory_symlink("v1", folder / "..data");
  fs::create_symlink("..data/tier.yaml", folder / "tier.yaml");

  FileWatch watch;
  watch.add(folder / "tier.yaml");
  EXPECT_FALSE(watch.look());
  fs::create_directory_symlink("v2", folder / "..new");
  fs::rename(folder / "..new", folder / "..data");
  EXPECT_FALSE(watch.look());
  EXPECT_TRUE(watch.look());
  EXPECT_FALSE(watch.look());
}

TEST(FileWatch, AbsentFilesHaveNoStamp) {
  EXPECT_EQ(stamp_of("/nowhere/at/all"), FileStamp{});
  EXPECT_TRUE(stamp_of("/").exists);
}

}  // namespace
}  // namespace ringside::program
