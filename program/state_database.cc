#include "program/state_database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "base/limits.h"
#include "shard/topology.h"

namespace ringside::program {
namespace {

constexpr int application_id = 0x52696e67;  // "Ring"
constexpr int format = 3;  // 1: without parent and route; 2: without the table of buckets
constexpr const char* table_of_buckets =
    "CREATE TABLE buckets(number INTEGER PRIMARY KEY, member TEXT NOT NULL, buckets TEXT NOT NULL)";

struct Close {
  void operator()(sqlite3* own) const noexcept { sqlite3_close(own); }
  void operator()(sqlite3_stmt* own) const noexcept { sqlite3_finalize(own); }
};
using Database = std::unique_ptr<sqlite3, Close>;

Error database_error(sqlite3* database) {
  return {ErrorKind::internal, ErrorSource::ourselves, Retry::no,
          fmt::format("SQLite says: {}", sqlite3_errmsg(database))};
}

Result<Database> open(const std::string& path, int flags) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) return database_error(database.get());
  sqlite3_busy_timeout(database.get(), static_cast<int>(limits::state_timeout.count()));
  return database;
}

Result<void> run(sqlite3* database, const std::string& statements) {
  if (sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return database_error(database);
}

// One statement, and the values of its `?` in their order. It borrows texts until it is stepped.
class Statement {
 public:
  Statement(sqlite3* database, const char* text) : database_(database) {
    sqlite3_stmt* made = nullptr;
    sqlite3_prepare_v2(database, text, -1, &made, nullptr);
    own_.reset(made);
  }
  Statement& bind(const std::string& text) {
    sqlite3_bind_text(own_.get(), ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_STATIC);
    return *this;
  }
  Statement& bind(std::size_t number) {
    sqlite3_bind_int64(own_.get(), ++bound_, static_cast<sqlite3_int64>(number));
    return *this;
  }
  Statement& bind(std::optional<std::size_t> number) {
    if (number) return bind(*number);
    sqlite3_bind_null(own_.get(), ++bound_);
    return *this;
  }
  // True: there is a row. The statement begins anew with the next bind().
  [[nodiscard]] Result<bool> step() {
    const int code = own_ ? sqlite3_step(own_.get()) : SQLITE_ERROR;
    if (code == SQLITE_ROW) return true;
    if (code != SQLITE_DONE) return database_error(database_);
    sqlite3_reset(own_.get());
    bound_ = 0;
    return false;
  }
  [[nodiscard]] std::string text(int column) const {
    const auto* const bytes = sqlite3_column_text(own_.get(), column);
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(own_.get(), column));
    return bytes == nullptr ? std::string()
                            : std::string(reinterpret_cast<const char*>(bytes), size);
  }
  [[nodiscard]] std::int64_t number(int column) const {
    return sqlite3_column_int64(own_.get(), column);
  }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(own_.get(), column) == SQLITE_NULL;
  }

 private:
  sqlite3* const database_;
  std::unique_ptr<sqlite3_stmt, Close> own_;
  int bound_ = 0;
};

// Its format, which is one of those that this release knows.
Result<int> format_of(sqlite3* database) {
  Statement id(database, "PRAGMA application_id");
  if (const auto row = id.step(); !row) return row.error();
  Statement version(database, "PRAGMA user_version");
  if (const auto row = version.step(); !row) return row.error();
  if (id.number(0) != application_id) return invalid_input("it is the database of another program");
  const std::int64_t found = version.number(0);
  if (found >= 1 && found <= format) return static_cast<int>(found);
  return invalid_input(
      fmt::format("its format is {}, and this release knows 1 to {}", found, format));
}

Result<void> bring_up_to_date(sqlite3* database) {
  const auto found = format_of(database);
  if (!found) return found.error();
  if (*found == format) return {};
  const std::string first = *found > 1
                                ? ""
                                : "ALTER TABLE keys ADD COLUMN parent INTEGER;"
                                  "ALTER TABLE keys ADD COLUMN route TEXT NOT NULL DEFAULT '';";
  return run(database,
             fmt::format("{}{}; PRAGMA user_version = {}", first, table_of_buckets, format));
}

Result<void> write_table(sqlite3* database, const std::vector<shard::TableRow>& table) {
  Statement row(database,
                "INSERT INTO buckets(number, member, buckets) VALUES(?, ?, ?) "
                "ON CONFLICT(number) DO UPDATE SET member = excluded.member, "
                "buckets = excluded.buckets "
                "WHERE member <> excluded.member OR buckets <> excluded.buckets");
  for (std::size_t i = 0; i < table.size(); ++i) {
    row.bind(i).bind(table[i].member).bind(table[i].buckets);
    if (auto done = row.step(); !done) return done.error();
  }
  Statement rest(database, "DELETE FROM buckets WHERE number >= ?");
  auto done = rest.bind(table.size()).step();
  return done ? Result<void>{} : done.error();
}

