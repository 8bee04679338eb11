#include "program/state_database.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace ringside::program {
namespace {

using testing::HasSubstr;

class StateDatabase : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static shard::StateFile directory(std::size_t keys) {
    shard::StateFile file{"directory", {{}, "ring"}};
    for (std::size_t i = 0; i < keys; ++i) {
      file.state.shards.push_back(
          {fmt::format("GB\n/user's/{}", i), i % 3 == 0 ? "" : "cache-1", {}});
    }
    return file;
  }
  void expect_read(const shard::StateFile& expected) const {
    const auto read = read_state_database(path_);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->scheme, expected.scheme);
    EXPECT_EQ(read->state, expected.state);
  }
  [[nodiscard]] std::string failure() const {
    const auto read = read_state_database(path_);
    return read ? "" : read.error().message;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / fmt::format("ringside-state-{}", ::getpid());
  const std::string path_ = folder_ / "directory.sqlite";
};

TEST_F(StateDatabase, WhatIsWrittenIsRead) {
  EXPECT_FALSE(is_state_database(path_));
  for (const std::size_t keys : {std::size_t{0}, std::size_t{200}, std::size_t{3}}) {
    const auto file = directory(keys);
    const auto written = write_state_database(path_, file);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_TRUE(is_state_database(path_));
    expect_read(file);
  }
}

TEST_F(StateDatabase, ShardsOfRoutesHaveTheirRouteAndTheirParent) {
  shard::StateFile file{"ring,films=range,shops=directory", {{}, "vbucket"}};
  file.state.shards = {{"", "cache-0", {}, "films"},
                       {"cache/9", "", {}, "shops"},
                       {"films/m", "cache-1", 0, "films"}};
  ASSERT_TRUE(write_state_database(path_, file));
  expect_read(file);
  file.state.shards[2].parent.reset();
  file.state.shards[1].route = "cinemas";
  ASSERT_TRUE(write_state_database(path_, file));
  expect_read(file);
}

TEST_F(StateDatabase, ATableIsKeptBesideTheKeys) {
  shard::StateFile file{"vbucket,shops=directory", {{}, "vbucket"}};
  file.state.shards = {{"9", "cache-0", {}, "shops"}};
  for (const auto& table :
       {std::vector<shard::TableRow>{{"cache-0", "0-9"}, {"cache-1", "10-16383"}},
        {{"cache-1", "0-16383"}},
        {}}) {
    file.state.table = table;
    ASSERT_TRUE(write_state_database(path_, file));
    expect_read(file);
  }
}

TEST_F(StateDatabase, OneOfAnOlderReleaseIsReadAndBroughtUpToDate) {
  const std::string make = fmt::format(
      "python3 -c 'import sqlite3; c = sqlite3.connect(\"{}\"); "
      "c.executescript(\"PRAGMA application_id = 1382641255; PRAGMA user_version = 1;"
      "CREATE TABLE scheme(one INTEGER PRIMARY KEY, name TEXT NOT NULL, fallback TEXT NOT NULL);"
      "CREATE TABLE keys(number INTEGER PRIMARY KEY, key TEXT NOT NULL, owner TEXT NOT NULL);"
      "INSERT INTO scheme VALUES(1, \\\"directory\\\", \\\"ring\\\");"
      "INSERT INTO keys VALUES(0, \\\"GB\\\", \\\"cache-1\\\")\")'",
      path_);
  ASSERT_EQ(std::system(make.c_str()), 0);
  shard::StateFile file{"directory", {{{"GB", "cache-1", {}}}, "ring"}};
  expect_read(file);
  file.state.shards.push_back({"FR", "", 0});
  ASSERT_TRUE(write_state_database(path_, file));
  expect_read(file);
}

TEST_F(StateDatabase, AKeyThatMovesIsOneRow) {
  auto file = directory(200);
  ASSERT_TRUE(write_state_database(path_, file));
  file.state.shards[7].owner = "cache-9";
  file.state.shards.push_back({"new", "cache-1", {}});
  ASSERT_TRUE(write_state_database(path_, file));
  expect_read(file);
}

TEST_F(StateDatabase, OneThatCannotBeMadeSaysWhy) {
  const auto written = write_state_database(folder_ / "none" / "file", directory(1));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("unable to open database file"));
}

TEST_F(StateDatabase, ADamagedOneIsAnError) {
  ASSERT_TRUE(write_state_database(path_, directory(5'000)));
  const auto size = std::filesystem::file_size(path_);
  std::filesystem::resize_file(path_, size / 2);
  EXPECT_THAT(failure(), HasSubstr("malformed"));
  std::ofstream(path_, std::ios::binary) << std::string_view("SQLite format 3\0rest", 20);
  EXPECT_TRUE(is_state_database(path_));
  EXPECT_NE(failure(), "");
}

// Killed within a commit, a process left a journal, and could not read its directory any more.
TEST_F(StateDatabase, WhatACrashLeftHalfDoneIsTakenBack) {
  ASSERT_TRUE(write_state_database(path_, directory(3'000)));
  const std::string crash = fmt::format(
      "python3 -c 'import os, shutil, sqlite3\n"
      "c = sqlite3.connect(\"{0}\", isolation_level=None)\n"
      "c.execute(\"PRAGMA cache_size = 1\")\n"
      "c.execute(\"BEGIN\")\n"
      "c.execute(\"UPDATE keys SET owner = 7\")\n"
      "shutil.copy(\"{0}\", \"{0}.crashed\")\n"
      "shutil.copy(\"{0}-journal\", \"{0}.crashed-journal\")'",
      path_);
  ASSERT_EQ(std::system(crash.c_str()), 0);
  const auto read = read_state_database(path_ + ".crashed");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->state, directory(3'000).state);
}

TEST_F(StateDatabase, AnEmptyFileIsMadeOne) {
  std::ofstream(path_).close();
  const auto written = write_state_database(path_, directory(2));
  ASSERT_TRUE(written) << written.error().message;
  expect_read(directory(2));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(StateDatabase, OneOfAnotherProgramIsLeftAlone) {
  const std::string make = fmt::format(
      "python3 -c 'import sqlite3; c = sqlite3.connect(\"{}\"); "
      "c.execute(\"CREATE TABLE a(b)\"); c.commit()'",
      path_);
  ASSERT_EQ(std::system(make.c_str()), 0);
  EXPECT_THAT(failure(), HasSubstr("it is the database of another program"));
  EXPECT_FALSE(write_state_database(path_, directory(1)));
  EXPECT_THAT(failure(), HasSubstr("it is the database of another program"));
}

TEST_F(StateDatabase, OneOfAnotherFormatIsRefused) {
  ASSERT_TRUE(write_state_database(path_, directory(1)));
  const std::string change = fmt::format(
      "python3 -c 'import sqlite3; c = sqlite3.connect(\"{}\"); "
      "c.execute(\"PRAGMA user_version = 4\")'",
      path_);
  ASSERT_EQ(std::system(change.c_str()), 0);
  EXPECT_THAT(failure(), HasSubstr("its format is 4, and this release knows 1 to 3"));
}

}  // namespace
}  // namespace ringside::program
