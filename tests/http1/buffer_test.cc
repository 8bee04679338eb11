#include "http1/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "base/limits.h"

namespace ringside::http {
namespace {

void put(Buffer& buffer, std::string_view bytes) {
  buffer.reserve(bytes.size());
  ASSERT_GE(buffer.writable_bytes(), bytes.size());
  std::memcpy(buffer.writable(), bytes.data(), bytes.size());
  buffer.commit(bytes.size());
}

TEST(Buffer, OwnsNothingWhileItIsEmpty) {
  Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.readable(), "");
  EXPECT_EQ(buffer.writable_bytes(), 0U);
  put(buffer, "abc");
  buffer.consume(3);
  buffer.release();
  EXPECT_EQ(buffer.writable_bytes(), 0U);
  EXPECT_EQ(buffer.readable(), "");
}

TEST(Buffer, KeepsTheUnreadBytesWhenItMovesAndGrows) {
  Buffer buffer;
  std::string expected;
  for (unsigned step = 0; step < 2000; ++step) {
    const std::string bytes(1 + step * 7 % 61, static_cast<char>('a' + step % 26));
    put(buffer, bytes);
    expected += bytes;
    const std::size_t eaten = expected.size() * (step % 4) / 3 % (expected.size() + 1);
    buffer.consume(eaten);
    expected.erase(0, eaten);
    ASSERT_EQ(buffer.readable(), expected) << step;
  }
}

TEST(Buffer, UsesItsRoomAgainRatherThanGrow) {
  Buffer buffer;
  put(buffer, std::string(1024, 'a'));
  buffer.consume(1024);
  buffer.reserve(1024);
  EXPECT_EQ(buffer.writable_bytes(), 1024U);
  put(buffer, std::string(1000, 'b'));
  buffer.consume(990);
  buffer.reserve(1014);  // fits once the ten unread bytes are moved to the front
  EXPECT_EQ(buffer.writable_bytes(), 1014U);
  EXPECT_EQ(buffer.readable(), std::string(10, 'b'));
}

// Clients choose how much comes at once: a thread kept memory of each size that ever came.
TEST(Buffer, HasFewSizes) {
  std::set<std::size_t> sizes;
  for (std::size_t bytes = 1; bytes <= limits::client_read_size_bytes; bytes += 63) {
    Buffer buffer;
    buffer.reserve(bytes);
    sizes.insert(buffer.writable_bytes());
  }
  EXPECT_THAT(sizes, testing::ElementsAre(512, 1024, 2048, 4096, 8192, 16384));
}

}  // namespace
}  // namespace ringside::http
