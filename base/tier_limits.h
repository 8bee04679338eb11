#pragma once

#include "base/limits.h"

// The limits of what replicas say and give to each other. A part of base/limits.h, by which it is
// included.
namespace ringside::limits {

// # Between replicas

// {} since the last time, and as much again for each four peers | what a replica holds is told to
// them with the next time
constexpr Milliseconds holdings_interval{100};
constexpr size_t holdings_size_bytes =
    512 * kKiB;  // {} | the peer counts as one that holds nothing
// {} for all peers to say what they hold, and for a holder to find out who has what it has just
// given; a replica that was started, and discovers its members, waits for those too, and is not
// ready until then | the origin is asked
constexpr Milliseconds holdings_patience{2'000};
constexpr std::uint32_t epoch_most = 1'000'000'000;  // {} | such holdings are refused
// {} since a peer failed first, and it fails again; at once where nothing listens | it can't be
// reached, and others take what it holds
constexpr Milliseconds unreachable_after{250};
// {}, doubling to {} | a peer that could not be reached is asked again what it holds
constexpr Milliseconds holder_pause_start{250};
constexpr Milliseconds holder_pause_most{5'000};
// {} directions that a miss takes, as holders refuse or fail; while these are about to find out who
// has it, as many as `holdings_patience` allows | the origin is asked
constexpr unsigned holders_tried = 3;
// {} request in flight, on each core, to holders of buckets that a replica is to take; any number
// with --move-rate 0 | the next sidecar is refused (421), told who the holder is, and asks there
constexpr size_t fills_most = 1;
// {} that a leaver can't be reached | nobody asks it any more; what it holds is lost
constexpr Milliseconds leaver_patience{30'000};

// {} of those that a process followed last | a peer that tells of an older one makes it read its
// source of members again
constexpr size_t topologies_remembered = 8;
// {}, doubling to {}, since it was read again because of what a peer told | it is not read again
// for that
constexpr Milliseconds reread_pause{1'000};
constexpr Milliseconds reread_pause_most{60'000};

// # What moves

// (--move-rate) {} MiB a second, into one replica; 0: nothing moves | it comes later
constexpr size_t move_rate_mib_s = 100;
constexpr size_t move_rate_most_mib_s = 1'000'000;  // (--move-rate) refused
// {} more than a batch takes at its fastest, and its time at {} times the rate | clients wait for
// the same cores; not where who gives is about to end
constexpr Milliseconds move_delay{2};
constexpr size_t move_speed = 4;
// {} times what such a batch takes longer than at its fastest, {} at most | the next one is asked
// for
constexpr unsigned move_yield = 5;
constexpr Milliseconds move_yield_most{250};
constexpr Milliseconds move_memory{
    30'000};  // {} | what a batch takes at its fastest is learnt anew
// {} from nothing to the whole rate, 1/{} of which comes at once | what a batch takes at its
// fastest is learnt before many are asked for
constexpr Milliseconds move_rise{1'000};
constexpr size_t move_begin_divisor = 4;
// {} in a batch, or one stored response; of {} buckets | the next batch has the rest
constexpr size_t move_batch_size_bytes = 256 * kKiB;
constexpr size_t move_batch_buckets = 256;
// {} and {} keys of what has moved, removed at a time where it came from, {} apart | the core does
// whatever else is ready
constexpr size_t move_remove_size_bytes = 4 * kMiB;
constexpr size_t move_remove_keys = 1024;
constexpr Milliseconds move_remove_pause{1};
// {} of a stored response | it does not move, and is fetched again
constexpr size_t moved_response_size_bytes = 64 * kMiB;
constexpr unsigned moves_at_once = 4;  // {}, into one replica | the others wait for their turn
// 1/{} of the store, for batches of more than {} on their way to it | the next one waits; a stored
// response that is larger than that share does not move, and is fetched again
constexpr size_t moving_share_divisor = 8;
constexpr size_t moving_usual_size_bytes = 512 * kKiB;
// {} for a bucket to move (a shard with --split-writes wait, or one in which responses are stored
// as fast as they move) | it is fetched, and is sent with a later batch
constexpr Milliseconds split_wait{250};
// {} since the last batch | no fetch waits for a bucket to move: whoever it is for may be gone
constexpr Milliseconds move_silence{2'500};
// a fetch of a bucket is still in progress {} after all else of it has moved, as it was {} times
// before | the bucket is given, and what is fetched comes after it
constexpr Milliseconds move_flight_patience{2'000};
constexpr unsigned move_flight_looks = 8;
// {} times what stood in a bucket when it began to move, and {} batches | responses are stored in
// it as fast as they move: its fetches wait
constexpr size_t move_log_factor = 4;
constexpr size_t move_log_batches = 8;
// {} times as much, and {} batches | it is given as it is, and the rest comes after it
constexpr size_t move_log_factor_most = 8;
constexpr size_t move_log_batches_most = 64;
// {} since the last batch that had nothing, or did not come | a giver is asked again
constexpr Milliseconds move_pause{250};
// {} | whether anything is stored that another one is to have and nobody knows of
constexpr Milliseconds stray_interval{1'000};
constexpr Milliseconds move_timeout{10'000};  // {} for a batch | it is asked for again
// {} times, every {} | who has not heard of all purges that we have is asked for a batch again;
// then what it has is left behind
constexpr unsigned move_purge_tries = 40;
constexpr Milliseconds move_purge_pause{50};
// 1/{} of a full store, every {}, for what was used lately where it comes from | moving waits, and
// the holders go on answering; what is about to end does not wait, and what would push out more is
// left out; all else takes free room alone
constexpr size_t moved_share_divisor = 4;
constexpr Milliseconds move_room_interval{10'000};
// {} of a 64th of the store, the most recently used | how warm a bucket is depends on these
constexpr size_t move_order_rows = 256;
// {} times, {} apart | a purge that a leaver has not confirmed is not told to it again
constexpr unsigned relay_tries = 3;
constexpr Milliseconds relay_pause{250};
// {} for all to confirm what an unsafe method has made invalid and is told on to them; a purge has
// the time of all tries | it is confirmed without them: who tells us waits for
// `invalidation_timeout`, and for a purge for longer
constexpr Milliseconds relay_patience{500};

// # Purges between replicas

// {}, each of {}, of whose purges a replica knows how far it has come | who was silent longest is
// forgotten
constexpr size_t purge_issuers = 1024;
constexpr size_t purge_issuer_size_bytes = 64;
// {} of an issuer's that came before those that are missing | count as not heard of
constexpr size_t purges_beyond = 256;
// {} since the last of an issuer's; a replica says for twice as long that it has done it | what a
// holder gives that does not know of it is stored again
constexpr Milliseconds purges_remembered{600'000};
// {} for a holder to hear of the purges that the asker knows; after that in vain, {} in which the
// same core does not wait for it | the origin is asked
constexpr Milliseconds purges_patience{150};
constexpr Milliseconds purges_patience_pause{10'000};
// {} for a sidecar to tell the number of what an unsafe method has made invalid | it counts as told
constexpr Milliseconds number_patience{2'000};

}  // namespace ringside::limits
