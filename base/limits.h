#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

// Every bound on what we hold, wait for or repeat, in one place. docs/limits.md says what happens
// beyond each. Those that operators may want to change are defaults of the configuration's values.
namespace ringside::limits {

using std::size_t;

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

// HTTP heads (RFC 9112 §2.3, §3; RFC 9110 §5.4).
constexpr size_t head_size_bytes = 32 * kKiB;         // beyond: 431 (502 from upstream)
constexpr size_t request_line_size_bytes = 8 * kKiB;  // beyond: 414
constexpr size_t head_fields = 100;                   // field lines; beyond: 431 (502)
constexpr size_t chunk_line_size_bytes = 256;         // size and extensions; beyond: 400 (502)
constexpr size_t trailer_size_bytes = 8 * kKiB;       // trailers are read and dropped; beyond: 400
constexpr std::uint64_t request_body_size_bytes = 4ULL * 1024 * kMiB;  // beyond: 413

// Buffers.
constexpr size_t client_read_size_bytes =
    16 * kKiB;  // of a head at once; what came is kept, no more
constexpr size_t upstream_buffer_start_bytes = 20 * kKiB;
constexpr size_t body_piece_size_bytes = 64 * kKiB;  // read and relayed at once
constexpr size_t flight_window_bytes = kMiB;         // what an unstored flight may run ahead
constexpr size_t flight_lag_bytes = 4 * kMiB;  // how far back it keeps bytes for slower readers
constexpr Milliseconds flight_patience{250};   // it waits for such readers so long in all

constexpr size_t flight_pieces_at_once = 16;           // that a reader writes in one go
constexpr size_t merged_piece_size_bytes = 16 * kKiB;  // pieces smaller on average become one

// Connections.
constexpr size_t connections_per_core = 20'000;               // beyond: accepted, told 503, closed
constexpr size_t idle_upstream_per_address = 256;             // per core; beyond: closed after use
constexpr std::uint32_t requests_per_connection = 1'000'000;  // then `Connection: close`
constexpr Milliseconds accept_backoff_start{5};               // after EMFILE and its like, doubling
constexpr Milliseconds accept_backoff_most{1000};

constexpr size_t connections_per_address = 4096;  // a core, from one client's address; beyond: 503
constexpr size_t proxy_header_size_bytes =
    4 * kKiB;  // PROXY protocol with its TLVs; beyond: closed

constexpr unsigned interim_responses = 16;  // 1xx heads before the final one; more is no HTTP
constexpr unsigned via_elements = 32;       // in a request's Via; beyond: 508

// Upstream connections in use, per core and address; who finds none waits.
constexpr size_t upstream_connections_per_address = 4096;
constexpr size_t upstream_waiters_per_address = 1024;  // beyond: 503
constexpr Milliseconds upstream_wait_timeout{1'000};   // for a connection to become free: 503

// What the buffers of all connections of a sidecar or a replica hold together; beyond: new requests
// are told 503.
constexpr size_t buffered_bytes = 1024 * kMiB;

// Waits.
constexpr Milliseconds deadline_tick{20};             // how late a deadline may be noticed
constexpr Milliseconds client_head_timeout{10'000};   // first byte of a head to its end: 408
constexpr Milliseconds client_idle_timeout{75'000};   // between requests: closed
constexpr Milliseconds client_io_timeout{30'000};     // one piece of a body, either way
constexpr size_t client_rate_least_bytes_s = 256;     // of a head or a body, either way; slower:
constexpr Milliseconds client_rate_grace{10'000};     //   408 or closed, after so long
constexpr Milliseconds continue_timeout{1'000};       // for upstream's `100 Continue`
constexpr Milliseconds interim_timeout{1'000};        // a 1xx to a client for whom others wait, too
constexpr Milliseconds tunnel_idle_timeout{600'000};  // without a byte either way: closed
constexpr Milliseconds connect_timeout{1'000};        // one address
constexpr Milliseconds first_byte_timeout{30'000};    // request sent to head of the answer
constexpr Milliseconds replica_answer_allowance{500};  // a sidecar waits longer than a replica does
constexpr Milliseconds upstream_io_timeout{30'000};    // one piece of a body, either way
constexpr Milliseconds upstream_idle_timeout{60'000};  // a pooled connection is kept no longer
constexpr Milliseconds request_deadline{60'000};  // choosing, connecting, asking and failing over
constexpr Milliseconds linger_timeout{1'000};     // for what a refused client still sends
constexpr size_t linger_size_bytes = 256 * kKiB;
constexpr Milliseconds drain_delay{0};          // /readyz says 503 so long before anything closes
constexpr Milliseconds drain_deadline{30'000};  // from the end of the delay to exit
constexpr Milliseconds pool_sweep{1'000};       // how often idle upstream connections are looked at

// Host names of upstreams.
constexpr Milliseconds resolve_ttl_least{1'000};    // a record's TTL counts as no less,
constexpr Milliseconds resolve_ttl_most{300'000};   //   and as no more
constexpr Milliseconds resolve_timeout{5'000};      // one lookup in all: it has failed
constexpr Milliseconds resolve_try_timeout{300};    // one question; doubling with each round
constexpr int resolve_tries = 4;                    // rounds through the name servers
constexpr Milliseconds resolve_failure_ttl{1'000};  // a failure is not looked up again sooner
constexpr Milliseconds resolve_patience{200};       // for a new answer where the old one is at hand
constexpr Milliseconds resolve_stale_most{600'000};    // an old one is used so long past its TTL
constexpr size_t resolve_addresses = 64;               // of one name; further ones are ignored
constexpr Milliseconds named_connection_age{300'000};  // then not pooled: its name is asked again

// Repeats.
constexpr unsigned owners_tried = 3;  // distinct replicas asked for one request
constexpr unsigned retry_budget_percent =
    20;  // of the requests of the last seconds, repeated at most
constexpr unsigned retry_budget_floor = 10;  // repeats a second that are always allowed
constexpr Milliseconds retry_budget_window{10'000};

// Origins, for each origin of a process.
constexpr size_t origins_per_route = 16;
constexpr std::uint32_t origin_weight = 1000;        // the heaviest
constexpr size_t origin_connections = 256;           // requests at once; beyond: they queue
constexpr size_t origin_queue = 1024;                // beyond: 503
constexpr Milliseconds origin_queue_timeout{5'000};  // 503
constexpr unsigned breaker_failures = 5;             // in a row; then nobody asks for a while
constexpr Milliseconds breaker_open_start{500};      // doubling with each failed probe
constexpr Milliseconds breaker_open_most{10'000};

// Replicas that fail, as one core of a sidecar sees them.
constexpr unsigned ejection_failures = 3;        // in a row; then its requests go to the next owner
constexpr unsigned ejection_share_percent = 50;  // of the replicas that may be out at once
constexpr Milliseconds suspicion_after{200};     // an answer is so late: the replica is probed
constexpr Milliseconds probe_interval{250};      // of one that is suspected or ejected
constexpr Milliseconds probe_timeout{500};       // no answer in that time: it has failed
constexpr Milliseconds slow_start{1'500};        // from its return to all of its requests

// The tier.
constexpr size_t members = 1024;                   // replicas in one topology
constexpr std::uint32_t member_weight = 1000;      // the heaviest
constexpr std::uint32_t topology_weight = 16'384;  // all members together: one unit a bucket
constexpr size_t member_name_size_bytes = 253;     // a DNS name (RFC 1035 §2.3.4)
constexpr size_t member_zone_size_bytes = 63;      // a Kubernetes label's value
constexpr size_t json_depth = 16;                  // objects and arrays within each other
constexpr size_t json_values = 1'000'000;          // numbers, texts, arrays and objects of one text
constexpr size_t routes = 1024;
constexpr size_t shard_key_parts = 8;
constexpr size_t forwarded_hops = 64;  // elements walked in Forwarded/X-Forwarded-For

// The near cache.
constexpr size_t near_cache_bytes = 8 * kMiB;         // per core
constexpr size_t near_object_size_bytes = 64 * kKiB;  // larger answers are not kept

constexpr Milliseconds near_ttl_most{60'000};  // no purge from elsewhere reaches it sooner

// The store.
constexpr size_t store_memory_bytes = 256 * kMiB;
constexpr size_t object_share_divisor = 8;            // one object may take 1/8 of the store
constexpr Seconds delta_seconds_most{2'147'483'648};  // RFC 9111 §1.2.2
constexpr size_t variants_per_key = 32;               // beyond: the oldest variant goes
constexpr unsigned flight_rounds = 3;                 // flights joined for one request (see Vary)
constexpr size_t flights_per_store = 65'536;          // beyond: forwarded without joining
constexpr unsigned heuristic_percent = 10;            // of the time since Last-Modified (§4.2.2)
constexpr Seconds heuristic_most{86'400};
constexpr Seconds strong_modification_age{60};     // Last-Modified before Date (RFC 9110 §8.8.2.2)
constexpr Seconds stale_unreachable_most{86'400};  // past its lifetime, where no origin answers
constexpr Milliseconds uncacheable_ttl{60'000};    // a key's requests don't wait for each other
constexpr size_t uncacheable_keys = 65'536;        // so remembered; beyond: the oldest goes
constexpr size_t background_refreshes = 256;       // at once, of one core; beyond: not begun
constexpr size_t ranges_per_request = 16;          // beyond: Range is ignored
constexpr size_t slice_size_least_bytes = 64 * kKiB;  // `slice`
constexpr size_t slice_size_most_bytes = 64 * kMiB;
constexpr size_t structured_members = 256;           // of a structured field; beyond: none of it
constexpr Milliseconds invalidation_timeout{1'000};  // for all replicas to confirm

// Rules of one route.
constexpr size_t targeted_fields = 8;         // fields like CDN-Cache-Control that are heeded
constexpr size_t rule_conditions = 32;        // of `bypass`, and of `no_store`
constexpr size_t rule_ttls = 32;              // of `ttl_by_status`
constexpr size_t rule_names = 64;             // of query parameters, and of fields set or removed
constexpr size_t rule_name_size_bytes = 256;  // of a field
constexpr size_t content_codings = 8;         // classes of Accept-Encoding
constexpr size_t query_parameters = 256;      // of a request that are looked at; beyond: as it came

// The country database.
constexpr size_t geo_database_size_bytes = 512 * kMiB;  // beyond: refused
constexpr unsigned geo_value_depth = 32;    // nesting of a record or the metadata; beyond: corrupt
constexpr size_t geo_value_parts = 16'384;  // values in one; beyond: corrupt
constexpr size_t geo_memo_entries = 4096;   // prefixes remembered per core (76 KiB); a power of 2

// Kubernetes and DNS: where the members come from (k8s/).
constexpr size_t api_answer_size_bytes = 32 * kMiB;   // a list; beyond: refused
constexpr size_t api_event_size_bytes = 4 * kMiB;     // an event of a watch; beyond: listed again
constexpr size_t api_refusal_size_bytes = 64 * kKiB;  // that is read of an answer that is none
constexpr Milliseconds api_connect_timeout{3'000};    // an address, or a wait in the TLS handshake
constexpr Milliseconds api_answer_timeout{15'000};    // between two pieces of a list
constexpr Milliseconds api_list_timeout{60'000};      // a whole list
constexpr Seconds api_watch_most{560};                // a whole watch, whatever it tells
constexpr Seconds api_watch_timeout{240};             // the server ends a watch then; it is resumed
constexpr Seconds api_watch_silence{280};             // we end it, where the server did not
constexpr Seconds api_keepalive_idle{15};             // of a watch's connection; then TCP asks
constexpr Seconds api_keepalive_interval{5};          //   every so often
constexpr int api_keepalive_probes = 3;               //   so many times: it has failed
constexpr Milliseconds api_backoff_start{200};        // after a failure, doubling, with jitter
constexpr Milliseconds api_backoff_most{10'000};
constexpr Milliseconds api_retry_after_most{60'000};  // that a 429 or 503 can make us wait
constexpr Milliseconds discovery_settle{50};          // without news: what came is published
constexpr Milliseconds discovery_delay_most{250};     //   and no later than this after the first
constexpr size_t endpoint_slices = 1024;              // of one service; beyond: refused
constexpr size_t service_account_size_bytes = 256 * kKiB;  // its token, its CA
constexpr size_t kubeconfig_size_bytes = kMiB;
constexpr Milliseconds dns_interval_least{1'000};  // records are asked for again, no sooner
constexpr Milliseconds dns_interval_most{30'000};  //   and no later, whatever their TTL
constexpr Milliseconds dns_timeout{2'000};         // one question
constexpr int dns_tries = 2;
constexpr Milliseconds dns_round_timeout{30'000};  // all questions of a round
constexpr int dns_datagram_size_bytes = 1'232;     // asked for by EDNS; what is larger goes by TCP
constexpr Milliseconds dns_member_kept{60'000};    // that is missing in the answers

// The admin listener.
constexpr size_t admin_body_size_bytes = 4 * kMiB;
constexpr size_t admin_threads = 2;
constexpr size_t admin_connections = 256;  // beyond: the one that is idle for longest is closed
constexpr Milliseconds admin_io_timeout{
    5'000};  // a request to be read whole, an answer written whole
constexpr Milliseconds admin_idle_timeout{75'000};  // between requests: closed
constexpr Milliseconds admin_linger_timeout{
    2'000};  // what still comes after the last answer is dropped

// The program: configuration files and the process.
constexpr size_t configuration_size_bytes = kMiB;   // beyond: refused
constexpr size_t configuration_depth = 8;           // lists and maps within each other
constexpr size_t configuration_nodes = 65'536;      // values, lists and maps together
constexpr size_t configuration_map_keys = 256;      // in one map
constexpr size_t store_memory_least_bytes = kMiB;   // --memory; less holds nothing of use
constexpr unsigned store_memory_percent_most = 90;  // --memory N%; more leaves nothing for answers
constexpr size_t store_memory_most_bytes = size_t{1} << 46;
constexpr size_t kernel_file_size_bytes = 4 * kMiB;       // of /proc and the control groups
constexpr size_t threads = 256;                           // --threads
constexpr Milliseconds configured_wait_most{86'400'000};  // any duration in a configuration
constexpr Milliseconds file_poll{1'000};       // how often files are looked at for changes
constexpr Milliseconds drain_poll{20};         // how late the end of a drain is noticed
constexpr Milliseconds admin_timeout{10'000};  // connecting to an admin server, and its answer
constexpr size_t admin_answer_size_bytes = 64 * kMiB;  // that a command takes from an admin server
constexpr Milliseconds scale_poll{50};                 // `ringside scale` asks how far it is

constexpr size_t access_log_records = 8192;  // a core, not yet written; beyond: dropped
constexpr size_t access_log_field_size_bytes =
    2 * kKiB;  // of a target or a header; longer ones are cut
constexpr size_t access_log_write_size_bytes = 64 * kKiB;  // formatted at once
constexpr Milliseconds access_log_flush{50};               // how late a line may be written

// Replaying logs.
constexpr size_t replay_line_size_bytes = 64 * kKiB;  // a line of a log; beyond: skipped
constexpr size_t replay_requests = 5'000'000;         // in one run, held in memory; beyond: refused
constexpr size_t replay_skipped_shown = 5;            // lines of a log that the table names
constexpr size_t replay_concurrency = 4096;           // requests in flight
constexpr size_t replay_caches = 4096;                // names told apart in Cache-Status
constexpr Milliseconds replay_answer_timeout{
    70'000};                             // longer than the tier's own request_deadline
constexpr Milliseconds replay_look{50};  // how often progress is looked at
constexpr Milliseconds replay_settle_timeout{60'000};  // for a change of the number of replicas
constexpr Milliseconds replay_agree_timeout{3'000};    // for /metrics to show the last answers
constexpr size_t replay_rows_shown = 10;               // countries and failures in the table

}  // namespace ringside::limits
