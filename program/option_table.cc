#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "http/characters.h"
#include "program/member_source.h"
#include "program/options.h"
#include "program/shown.h"
#include "program/values.h"
#include "shard/quotation.h"

// The rows: adding an option means a row here, its member in Configuration or in the Options of a
// half that Configuration derives from, and where it acts. Then
// scripts/option-texts writes what is made of the rows.
namespace ringside::program {
namespace {

using C = Configuration;
using Form = OptionValue::Form;

constexpr unsigned for_up = static_cast<unsigned>(Command::up);
constexpr unsigned for_sidecar = static_cast<unsigned>(Command::sidecar);
constexpr unsigned for_cache = static_cast<unsigned>(Command::cache);
constexpr unsigned for_shard = static_cast<unsigned>(Command::shard);
constexpr unsigned for_servers = for_up | for_sidecar | for_cache;

template <auto member>
nlohmann::ordered_json show(const Configuration& configuration) {
  return shown(configuration.*member);
}

template <auto member>
bool keep(const Configuration& running, Configuration& next) {
  if (running.*member == next.*member) return false;
  next.*member = running.*member;
  return true;
}

// A member that `parse` makes of a text.
template <auto member, auto parse, Form form = Form::text>
constexpr OptionValue value{form, assign<member, parse, C>, show<member>};
template <auto member, auto parse>
constexpr OptionValue list = value<member, parse, Form::list>;
// One that a running process can't change.
template <auto member, auto parse>
constexpr OptionValue fixed{Form::text, assign<member, parse, C>, show<member>, keep<member>};

template <std::uint64_t most>
Result<std::uint64_t> parse_count(std::string_view text) {
  return parse_number(text, 1, most);
}

Result<std::string> parse_file_name(std::string_view text) {
  const bool control = std::any_of(text.begin(), text.end(),
                                   [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!text.empty() && !control) return std::string(text);
  return invalid_input(fmt::format("{} can't be a file's name; write one", shard::quotation(text)));
}

// RFC 9110 §7.6.3, §5.6.2
Result<std::string> parse_via_name(std::string_view text) {
  if (http::is_token(text)) return std::string(text);
  return invalid_input(
      fmt::format("{} is no token; write letters, digits, - and the like", shard::quotation(text)));
}

Result<sidecar::WithoutReplica> parse_without_replica(std::string_view text) {
  if (text == "refuse") return sidecar::WithoutReplica::refuse;
  if (text == "origin") return sidecar::WithoutReplica::ask_origin;
  return invalid_input(
      fmt::format("{} is neither; write refuse or origin", shard::quotation(text)));
}

Result<cache::SplitWrites> parse_split_writes(std::string_view text) {
  if (text == "log") return cache::SplitWrites::log;
  if (text == "wait") return cache::SplitWrites::wait;
  return invalid_input(fmt::format("{} is neither; write log or wait", shard::quotation(text)));
}

Result<std::size_t> parse_cut_responses(std::string_view text) {
  return parse_number(text, limits::cut_least_responses, limits::cut_most_responses);
}

Result<std::size_t> parse_move_rate(std::string_view text) {
  return parse_number(text, 0, limits::move_rate_most_mib_s);
}

void set_replica_list(Configuration& configuration, std::vector<shard::MemberAt> replicas) {
  configuration.replica_count.reset();
  configuration.replicas = std::move(replicas);
}

// A number or a list: which of them a command can use is checked when all is known.
Result<void> set_replicas(Configuration& configuration, std::string_view text) {
  if (text.find('=') == std::string_view::npos) {
    const auto count = parse_number(text, 1, limits::members);
    if (!count) return invalid_input(count.error().message + ", or NAME=HOST:PORT,…");
    set_replica_list(configuration, {});
    configuration.replica_count = *count;
    return {};
  }
  auto replicas = parse_members(text);
  if (!replicas) return replicas.error();
  set_replica_list(configuration, *std::move(replicas));
  return {};
}

constexpr OptionValue replicas_value{
    Form::list, set_replicas,
    [](const C& c) { return c.replica_count ? shown(c.replica_count) : shown(c.replicas); },
    nullptr, set_replica_list};

constexpr OptionValue peers_value{
    Form::list, assign<&C::peers, parse_members, C>, show<&C::peers>, nullptr,
    [](C& c, std::vector<shard::MemberAt> members) { c.peers = std::move(members); }};

constexpr OptionValue insecure_value{Form::on_off, assign<&C::insecure_peers, parse_switch, C>,
                                     show<&C::insecure_peers>, keep<&C::insecure_peers>};

constexpr OptionValue without_link_value{Form::on_off, assign<&C::without_link, parse_switch, C>,
                                         show<&C::without_link>, keep<&C::without_link>};

// What shares and defaults come to on this machine is shown.
constexpr OptionValue memory_value{
    Form::text, assign<&C::memory, parse_store_memory, C>,
    [](const C& c) { return nlohmann::ordered_json(size_text(store_bytes(c.memory, c.machine))); },
    keep<&C::memory>};
constexpr OptionValue threads_value{
    Form::text, assign<&C::threads, parse_count<limits::threads>, C>,
    [](const C& c) { return shown(std::uint64_t{thread_count(c)}); }, keep<&C::threads>};

// name, commands, value, value's name, help; more, default's words, example, needed by
constexpr auto option_rows = std::to_array<Option>({
    {"listen", for_servers, fixed<&C::listen, Endpoint::parse>, "ADDRESS:PORT",
     "Where clients connect; port 0 takes a free one", "IPv6: `[ADDRESS]:PORT`", "", "0.0.0.0:8080",
     for_sidecar | for_cache},
    {"admin", for_servers, fixed<&C::admin, Endpoint::parse>, "ADDRESS:PORT",
     "Where administrators and Prometheus connect"},
    {"admin-token-file", for_servers, value<&C::admin_token_file, parse_file_name>, "FILE",
     "File with the token that changes through the admin address must carry (Bearer)",
     "Read again at each reload, and when it changes. Without it changes are taken from loopback "
     "alone. See [admin pages](operations.md#admin-pages)",
     "", "/etc/ringside/admin-token"},
    {"admin-host", for_servers, list<&C::admin_hosts, parse_host_names>, "NAME,...",
     "Names that the admin address is reached by; *.NAME: all below it",
     "Beside IP addresses and `localhost`. What asks for another name is refused with 421", "",
     "ringside-sidecar.ringside.svc"},
    {"probe", for_servers, fixed<&C::probe, Endpoint::parse>, "ADDRESS:PORT",
     "Where /livez and /readyz are answered, and nothing else",
     "The admin address answers them too", "", "0.0.0.0:9091"},
    {"name", for_cache, fixed<&C::name, parse_member_name>, "NAME",
     "The replica's stable name, such as cache-0; it is hashed",
     "So it must be the one in the sidecars' lists", "", "cache-0", for_cache},
    {"origin", for_servers, list<&C::origins, parse_origins>, "URL[;weight=N],...",
     "http[s]://HOST[:PORT] of routes that name none",
     "Without one `up` starts a sample origin, and `cache` refuses to start. See "
     "[Origins](rules.md#origins)"},
    {"origin-ca", for_servers, value<&C::origin_ca, parse_file_name>, "FILE",
     "Certificates (PEM) that https:// origins are checked with", "Read again at each reload",
     "the system's", "/etc/ssl/certs/ca-certificates.crt"},
    {"origin-connections", for_servers,
     value<&C::origin_connections,
           parse_count<limits::threads * limits::upstream_connections_per_address>>,
     "N", "Requests at once to each origin, of a whole process; more wait",
     "`up`: of each replica"},
    {"replicas", for_up | for_sidecar | for_shard, replicas_value, "N|NAME=HOST:PORT,...",
     "up: how many. sidecar: NAME=HOST:PORT[;weight=N][;zone=Z],…",
     "`shard`: either; without it ten, `cache-0` to `cache-9`. A sidecar needs them, unless they "
     "are discovered (`--kubernetes`, `--dns`) "
     "or "
     "`--without-replica origin` is given"},
    {"peers", for_cache, peers_value, "NAME=HOST:PORT,...",
     "Every replica of the tier, this one too, as in the sidecar's --replicas"},
    {"kubernetes", for_sidecar | for_cache, fixed<&C::kubernetes, parse_kubernetes_target>,
     "[NAMESPACE/]NAME[:PORT]", "The StatefulSet whose pods are the replicas, instead of a list",
     "The namespace: by default the pod's own. The port of theirs that takes requests, by name or "
     "number: by default the one named `http`, else the only one. See "
     "[discovery](operations.md#discovery)"},
    {"kubeconfig", for_sidecar | for_cache, fixed<&C::kubeconfig, parse_file_name>, "FILE",
     "How the API server is reached", "", "by the pod's service account"},
    {"dns", for_sidecar | for_cache, fixed<&C::dns, parse_dns_target>, "NAME[:PORT]",
     "The headless service whose DNS records name the replicas, instead of a list",
     "The port: by default the one named `http`"},
    {"peer-key-file", for_servers, fixed<&C::peer_key_file, parse_file_name>, "FILE",
     "The key by which a tier's members know each other; a line, or two",
     "The same in all of the tier; `(umask 077 && openssl rand -hex 32 > FILE)` makes one. A "
     "reload reads the file again, so the key can be replaced: see [peers](operations.md#peers). A "
     "sidecar "
     "needs it, and a replica that is "
     "told of others, unless `--insecure-peers` is given",
     "up: made at the start", "/etc/ringside/peer.key"},
    {"insecure-peers", for_sidecar | for_cache, insecure_value, "",
     "Take whoever speaks like a member for one, without a key",
     "For a try, or where nobody else reaches the replicas' ports", "", "true"},
    {"without-link", for_servers, without_link_value, "",
     "Speak HTTP/1.1 alone with the other members of the tier",
     "Else requests go over links, many at once on one connection, to every member that has one: "
     "see [the link](operations.md#the-link)",
     "", "true"},
    {"topology-version", for_sidecar | for_cache,
     value<&C::topology_version, parse_count<std::uint64_t{1} << 62>>, "N",
     "The version of the members given; newer ones win",
     "See [membership](operations.md#membership)", "1, then the next"},
    {"scheme", for_servers | for_shard, value<&C::scheme, parse_scheme>, "NAME",
     "How buckets get their replicas",
     "One that `ringside version` lists. See [schemes](#schemes)"},
    {"state", for_servers | for_shard, value<&C::state_file, parse_file_name>, "FILE",
     "The shards of a scheme that has a state",
     "Of `range`, `ascending`, `split-tree` and `directory`. See [shards](#shards)"},
    {"state-writer", for_sidecar | for_cache, fixed<&C::state_writer, StateWriter::parse>,
     "self|ADDRESS:PORT|configmap:NAME",
     "Who writes which shards there are: this process, another's admin page, or all in a ConfigMap",
     "The same for all of a tier; `up` always writes its own. See [who writes the "
     "state](#who-writes-the-state)",
     "nobody: `ringside split` tells each", "10.0.0.5:9090"},
    {"split-above", for_up | for_cache, value<&C::split_above, parse_cut_responses>, "N",
     "Stored responses of one shard above which it is cut by itself",
     "Of `range`, `ascending` and `split-tree`. See [who writes the state](#who-writes-the-state)",
     "never", "100000"},
    {"split-writes", for_up | for_cache, value<&C::split_writes, parse_split_writes>, "log|wait",
     "Whether fetches of a shard go on while it moves, or wait until it has",
     "Of schemes with a state. See [cuts](#what-a-cut-waits-for)"},
    {"place-keys", for_up | for_cache, value<&C::place_keys, parse_switch, Form::on_off>, "",
     "Place new keys of a directory by weight when something of them is first stored",
     "Of `directory`. See [who writes the state](#who-writes-the-state)", "", "true"},
    {"shard-key", for_up | for_sidecar | for_shard, list<&C::shard_key, shard::KeySpec::parse>,
     "PART,...", "Of country, ip, path, query, host, header:NAME, cookie:NAME, id:N, id:{NAME}",
     "For routes that have none. `id:`: see [ids](rules.md#ids)"},
    {"geo", for_up | for_sidecar | for_shard, value<&C::geo, parse_file_name>, "FILE",
     "Country database in MaxMind's format",
     "`share/ringside/country.mmdb` in the program's folder or the one above",
     "the one installed beside the program", "/usr/share/ringside/country.mmdb"},
    {"geo-optional", for_up | for_sidecar | for_shard,
     value<&C::geo_optional, parse_switch, Form::on_off>, "",
     "Run without a country database: every country is ZZ",
     "Else it is refused to start without one where a shard key uses the country", "", "true"},
    {"trust", for_up | for_sidecar, list<&C::trusted, parse_networks>, "NET,...",
     "Whose word on the client's address and scheme is believed",
     "They say it in the field that `--client-address-from` names", "",
     "[10.0.0.0/8, 127.0.0.0/8]"},
    {"client-address-from", for_up | for_sidecar,
     value<&C::client_address_from, parse_client_address_from>, "NAME",
     "The one field in which trusted proxies tell the client's address",
     "`x-forwarded-for`, `forwarded`, or another one with one address. Proxies that write the one "
     "pass on the others as their clients wrote them. See [who the client "
     "is](rules.md#who-the-client-is)",
     "", "forwarded"},
    {"proxied-from", for_up | for_sidecar, list<&C::proxied_from, parse_networks>, "NET,...",
     "Whose connections begin with a PROXY protocol header",
     "Version 1 or 2. From them it is required, from others it is no HTTP (400)", "",
     "10.1.0.0/16"},
    {"connections-per-address", for_servers,
     value<&C::connections_per_address, parse_count<limits::connections_per_core>>, "N",
     "Open connections from one client's address, a thread; trusted ones are free",
     "Beyond: 503, closed. Those that `--trust` and `--proxied-from` name are not counted; at a "
     "replica's port those that have proved membership, and with `--insecure-peers` nobody's"},
    {"country-header", for_servers, value<&C::country_header, parse_field_name>, "NAME",
     "The header that tells the origin the country", "The clients' own is stripped"},
    {"underscores", for_up | for_sidecar, value<&C::underscores, parse_switch, Form::on_off>, "",
     "Pass on request fields whose names have an underscore",
     "They are dropped else: WSGI and CGI read `X_Country` as `X-Country`", "", "true"},
    {"via-name", for_servers, value<&C::via_name, parse_via_name>, "NAME",
     "What Via calls this hop, in requests and responses",
     "A token. Cache-Status and Proxy-Status keep the hop's own name; loops are found whatever the "
     "name is",
     "ringside, or the replica's name", "edge"},
    {"without-replica", for_up | for_sidecar, value<&C::without_replica, parse_without_replica>,
     "refuse|origin", "What to do with a request that no replica can take", "`refuse`: 503"},
    {"purge-from", for_servers, list<&C::purge_from, parse_networks>, "NET,...",
     "Whose PURGE requests are obeyed",
     "A replica needs the sidecars' addresses here: without them `POST /purge` at a sidecar is "
     "answered 502, and it names the replicas that refused",
     "", "10.0.0.0/8"},
    {"memory", for_up | for_cache, memory_value, "SIZE|N%",
     "Of a replica's store; N%: of what the container has; up: of each",
     "`1GiB`, `256MiB`, `512KiB` or bytes; `cache` also `1%` to `90%` of what the "
     "[container](operations.md#in-a-container) may use"},
    {"threads", for_servers, threads_value, "N",
     "One core each; up: the sidecar's, replicas have one",
     "See [in a container](operations.md#in-a-container)", "the container's cores", "2"},
    {"log-level", for_servers, value<&C::log_level, parse_level>, "LEVEL",
     "How much is logged: debug, info, warning or error"},
    {"connect-timeout", for_servers, value<&C::connect_timeout, parse_duration>, "TIME",
     "For connecting to one upstream address"},
    {"first-byte-timeout", for_servers, value<&C::first_byte_timeout, parse_duration>, "TIME",
     "From a request's end to the answer's head",
     "Of an origin; a sidecar waits for a replica as long as that may take"},
    {"request-deadline", for_servers, value<&C::request_deadline, parse_duration>, "TIME",
     "For choosing, connecting, asking and failing over together"},
    {"move-rate", for_up | for_cache, value<&C::move_rate_mib_s, parse_move_rate>, "N",
     "MiB a second that come into a replica from others when the tier changes",
     "0: nothing moves by itself. See [handoff](operations.md#handoff)"},
    {"drain-delay", for_servers, value<&C::drain_delay, parse_delay>, "TIME",
     "How long after SIGTERM only /readyz changes",
     "See [signals](operations.md#signals-and-exit-codes)", "", "5s"},
    {"drain-deadline", for_servers, value<&C::drain_deadline, parse_duration>, "TIME",
     "How long requests in flight may take after the delay"},
    {"access-log", for_servers, fixed<&C::access_log, parse_file_name>, "FILE|-",
     "A line for each request, in the Combined Log Format; up: the sidecar's",
     "`-`: stdout. See [access log](operations.md#access-log)", "", "/var/log/ringside/access.log"},
});

}  // namespace

std::span<const Option> all_options() noexcept { return option_rows; }

}  // namespace ringside::program
