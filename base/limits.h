#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

// Every bound on what we hold, wait for or repeat, in one place. Those that operators may want to
// change are defaults of the configuration's values. scripts/limits-doc makes docs/limits.md of the
// comments: each says `(--OPTION) VALUE | WHAT HAPPENS BEYOND IT` of the limit before it on its
// line, or of those below it; {} stands for the value, and is left out where nothing is said of it.
namespace ringside::limits {

using std::size_t;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

// # Messages

// {} of a message's head (RFC 9112 §2.3) | 431 to a client; 502 for an upstream's
constexpr size_t head_size_bytes = 32 * kKiB;
constexpr size_t request_line_size_bytes = 8 * kKiB;  // {} of a request's first line (§3) | 414
constexpr size_t head_fields = 100;                   // {} field lines | 431; 502
// {}, {} field lines, of a message between a sidecar and a replica, who add fields to what a client
// or an origin has sent: what one of them takes, the other takes too, with what is added (values of
// shard keys are escaped, 3 bytes for one) | 431; 502
constexpr size_t hop_head_size_bytes = 144 * kKiB;
constexpr size_t hop_head_fields = 228;
constexpr size_t chunk_line_size_bytes = 256;  // {}: a chunk's size and extensions | 400; 502
// {} of trailers | 400; 502. Trailers are read and dropped
constexpr size_t trailer_size_bytes = 8 * kKiB;
// {} of a request's body | 413, the connection closes
constexpr std::uint64_t request_body_size_bytes = 4ULL * 1024 * kMiB;
// {} 1xx heads before the final one | 502: more 1xx heads before one answer is no HTTP
constexpr unsigned interim_responses = 16;
// {} in the `Connection` of a message | 400, or 502 of an upstream: each is looked for among all
// fields
constexpr unsigned connection_options = 64;
// {} in a request's `Via` | 508: a request that has passed so many proxies goes round in circles
constexpr unsigned via_elements = 32;
// closed: a PROXY header with its TLVs is no longer
constexpr size_t proxy_header_size_bytes = 4 * kKiB;

// # Buffers

// of a head are read at once; a connection's buffer is as large as what came, and idle ones have
// none
constexpr size_t client_read_size_bytes = 16 * kKiB;
constexpr size_t upstream_buffer_start_bytes = 20 * kKiB;  // grows to a body piece
// read and relayed at once; what the receiver does not take is not read
constexpr size_t body_piece_size_bytes = 64 * kKiB;
// {} that an unstored flight may run ahead | a fetch that is not to be stored waits for the
// fastest of its readers
constexpr size_t flight_window_bytes = kMiB;
// {} where the store's memory is used up | likewise
constexpr size_t flight_window_least_bytes = 64 * kKiB;
// {} (beside the store's memory, for each such fetch that has slow readers;
// `--origin-connections` bounds their number), {} | a reader of such a fetch that is further
// behind the fastest is waited for, for so long in all; then it gets the rest by a request of
// its own, where an entity tag tells that it fits, else it is cut off
constexpr size_t flight_lag_bytes = 4 * kMiB;
constexpr Milliseconds flight_patience{250};
// {} that a reader writes in one go | the rest goes with the next write
constexpr size_t flight_pieces_at_once = 16;
// {} are woken at once for what has come | the others when those have taken it
constexpr size_t flight_readers_rung = 64;
// bodies of pieces smaller than that on average are stored as one
constexpr size_t merged_piece_size_bytes = 16 * kKiB;

// # Connections

// {} a core, and not more in all than the descriptors that the process may open and its memory
// allow (below) | 503 with `Retry-After`, closed
constexpr size_t connections_per_core = 20'000;
// {} (or half of all, where that is less), and a quarter of the others | are not used for clients,
// and so are there for probes, administrators and files, and for upstreams
constexpr size_t descriptors_reserved = 384;
// {} of the memory that the container or the machine has, at {} a connection | no more connections,
// and no more than that in their buffers
constexpr unsigned connections_memory_percent = 20;
constexpr size_t connection_size_bytes = 40 * kKiB;
constexpr size_t idle_upstream_per_address = 256;  // {} a core | closed after use
// the last answer says `Connection: close`
constexpr std::uint32_t requests_per_connection = 1'000'000;
// (--connections-per-address) {} a core, and half of all, from one client's address (of IPv6: a
// /64) | 503 with `Retry-After`, closed. Trusted networks are not counted, nor, by a replica,
// connections that have proved membership
constexpr size_t connections_per_address = 4096;
// {} in use, a core | requests wait for one
constexpr size_t upstream_connections_per_address = 4096;
constexpr size_t upstream_waiters_per_address = 1024;  // {} a core | 503 with `Retry-After`
// {} for a connection to become free | 503 with `Retry-After`
constexpr Milliseconds upstream_wait_timeout{1'000};
// {} in the buffers of all connections of a sidecar or a replica, or `connections_memory_percent` |
// new requests are told 503 with `Retry-After`
constexpr size_t buffered_bytes = 1024 * kMiB;
// {} of each size, in steps of 64 bytes, up to {}: what coroutines and receive buffers have given
// back, kept by each thread for the next ones | the allocator's
constexpr size_t kept_bytes = 128 * kKiB;
constexpr size_t kept_block_size_bytes = 20 * kKiB;
// {} of a kind, each of `kept_block_size_bytes` at most: the room of messages that are over, kept
// by each thread for the next ones | the allocator's
constexpr size_t kept_values = 64;
// {} in one turn of a core, of those that wait | the others in the next one
constexpr size_t accepted_at_once = 16;
// {}, doubling to {} | how long accepting pauses when descriptors run out
constexpr Milliseconds accept_backoff_start{5};
constexpr Milliseconds accept_backoff_most{1000};

// # The link between members
// Many requests at once on one connection, in frames; what it does not carry goes over HTTP/1.1.

// {} of a body, {} of an answer's head, {} of a request | HTTP/1.1 carries it
constexpr size_t link_body_size_bytes = 64 * kKiB;
constexpr size_t link_head_size_bytes = 32 * kKiB;
constexpr size_t link_request_size_bytes = 32 * kKiB;
// {}, with its head | the link is closed
constexpr size_t link_frame_size_bytes = 160 * kKiB;
constexpr size_t link_read_size_bytes = 256 * kKiB;  // {} a core | received with the next call
// {} that wait for an answer, on one link | further ones go over HTTP/1.1
constexpr size_t link_streams = 512;
// {} that the other end has not taken | no more requests are read from it until it has
constexpr size_t link_unsent_bytes = 4 * kMiB;
constexpr size_t links_per_core = 1024;  // {} a core | HTTP/1.1 alone is spoken to further replicas
// {} from a frame's first byte to its last | the link is closed
constexpr Milliseconds link_frame_timeout{10'000};
// {} for the rest of an answer that may be small | HTTP/1.1 carries it
constexpr Milliseconds link_patience{20};
// {} after one that failed or was refused | another link is tried
constexpr Milliseconds link_pause{1'000};
// {} of requests that were not answered yet, in {} | the link is closed
constexpr unsigned link_cancels = 1024;
constexpr Milliseconds link_cancel_window{1'000};
// {}, a core, {} | an answer that a link does not carry waits so long for the request that fetches
// it; then it is dropped, and that request begins anew
constexpr size_t tickets = 256;
constexpr Milliseconds ticket_timeout{1'000};
// {} of what is ready are done by a core | what was gathered goes out before the rest is done
constexpr size_t turn_calls = 128;

// # Waits

constexpr Milliseconds deadline_tick{20};  // how late a deadline may be noticed
// {} from the first byte of a head to its end | 408, closed
constexpr Milliseconds client_head_timeout{10'000};
constexpr Milliseconds client_idle_timeout{75'000};  // {} between requests | closed
// {} for a piece of a body, either way | 408 or closed
constexpr Milliseconds client_io_timeout{30'000};
// {} B/s over {}; of who takes a body, whose progress shows in large steps only, over
// `client_io_timeout` | 408; closed
constexpr size_t client_rate_least_bytes_s = 256;
constexpr Milliseconds client_rate_grace{10'000};
// {} that a request's body is waited for in all, and what came of it at {} B/s beside | 408
constexpr Milliseconds upload_grace{30'000};
constexpr size_t upload_rate_least_bytes_s = 1'024;
// {} for upstream's `100 Continue` | the client is told `100 Continue` by us
constexpr Milliseconds continue_timeout{1'000};
// {} for a 1xx response to a client whose fetch others wait for, too | its connection is closed,
// the fetch goes on
constexpr Milliseconds interim_timeout{1'000};
// {} without a byte either way | the tunnel is closed
constexpr Milliseconds tunnel_idle_timeout{600'000};
// (--connect-timeout) {} for one address, which is more than the second after which the kernel
// repeats a SYN that was lost | the next owner; 504 from the origin
constexpr Milliseconds connect_timeout{1'500};
// {} more for a proof of membership, for a client's request that may be repeated | the next owner;
// 504
constexpr Milliseconds proof_timeout{5'000};
// (--first-byte-timeout) {} from a request's end to the answer's head | the next owner, for
// idempotent requests; 504
constexpr Milliseconds first_byte_timeout{30'000};
// what a sidecar waits for a replica beyond `connect_timeout` and `first_byte_timeout`, which
// the replica grants its origin
constexpr Milliseconds replica_answer_allowance{500};
// {} for a piece of a body, either way | the answer is cut
constexpr Milliseconds upstream_io_timeout{30'000};
// {} in a pool | a pooled connection is closed
constexpr Milliseconds upstream_idle_timeout{60'000};
// (--request-deadline) {} for choosing, connecting, asking and failing over | 503 or 504
constexpr Milliseconds request_deadline{60'000};
// what a refused client still sends is dropped so long
constexpr Milliseconds linger_timeout{1'000};
constexpr size_t linger_size_bytes = 256 * kKiB;
// (--drain-delay) {} from SIGTERM | new connections are refused; until then only `/readyz` says
// 503
constexpr Milliseconds drain_delay{0};
// (--drain-deadline) {} from the end of the delay | the process ends, answers in hand are cut
constexpr Milliseconds drain_deadline{30'000};
// how often idle upstream connections are looked at, where there are some
constexpr Milliseconds pool_sweep{1'000};

// # Host names of upstreams
// Host names of origins and replicas are looked up when a connection to them is made, once for
// all who wait for it. An answer is good for the smallest TTL of its records.

// a shorter or longer TTL counts as this
constexpr Milliseconds resolve_ttl_least{1'000};
constexpr Milliseconds resolve_ttl_most{300'000};
// {}, doubling with each of {} rounds | the next name server; after the last round the lookup
// has failed. Takes the place of `timeout` and `attempts` in `/etc/resolv.conf`
constexpr Milliseconds resolve_try_timeout{300};
constexpr int resolve_tries = 4;
constexpr Milliseconds resolve_timeout{5'000};  // {} a lookup | it has failed
// the name is looked up again; until then requests fail with what was said (502), or go to the
// old addresses
constexpr Milliseconds resolve_failure_ttl{1'000};
// {} since the lookup began | the old addresses are used, where there are some
constexpr Milliseconds resolve_patience{200};
// {} past the TTL | old addresses are not used any more when name servers fail or are silent. A
// name server that says that the name does not exist ends their use at once
constexpr Milliseconds resolve_stale_most{600'000};
constexpr size_t resolve_addresses = 64;  // {} of a name | further ones are ignored
// a connection made to a host name is closed after use, so that a change of its addresses is
// followed under steady traffic, too
constexpr Milliseconds named_connection_age{300'000};

// # Repeats and the tier

// {} distinct replicas asked for one request | 503, or the origin with `--without-replica
// origin`
constexpr unsigned owners_tried = 3;
// {} of the requests, and {} a second always, over {} | not repeated: the first failure is the
// answer, and who waits for a silent replica goes on waiting
constexpr unsigned retry_budget_percent = 20;
constexpr unsigned retry_budget_floor = 10;
constexpr Milliseconds retry_budget_window{10'000};
// {} in a row | the replica is ejected: its requests go to the next owner at once
constexpr unsigned ejection_failures = 3;
// {} of the replicas, out at once | no more replicas are ejected; they are asked, and failed
// over
constexpr unsigned ejection_share_percent = 50;
constexpr Milliseconds suspicion_after{200};  // {} without an answer | the replica is probed
// each {}, for {} | a probe without an answer ejects
constexpr Milliseconds probe_interval{250};
constexpr Milliseconds probe_timeout{500};
// how often a core looks at its replicas at least; sooner where one of them may have to be probed
constexpr Milliseconds health_look{60'000};
// {} begun by a core at once | the others in the next `deadline_tick`, those last that nobody waits
// for
constexpr size_t probes_at_once = 16;
// {} from its return | a replica that has returned gets all of its requests
constexpr Milliseconds slow_start{1'500};
// {}, the heaviest {} | refused
constexpr size_t origins_per_route = 16;
constexpr std::uint32_t origin_weight = 1000;
// (--origin-connections) {} requests at once | further ones queue
constexpr size_t origin_connections = 256;  // a client: three quarters of them
constexpr size_t origin_queue = 1024;       // {} requests that wait | 503 with `Retry-After`
// {} tunnels (WebSocket) to each origin, which are not counted among its requests; a client: three
// quarters of them | 503 with `Retry-After`
constexpr size_t origin_tunnels = 1024;
constexpr Milliseconds origin_queue_timeout{5'000};  // {} in the queue | 503 with `Retry-After`
// {} in a row | the origin is not asked for a while: 503 with `Retry-After`
constexpr unsigned breaker_failures = 5;
// {}, doubling to {} | one request is let through as a probe
constexpr Milliseconds breaker_open_start{500};
constexpr Milliseconds breaker_open_most{10'000};
constexpr size_t members = 1024;                     // {} replicas in one topology | refused
constexpr std::uint32_t member_weight = 1000;        // {}, the heaviest | refused
constexpr std::uint32_t topology_weight = 16'384;    // {} for all members together | refused
constexpr size_t member_name_size_bytes = 253;       // {}, a DNS name (RFC 1035 §2.3.4) | refused
constexpr size_t member_zone_size_bytes = 63;        // {}, a Kubernetes label's value | refused
constexpr size_t shard_at_size_bytes = 512;          // {} of a first key or a placed one | refused
constexpr size_t state_file_size_bytes = 16 * kMiB;  // {} | refused
// {} shards | those with which a `split-tree` begins that has no state
constexpr size_t split_tree_roots = 64;
constexpr unsigned split_tree_depth = 24;  // {} splits of one shard | refused
// {} objects and arrays within each other; {} numbers, texts, arrays and objects, in all that is
// kept of a JSON text | `PUT /topology` refused; an answer of the API server is malformed: the last
// topology stays
constexpr size_t json_depth = 16;
constexpr size_t json_values = 1'000'000;
// (--peer-key-file) {} keys; each of {} to {}; {} of the file | refused
constexpr size_t peer_keys = 2;
constexpr size_t peer_key_least_bytes = 32;
constexpr size_t peer_key_most_bytes = 256;
constexpr size_t peer_key_file_size_bytes = 4 * kKiB;
constexpr size_t peer_name_bytes = 300;  // {}, of who proves membership | refused
// {} for a line about peers that prove nothing or can't be understood, of each core | counted, and
// told with the next line
constexpr Milliseconds peer_complaint_interval{10'000};
// {} for the line about one replica that is not used for it | said again
constexpr Milliseconds peer_reminder_interval{60'000};
constexpr size_t routes = 1024;           // refused
constexpr size_t shard_key_parts = 8;     // refused
constexpr size_t shard_key_segment = 64;  // the {}th segment of a path, in `id:N` | refused
constexpr size_t route_placeholders = 8;  // {} of `{name}` in a route's `path` | refused
// {}, a route's regular expression | refused
constexpr size_t regex_size_bytes = 1 * kKiB;
// {} for what is made of one, and for what it remembers of the texts that it has met | refused; a
// text is matched more slowly, but in linear time still
constexpr size_t regex_memory_bytes = 512 * kKiB;
// {} in a request | all of `Cookie` is keyed, where a shard key has a part of it: origins may read
// no more
constexpr size_t cookies_read = 200;
// {} elements of `Forwarded` or `X-Forwarded-For` | hops further left are not looked at
constexpr size_t forwarded_hops = 64;

// # The near cache and the store

// {} a core | the least recently used goes, where what comes is asked for more often
constexpr size_t near_cache_bytes = 8 * kMiB;
constexpr size_t near_object_size_bytes = 64 * kKiB;  // not kept nearby
constexpr Milliseconds near_ttl_usual{1'000};         // of `near_ttl: on`
constexpr Milliseconds near_ttl_most{60'000};         // a route's `near_ttl` is refused
constexpr unsigned near_admission_requests = 2;       // {} of late | not kept nearby
// frequencies of {} keys, of each core | keys that share a count seem more frequent than they are
constexpr size_t near_keys_counted = 8192;
// {}, in which URIs fall | what shares one is forgotten together, after an unsafe method
constexpr size_t near_forgotten_slots = 1024;
// (--memory) the least recently used keys go; what flights hold counts
constexpr size_t store_memory_bytes = 256 * kMiB;
// {}: an object takes at most 1/8 of the store | passed on, not stored
constexpr size_t object_share_divisor = 8;
// {}: what clients are given of bodies that are not stored (any more) takes at most 1/4 of the
// store | nothing more is stored; of those who take nothing who was waited for longest is cut
constexpr size_t pinned_share_divisor = 4;
// {} | who has taken nothing for less long is waiting for the network, and is not cut
constexpr Milliseconds stalled_least{250};
// {} that are mapped at once, in blocks of {}; pieces below {} are the allocator's; runs below {} |
// bodies lie in slabs, in several runs where there is no long one; another slab is mapped
constexpr size_t slab_size_bytes = kMiB;
constexpr size_t slab_block_size_bytes = 512;
constexpr size_t slab_piece_least_bytes = kKiB;
constexpr size_t slab_run_least_bytes = 4 * kKiB;
// {}: 1/64 of the store, at least {}, stays for the next body | freed pages go to the kernel
constexpr size_t slab_slack_divisor = 64;
constexpr size_t slab_slack_least_bytes = 2 * kMiB;
// 2^31 s | longer lifetimes and ages count as this (RFC 9111 §1.2.2)
constexpr Seconds delta_seconds_most{2'147'483'648};
constexpr size_t variants_per_key = 32;  // {} of one key | the oldest variant goes
// {} flights joined for one request | a request that met flights for other variants goes alone
constexpr unsigned flight_rounds = 3;
// a purge lets the lock of that part of the store go, and its core do what else is ready, and comes
// back to it
constexpr size_t purge_step_rows = 256;
// who lists a bucket's entries lets the lock of that part of the store go, and goes on from there
constexpr size_t bucket_step_rows = 64;
constexpr size_t flights_per_store = 65'536;  // {} at once | fetched without sharing
// {} of the time since `Last-Modified`, at most {} | stale
constexpr unsigned heuristic_percent = 10;
constexpr Seconds heuristic_most{86'400};
// a `Last-Modified` nearer to its `Date` is no strong validator (RFC 9110 §8.8.2.2)
constexpr Seconds strong_modification_age{60};
// {} past its lifetime | a stale response is not given any more where no origin answers
constexpr Seconds stale_unreachable_most{86'400};
// {}, {} keys; beyond, the oldest goes | requests for a key whose answer could not be stored
// wait for each other again
constexpr Milliseconds uncacheable_ttl{60'000};
constexpr size_t uncacheable_keys = 65'536;
constexpr size_t background_refreshes = 256;  // {} at once, a core | left to a later request
constexpr size_t ranges_per_request = 16;     // `Range` is ignored: the whole is the answer
// {} to {} | a route's `slice` is refused
constexpr size_t slice_size_least_bytes = 64 * kKiB;
constexpr size_t slice_size_most_bytes = 64 * kMiB;
// {} of a structured field | a targeted field counts for nothing; more names in `private="…"`
// count as none given
constexpr size_t structured_members = 256;
// {} for all replicas to confirm | it goes out; `ringside_invalidations_failed_total` counts
constexpr Milliseconds invalidation_timeout{1'000};
// {} that a replica knows to have told it what it has missed | all are forgotten, and one that
// tells it again has it emptied once more
constexpr size_t sidecars_heeded = 4096;
// {} that were members | a sidecar forgets all, and does not tell one that is a member again what
// it has missed; a replica forgets who has missed nothing for longest, and which holders lag
constexpr size_t replicas_remembered = 1024;
// {} at once and {} a second, a client and core | 429: a request by another method than GET, HEAD,
// OPTIONS, POST, PUT, PATCH and DELETE, since any answer to it makes its URL invalid everywhere
constexpr unsigned rare_methods_burst = 50;
constexpr unsigned rare_methods_per_second = 5;
// {} that are told apart by that, a core | others share one client's
constexpr size_t rare_method_clients = 4'096;

// # Rules of a route

constexpr size_t targeted_fields = 8;  // {} like `CDN-Cache-Control` that are heeded | refused
// {} in each of `bypass` and `no_store`, and of a route's `methods`, `headers` and `query` |
// refused
constexpr size_t rule_conditions = 32;
constexpr size_t rule_ttls = 32;              // {} in `ttl_by_status` | refused
constexpr size_t rule_name_size_bytes = 256;  // {}, a header's name | refused
// {} query parameters, and as many headers set or removed | refused
constexpr size_t rule_names = 64;
constexpr size_t content_codings = 8;     // {} classes of `Accept-Encoding` | refused
constexpr size_t query_parameters = 256;  // {} in a request | its query stays as it came

// # The country database

constexpr size_t geo_database_size_bytes = 512 * kMiB;  // refused
// {} within each other, {} in one | the file counts as corrupt and is refused
constexpr unsigned geo_value_depth = 32;
constexpr size_t geo_value_parts = 16'384;
// {} prefixes a core (76 KiB); a power of 2 | the tree is walked again
constexpr size_t geo_memo_entries = 4096;

}  // namespace ringside::limits

#include "base/process_limits.h"
#include "base/tier_limits.h"
