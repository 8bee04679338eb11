#pragma once

#include <span>
#include <vector>

#include "shard/state.h"
#include "shard/topology.h"

namespace ringside::shard {

// Whose the buckets are: of each member those that it has had the longest first.
using BucketHands = std::vector<std::vector<Bucket>>;

// A row for each member that has a bucket. Numbers that follow each other, up or down, are one run:
// `3,10-12,9-7`. Requires as many hands as members.
[[nodiscard]] std::vector<TableRow> table_rows(std::span<const Member> members,
                                               const BucketHands& hands);

// The buckets of each row. An Error names the row that is wrong: one whose member has no possible
// name or stands twice, numbers that can't be read, a bucket that another row has too; or the
// bucket that no row has.
[[nodiscard]] Result<BucketHands> read_table(std::span<const TableRow> table);

}  // namespace ringside::shard