Result<void> write_rows(sqlite3* database, const shard::StateFile& file) {
  Statement scheme(database,
                   "INSERT INTO scheme(one, name, fallback) VALUES(1, ?, ?) ON CONFLICT(one) DO "
                   "UPDATE SET name = excluded.name, fallback = excluded.fallback");
  if (auto done = scheme.bind(file.scheme).bind(file.state.fallback).step(); !done) {
    return done.error();
  }
  Statement row(database,
                "INSERT INTO keys(number, key, owner, parent, route) VALUES(?, ?, ?, ?, ?) "
                "ON CONFLICT(number) DO UPDATE SET key = excluded.key, owner = excluded.owner, "
                "parent = excluded.parent, route = excluded.route "
                "WHERE key <> excluded.key OR owner <> excluded.owner "
                "OR parent IS NOT excluded.parent OR route <> excluded.route");
  for (std::size_t i = 0; i < file.state.shards.size(); ++i) {
    const shard::Shard& shard = file.state.shards[i];
    row.bind(i).bind(shard.at).bind(shard.owner).bind(shard.parent).bind(shard.route);
    if (auto done = row.step(); !done) return done.error();
  }
  Statement rest(database, "DELETE FROM keys WHERE number >= ?");
  auto done = rest.bind(file.state.shards.size()).step();
  return done ? write_table(database, file.state.table) : done.error();
}

Result<std::vector<shard::TableRow>> read_table(sqlite3* database) {
  Statement row(database, "SELECT member, buckets FROM buckets ORDER BY number");
  std::vector<shard::TableRow> table;
  while (true) {
    const auto more = row.step();
    if (!more) return more.error();
    if (!*more) return table;
    if (table.size() == limits::members) return invalid_input("its table has too many rows");
    table.push_back({row.text(0), row.text(1)});
  }
}

}  // namespace

bool is_state_database(const std::string& path) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::string begin(magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

Result<shard::StateFile> read_state_database(const std::string& path) {
  // Not for reading alone: what a crash has left half done is taken back first.
  const auto database = open(path, SQLITE_OPEN_READWRITE);
  if (!database) return database.error();
  // Its format and its rows, as they were at one moment.
  if (auto begun = run(database->get(), "BEGIN"); !begun) return begun.error();
  const auto found = format_of(database->get());
  if (!found) return found.error();
  shard::StateFile file;
  Statement scheme(database->get(), "SELECT name, fallback FROM scheme");
  const auto named = scheme.step();
  if (!named) return named.error();
  if (!*named) return invalid_input("it names no scheme");
  file.scheme = scheme.text(0);
  file.state.fallback = scheme.text(1);
  if (*found > 2) {
    auto table = read_table(database->get());
    if (!table) return table.error();
    file.state.table = *std::move(table);
  }
  Statement row(database->get(),
                *found == 1 ? "SELECT number, key, owner, NULL, '' FROM keys ORDER BY number"
                            : "SELECT number, key, owner, parent, route FROM keys ORDER BY number");
  while (true) {
    const auto more = row.step();
    if (!more) return more.error();
    if (!*more) return file;
    const std::size_t number = file.state.shards.size();
    if (number == shard::bucket_count) return invalid_input("it has too many keys");
    if (row.number(0) != static_cast<std::int64_t>(number)) {
      return invalid_input(fmt::format("its keys have no number {}", number));
    }
    std::optional<std::size_t> parent;
    if (!row.is_null(3)) parent = static_cast<std::size_t>(row.number(3));
    file.state.shards.push_back({row.text(1), row.text(2), parent, row.text(4)});
  }
}

namespace {

// A new one is made beside its place: whoever finds a file there finds a whole one.
Result<void> make_database(const std::string& path, const shard::StateFile& file) {
  const std::string draft = path + ".new";
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  {
    const auto database = open(draft, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (!database) return database.error();
    const std::string begin = fmt::format(
        "BEGIN; PRAGMA application_id = {}; PRAGMA user_version = {};"
        "CREATE TABLE scheme(one INTEGER PRIMARY KEY, name TEXT NOT NULL, fallback TEXT NOT NULL);"
        "CREATE TABLE keys(number INTEGER PRIMARY KEY, key TEXT NOT NULL, owner TEXT NOT NULL,"
        " parent INTEGER, route TEXT NOT NULL DEFAULT '');"
        "{}",
        application_id, format, table_of_buckets);
    sqlite3* const own = database->get();
    if (auto made = run(own, begin); !made) return made;
    if (auto written = write_rows(own, file); !written) return written;
    if (auto ended = run(own, "COMMIT"); !ended) return ended;
  }
  const auto bytes = read_file(draft, limits::state_file_size_bytes);
  std::filesystem::remove(draft, ignored);
  std::filesystem::remove(path + "-journal", ignored);  // of one that was here before
  return bytes ? replace_file(path, *bytes) : bytes.error();
}

}  // namespace

// EXTRA: the folder is on the disk, too, when a transaction ends.
Result<void> write_state_database(const std::string& path, const shard::StateFile& file) {
  if (!is_state_database(path)) return make_database(path, file);
  const auto database = open(path, SQLITE_OPEN_READWRITE);
  if (!database) return database.error();
  sqlite3* const own = database->get();
  if (auto known = format_of(own); !known) return known.error();
  if (auto begun = run(own, "PRAGMA synchronous = EXTRA; BEGIN IMMEDIATE"); !begun) return begun;
  if (auto changed = bring_up_to_date(own); !changed) return changed;
  if (auto written = write_rows(own, file); !written) return written;
  return run(own, "COMMIT");
}

}  // namespace ringside::program
