#pragma once

#include <string>

#include "base/error.h"
#include "shard/state_json.h"

// The state of a tier with a directory in an SQLite database: a row for each key, so that placing a
// key writes one row, and not all of them. Where routes have schemes of their own, shards of other
// schemes have rows, too.
namespace ringside::program {

// Whether there is such a file; false for one that is something else, or is not there.
[[nodiscard]] bool is_state_database(const std::string& path);

// An Error says what is wrong, without the path and the remedy.
[[nodiscard]] Result<shard::StateFile> read_state_database(const std::string& path);

// Writes the rows that differ, all of them or none; they are on the disk when this returns. Where
// there is no such file, one is put in its place whole. The Error is what SQLite, or the system,
// says.
[[nodiscard]] Result<void> write_state_database(const std::string& path,
                                                const shard::StateFile& file);

}  // namespace ringside::program
