#pragma once

#include <string_view>

// What the sidecar and the replicas say to each other. Stripped from everything that clients and
// origins send (http::is_internal), never passed on to them.
namespace ringside::http::internal {

inline constexpr std::string_view prefix = "Ringside-";

// To the replica: the id of the topology by which it was chosen, or that the peer follows. With the
// answer: that of the replica's, where it is another one. Who has never followed that one reads its
// own source of members again (hop/topology_news.h).
inline constexpr std::string_view topology = "Ringside-Topology";
// In the place of the id: who says so knows of no members.
inline constexpr std::string_view no_topology = "0";
// To the replica: the parts of the shard key that it can't see for itself; part of the cache key.
inline constexpr std::string_view extra_key = "Ringside-Extra-Key";
// To the replica: the name of the route, where headers chose it (http::name_in_key). One that
// chooses another route, since its configuration is another one, stores nothing of it, and gives
// nothing that is stored.
inline constexpr std::string_view route = "Ringside-Route";
// To the replica: the bucket of the shard key by which it was chosen, in decimal digits.
inline constexpr std::string_view bucket = "Ringside-Bucket";
// To the replica: the scheme of the client's request, where it is not `http`; part of the cache
// key.
inline constexpr std::string_view scheme = "Ringside-Scheme";
// To the replica: the client's address, where it is one client's and not a proxy's that others are
// behind. No client has all places at an origin (net::OriginGate).
inline constexpr std::string_view client = "Ringside-Client";
// To the replica: for how many milliseconds its answer is of use; the sidecar waits a little
// longer.
inline constexpr std::string_view deadline = "Ringside-Deadline-Ms";
// To the sidecar: metrics::name(Outcome) of the answer.
inline constexpr std::string_view outcome = "Ringside-Outcome";
// To the sidecar, with an error of the replica's own making: what went wrong, with addresses. It
// tells it to those who are trusted.
inline constexpr std::string_view detail = "Ringside-Detail";
// To the sidecar: for how many milliseconds a near cache may give this answer again, unasked. Only
// said of answers that need no further judging: fresh, complete, and varying on what Vary says.
inline constexpr std::string_view near_ttl = "Ringside-Near-Ttl-Ms";

// To a member, with a 421: the name of the replica that has the shard now, `no_holder` or
// `undecided_holder`.
// Whoever says so has given it away, or never had it, or is to have it and asks nothing more of
// holders now. It has not touched the request. To who asks for itself (`fill`) the epoch and the
// version of the giver's holdings follow its own name, each after a space: it is given the
// authority with this answer.
inline constexpr std::string_view holder = "Ringside-Holder";
// Some other one.
inline constexpr std::string_view no_holder = "-";
// Whoever says so does not know yet, and will soon: it may be itself.
inline constexpr std::string_view undecided_holder = "?";

// To the replica, where the owner is another one, as the sidecar knows it: the name of whom it
// asked or passed over before. It answers, whoever holds the bucket; without the field it refuses
// what is stored and held elsewhere (421, with `holder`).
inline constexpr std::string_view instead_of = "Ringside-Instead-Of";

// To a replica, from another one that has nothing stored for the request: the name of that one. It
// is answered from the store or, by who has the authority over the bucket, from the origin; anybody
// else refuses it (421, with `holder`).
inline constexpr std::string_view fill = "Ringside-Fill";
// With the answer to that, and to `holdings`, where no member or leaver of that name is known: `1`.
// Nobody would pass purges on to the asker, which therefore does not store the answer.
inline constexpr std::string_view unknown_asker = "Ringside-Unknown-Asker";
// With the answer to that: by how many milliseconds it is older than its Age says, so that a move
// makes nothing fresher.
inline constexpr std::string_view age_beyond = "Ringside-Age-Beyond-Ms";
// To a replica, with such an OPTIONS as below: the name of the one that asks, the version of its
// holdings (tier/holdings.h), and the version of the other's that it knows. With the answer: the
// version of the other's. They are the content where they are not known yet.
inline constexpr std::string_view holdings = "Ringside-Holdings";

// With that question: a version of the holdings (the number alone) of the one that asks. What it
// gave to the other in earlier ones it has taken back, and it does not count any more.
inline constexpr std::string_view taken_back = "Ringside-Taken-Back";

// To a replica, with such an OPTIONS: the name of the one that asks, the number of the batch of
// stored responses that it asks for (cache/bucket_source.h), and the serial of the answer to the
// one before, if it has one. With the answer: the number, and the answer's serial. The content is
// that batch; with it goes `holdings`, the version of the giver's holdings before it was made.
inline constexpr std::string_view move = "Ringside-Move";
// With that question: the most bytes of a stored response's body that may be in the batch.
inline constexpr std::string_view move_most = "Ringside-Move-Most";

// To the replica, with an OPTIONS that goes no further (Max-Forwards: 0): the path and query of a
// URI of that host, in its normal form, that an unsafe method has made invalid (RFC 9111 §4.4). One
// line for each. It forgets them, of all shard keys, also where they are being fetched.
inline constexpr std::string_view invalidate = "Ringside-Invalidate";
// To the replica that answered the unsafe method, in place of `invalidate`: it has forgotten that
// by itself, and passes it on to the replicas that the sidecar may not know.
inline constexpr std::string_view invalidated = "Ringside-Invalidated";

// To the replica, with such an OPTIONS: the method, GET or HEAD, of a request that is the same in
// all else and is not made. The answer's content tells what would be done with it
// (cache/explanation.h), and nothing is.
inline constexpr std::string_view explain = "Ringside-Explain";

// To the replica, with a PURGE, and with such an OPTIONS: the number that what it removes has
// (tier/purges.h).
inline constexpr std::string_view purge = "Ringside-Purge";
// To the replica, with a PURGE of `*`: that only what begins with this path, of that host, is
// meant. Who does not know the field removes everything.
inline constexpr std::string_view purge_below = "Ringside-Purge-Below";
// With a purge's number, of a sidecar's: up to which number its purges were settled before
// (tier/purges.h).
inline constexpr std::string_view purge_settled = "Ringside-Purge-Settled";
// To a replica that no sidecar may know any more, with a PURGE or such an OPTIONS: the name of the
// replica that passes it on.
inline constexpr std::string_view relayed = "Ringside-Relayed";
// With the answer to a PURGE: who has not confirmed what was passed on to it. A line for each name.
inline constexpr std::string_view not_relayed = "Ringside-Not-Relayed";
// With an answer to `fill` or `move`: how far the holder had come with the purges of each issuer
// when it looked for it. With `missed`: up to which number the asker's purges are done once the
// store is empty.
inline constexpr std::string_view purges_done = "Ringside-Purges-Done";
// With an answer to `holdings`: how many seconds ago the last one of each of these issuers was
// begun, in the same order.
inline constexpr std::string_view purge_ages = "Ringside-Purge-Ages";

// To the replica: that it has not confirmed all purges and invalidations of who asks: that one's
// mark, a space, and the number of the last one. A replica that has not heeded that
// number yet empties its store before it answers.
inline constexpr std::string_view missed = "Ringside-Missed";
// To who asks, with the answer to an OPTIONS that says so: that number. Without it, it was not
// heeded.
inline constexpr std::string_view heeded = "Ringside-Heeded";
// To a member, with answers over HTTP/1.1: the versions of the link (link/frame.h) that are spoken
// here.
inline constexpr std::string_view link = "Ringside-Link";
// To the replica: what it has begun for this request lies under that ticket.
inline constexpr std::string_view ticket = "Ringside-Ticket";
// How members prove themselves at a connection's start (hop/peer_handshake.h).
inline constexpr std::string_view hello = "Ringside-Hello";
inline constexpr std::string_view challenge = "Ringside-Challenge";
inline constexpr std::string_view proof = "Ringside-Proof";
inline constexpr std::string_view refusal = "Ringside-Refusal";

// To who speaks like a sidecar and has not proved to be one: nothing internal was heeded, so the
// answer is not what it is taken for.
inline constexpr std::string_view unproven = "Ringside-Unproven";

// To the sidecar: how many stored responses a PURGE, or such an OPTIONS, removed. Without it
// nothing was: older replicas answer any OPTIONS.
inline constexpr std::string_view purged = "Ringside-Purged";

}  // namespace ringside::http::internal
