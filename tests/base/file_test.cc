#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace ringside {
namespace {

using testing::HasSubstr;

TEST(File, IsReadWholeUpToItsLimit) {
  const std::string path = testing::TempDir() + "file_test_" + std::to_string(::getpid());
  for (const std::size_t size : {0U, 1U, 65'535U, 65'536U, 65'537U, 200'000U}) {
    const std::string content(size, 'x');
    std::ofstream(path, std::ios::binary) << content;
    EXPECT_EQ(read_file(path, size).value(), content);
    EXPECT_EQ(read_file(path, size + 1).value(), content);
    if (size == 0) continue;
    const auto beyond = read_file(path, size - 1);
    ASSERT_FALSE(beyond) << size;
    EXPECT_THAT(beyond.error().message, HasSubstr("is larger than " + std::to_string(size - 1)));
  }
  static_cast<void>(std::remove(path.c_str()));
}

TEST(File, ThatCanNotBeReadSaysWhy) {
  EXPECT_THAT(read_file("/nowhere/at/all", 10).error().message,
              testing::AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("No such file")));
  EXPECT_THAT(read_file("/", 10).error().message, HasSubstr("directory"));
}

}  // namespace
}  // namespace ringside
