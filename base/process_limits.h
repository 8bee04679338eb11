#pragma once

#include "base/limits.h"

// The limits of what stands beside the requests' way: discovery, administration, the commands. A
// part of base/limits.h, by which it is included.
namespace ringside::limits {

// # Kubernetes and DNS
// The API server is asked by [cpp-httplib](https://github.com/yhirose/cpp-httplib) as it comes,
// whose timeouts are for one read each. So a server that sends single bytes can keep the TLS
// handshake, the head of an answer or one TLS record going for longer than these limits, for
// `api_list_timeout` and `api_watch_most` are looked at when a piece of the body is there; nor
// is the size of a head limited but line by line. Whoever can do so has the cluster's
// certificate. It does not tell what is no HTTP from a connection that was closed either: both
// count as `unreachable`. The end of the process waits for none of it.

// {} of a list | refused; the last topology stays, `/readyz` says so
constexpr size_t api_answer_size_bytes = 32 * kMiB;
// {} of a watch's event | everything is listed again
constexpr size_t api_event_size_bytes = 4 * kMiB;
// {} of an answer that is no list | the rest is not read
constexpr size_t api_refusal_size_bytes = 64 * kKiB;
// {} to connect, and as much for the TLS handshake, which is ended when it takes longer and the
// next piece of it is there, or none has come for as long | the API server is away; tried again
constexpr Milliseconds api_connect_timeout{3'000};
// {} until a list begins, and between two pieces of it | likewise
constexpr Milliseconds api_answer_timeout{15'000};
constexpr Milliseconds api_list_timeout{60'000};  // {} for a whole list | likewise
// {} for a whole watch, whatever it tells | ended by us, and resumed where it was
constexpr Seconds api_watch_most{560};
// the server is asked to end a watch after the first; it is ended by us where nothing comes for
// the second, from its request on; it is resumed where it was
constexpr Seconds api_watch_timeout{240};
constexpr Seconds api_watch_silence{280};
// {}, then every {}, {} times | a watch whose server is gone without a word is noticed after so
// long
constexpr Seconds api_keepalive_idle{15};
constexpr Seconds api_keepalive_interval{5};
constexpr int api_keepalive_probes = 3;
// {}, doubling to {}, with jitter | the wait after a failure
constexpr Milliseconds api_backoff_start{200};
constexpr Milliseconds api_backoff_most{10'000};
// a `Retry-After` that asks for more counts as this
constexpr Milliseconds api_retry_after_most{60'000};
// {} without news, {} after the first | what changed is published as one topology
constexpr Milliseconds discovery_settle{50};
constexpr Milliseconds discovery_delay_most{250};
constexpr size_t endpoint_slices = 1024;  // {} of one service | refused; the last topology stays
constexpr size_t service_account_size_bytes = 256 * kKiB;  // {}, each of token and CA | refused
constexpr size_t kubeconfig_size_bytes = kMiB;             // refused
// how often records are asked for, whatever their TTL
constexpr Milliseconds dns_interval_least{1'000};
constexpr Milliseconds dns_interval_most{30'000};
// {}, {} times | a question has failed; the last topology stays
constexpr Milliseconds dns_timeout{2'000};
constexpr int dns_tries = 2;
// {} for all questions of a round | it has failed: likewise
constexpr Milliseconds dns_round_timeout{30'000};
constexpr int dns_datagram_size_bytes = 1'232;  // larger answers are asked for again over TCP
// a replica that is missing in the answers for so long is no member any more
constexpr Milliseconds dns_member_kept{60'000};

// # Administration and the program

// {}, and as many times that for all together as there are `admin_threads` | 413, 503
constexpr size_t admin_body_size_bytes = 4 * kMiB;
constexpr size_t admin_threads = 2;   // requests wait, `/livez` and `/readyz` do not
constexpr size_t admin_waiting = 64;  // {} requests for a thread | 503
// {}; {} from one address | the one that has let us wait for longest is closed, of the same address
// where that has too many; none that has a thread or waits for one
constexpr size_t admin_connections = 256;
constexpr size_t admin_connections_per_address = 128;
// held by each of the addresses for administrators and for probes, for when others have all the
// rest
constexpr size_t admin_spare_descriptors = 8;
// {} to send a request whole or take some of an answer, {} between requests, {} for what comes
// after the last answer | closed
constexpr Milliseconds admin_io_timeout{5'000};
constexpr Milliseconds admin_idle_timeout{75'000};
constexpr Milliseconds admin_linger_timeout{2'000};
// {} to {} of `--admin-token-file`; {} in `--admin-host` | refused
constexpr size_t admin_token_least_bytes = 16;
constexpr size_t admin_token_size_bytes = 4 * kKiB;
constexpr size_t admin_hosts = 64;
// {} of a line of the log, {} that wait to be written | cut; dropped and counted
constexpr size_t log_line_size_bytes = 3 * kKiB;
constexpr size_t log_queue_bytes = 256 * kKiB;
// {} at the end, for who takes what waits | left unwritten
constexpr Milliseconds log_flush{200};
// {} of the same text within {}, for {} texts | counted, and told in one line
constexpr uint64_t log_same_lines = 5;
constexpr Milliseconds log_fold_interval{10'000};
constexpr size_t log_folded_texts = 64;
constexpr size_t configuration_size_bytes = kMiB;  // refused
// {} within each other, {} values, lists and maps together, {} keys in one map | refused
constexpr size_t configuration_depth = 8;
constexpr size_t configuration_nodes = 65'536;
constexpr size_t configuration_map_keys = 256;
// refused
constexpr size_t store_memory_least_bytes = kMiB;
constexpr size_t store_memory_most_bytes = size_t{1} << 46;
// (--memory N%) refused: the rest is for connections and answers under way
constexpr unsigned store_memory_percent_most = 90;
// a file of the kernel's that is larger is not believed: no limit of the control groups is
// assumed, and the log says so
constexpr size_t kernel_file_size_bytes = 4 * kMiB;
constexpr size_t threads = 256;  // (--threads) refused
// {}, any duration in a configuration | refused
constexpr Milliseconds configured_wait_most{86'400'000};
constexpr Milliseconds file_poll{1'000};  // how late a changed file is noticed
// {} between two lines of the log about a PURGE of clients | the next line tells how many were left
// out
constexpr Milliseconds purge_line_interval{1'000};
constexpr Milliseconds drain_poll{20};  // how late the end of a drain is noticed
// {} between two questions to the process that writes the state of a scheme, {} to connect and of
// each wait | asked again; meanwhile the state that was heard last counts
constexpr Milliseconds state_poll{1'000};
constexpr Milliseconds state_timeout{2'000};
// between two looks at a ConfigMap that has the shards; when a peer knows others, at once
constexpr Milliseconds state_config_map_poll{5'000};
// {} of the shards in a ConfigMap, which has 1 MiB at most | refused with a message
constexpr size_t config_map_value_size_bytes = 900 * kKiB;
// {} after a shard that is too full could not be cut | tried again
constexpr Milliseconds cut_pause{30'000};
// {} of a directory that a replica asks for at a time (--place-keys) | the others come next
constexpr size_t keys_placed_at_once = 256;
// (--split-above) {} to {} stored responses of a shard | refused
constexpr size_t cut_least_responses = 10;
constexpr size_t cut_most_responses = size_t{1} << 32;
// {} to connect and be answered, {} of the answer | `ringside scale`, `plan` and `replay` give up
// with a message
constexpr Milliseconds admin_timeout{10'000};
constexpr size_t admin_answer_size_bytes = 64 * kMiB;
constexpr size_t access_log_records = 8192;               // {} a core | dropped and counted
constexpr size_t access_log_field_size_bytes = 2 * kKiB;  // {} of a target or a header | cut
// {} formatted at once | the rest is formatted once this is written
constexpr size_t access_log_write_size_bytes = 64 * kKiB;
// how late a line may be written; at the end a writer that is stuck so long is given up, what it
// has left is counted as dropped
constexpr Milliseconds access_log_flush{50};
constexpr Milliseconds access_log_idle{1'000};  // the same where there is neither file nor reader
constexpr size_t log_readers = 4;  // {} at once (`ringside log`), of each process | 503 with why
// {}, {} that wait for a reader of the log | dropped and counted
constexpr size_t log_reader_lines = 1024;
constexpr size_t log_reader_size_bytes = 1 * kMiB;
// {} of the name by which a reader asks again | 400 with a message
constexpr size_t log_reader_name_size_bytes = 64;
// {} for a reader that asks no more | it is forgotten
constexpr Milliseconds log_reader_patience{5'000};
constexpr Milliseconds log_poll{200};  // how often `ringside log` asks
// {} names of replicas that came or left, of each line of the log | the rest are counted
constexpr size_t members_in_log = 16;
constexpr Milliseconds scale_poll{50};  // how often `ringside scale` asks
// between the two looks of `ringside status` at what is counted
constexpr Milliseconds status_interval{1'000};
// {} keys, by which `ringside plan` reckons with schemes that are not by bucket | the share that
// moves is an estimate, and said to be one
constexpr size_t plan_keys = 131'072;
constexpr size_t plan_rows_shown = 24;  // {} moves, of each plan's text | JSON has the rest
constexpr size_t plan_shards = 16'384;  // {} small shards of a `modulo` reshard | only counted

// # Replaying

// {} of a log's line | the line is skipped and counted
constexpr size_t replay_line_size_bytes = 64 * kKiB;
constexpr size_t replay_requests = 5'000'000;  // {} in one run | refused
// {} skipped lines, {} countries and failures | the table says how many more
constexpr size_t replay_skipped_shown = 5;
constexpr size_t replay_rows_shown = 10;
constexpr size_t replay_concurrency = 4096;  // {} requests in flight | refused
// {} names in `Cache-Status` | further names are counted together
constexpr size_t replay_caches = 4096;
// {}, longer than the tier's own `request_deadline` | counted as an error
constexpr Milliseconds replay_answer_timeout{70'000};
constexpr Milliseconds replay_look{50};  // how often progress is looked at
// {} for a change of the number of replicas, {} for `/metrics` to show the last answers | the
// run fails with a message
constexpr Milliseconds replay_settle_timeout{60'000};
constexpr Milliseconds replay_agree_timeout{3'000};

}  // namespace ringside::limits
