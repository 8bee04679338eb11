#include "tests/fault/chain.h"

#include <algorithm>
#include <charconv>
#include <csignal>

#include "base/hash.h"
#include "base/log.h"
#include "link/wire.h"
#include "tests/support/mmdb_writer.h"

namespace ringside::fault {
namespace {

std::string_view target_of(std::string_view head) {
  const std::size_t from = head.find(' ') + 1;
  return head.substr(from, head.find(' ', from) - from);
}

std::string_view part(std::string_view target, unsigned which) {
  for (; which > 0; --which) target.remove_prefix(std::min(target.find('/') + 1, target.size()));
  return target.substr(0, target.find('/'));
}

// The same for both kinds of origin: one request after the other.
template <class Stage>
void serve(Stage& stage) {
  while (true) {
    const std::string head = stage.read_head();
    const std::string_view target = target_of(head);
    const std::string length = support::field(head, "content-length");
    if (!length.empty()) {
      stage.send(support::answer("200 OK", "", stage.read(std::stoul(length))));
      continue;
    }
    const std::string_view how = part(target, 1);
    const std::string body = body_of(target);
    const std::string lines =
        how == "fresh" ? "Cache-Control: max-age=3600\r\n" : "Cache-Control: no-store\r\n";
    if (how == "chunked") {
      stage.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + lines + "\r\n" +
                 support::chunked(body, 1 + body.size() / 7));
    } else if (how == "close") {
      stage.send("HTTP/1.1 200 OK\r\n" + lines + "Connection: close\r\n\r\n" + body);
      stage.close();
    } else {
      stage.send(support::answer("200 OK", lines, body));
    }
  }
}

}  // namespace

std::string body_of(std::string_view target) {
  std::size_t size = 0;
  const auto digits = part(target, 2);
  std::from_chars(digits.data(), digits.data() + digits.size(), size);
  std::string body(size, '\0');
  std::uint64_t state = hash64(target);
  for (char& c : body) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    c = static_cast<char>(state >> 56);
  }
  return body;
}

Chain::Chain(Origin kind, int clock_times) : clock_(clock_times) {
  std::signal(SIGPIPE, SIG_IGN);  // as the program does (program/signals.h)
  log::set_level(log::Level::error);
  auto cached = std::make_shared<cache::Settings>();
  Endpoint address;
  if (kind == Origin::plain) {
    plain_ = std::make_unique<support::ScriptedPeer>(serve<support::Stage>);
    address = plain_->address();
  } else {
    support::Certificate::Terms terms;
    terms.authority = true;
    authority_ = std::make_unique<support::Certificate>(terms, nullptr);
    terms.authority = false;
    terms.names = "IP:127.0.0.1";
    leaf_ = std::make_unique<support::Certificate>(terms, authority_.get());
    tls_ = std::make_unique<support::TlsServer>(*leaf_, serve<support::TlsStage>);
    address = tls_->address();
    const support::TemporaryFile believed(authority_->pem());
    cached->tls = net::TlsContext::make(believed.path()).value();
  }
  cached->insecure_peers = true;
  const http::RouteMatch everything;
  const UpstreamAddress origin{address, kind == Origin::under_tls};
  cached->routes = {{"all", everything, {net::Origin{origin, 1}}}};
  cached->route_table = http::RouteTable::make({everything}).value();
  cache::Replica::Start replica;
  replica.name = "cache-0";
  replica.setup.wire = &link::wire();
  replica.setup.listen = {"127.0.0.1", 0};
  replica.setup.cores = 1;
  replica.memory_bytes = 4 * limits::kMiB;
  replica.settings = cached;
  replica_ = cache::Replica::start(std::move(replica), clock_).value();

  auto settings = std::make_shared<sidecar::Settings>();
  sidecar::Route route;
  route.name = "all";
  settings->routes = {route};
  settings->route_table = http::RouteTable::make({everything}).value();
  settings->membership =
      tier::make_membership({{{"cache-0", 1, ""}, replica_->address()}}, "ring", 1).value();
  sidecar::Sidecar::Start front;
  front.setup.wire = &link::wire();
  front.setup.listen = {"127.0.0.1", 0};
  front.settings = settings;
  sidecar_ = sidecar::Sidecar::start(std::move(front), clock_).value();
}

Chain::~Chain() = default;

void Chain::expect_nothing_left() {
  using support::eventually;
  EXPECT_TRUE(eventually([&] { return sidecar_->open_connections() == 0; }));
  EXPECT_TRUE(
      eventually([&] { return sidecar_->sheet().totals().of("ringside_connections") == 0; }));
  EXPECT_TRUE(eventually([&] { return replica_->sheet().totals().store->flights == 0; }));
  EXPECT_TRUE(eventually([&] {
    const auto totals = replica_->sheet().totals();
    return !totals.origins || (totals.origins->in_use == 0 && totals.origins->queued == 0);
  }));
  sidecar_.reset();  // and with it its pooled connections to the replica
  EXPECT_TRUE(eventually([&] { return replica_->open_connections() == 0; }));
  EXPECT_EQ(replica_->sheet().totals().of("ringside_connections"), 0U);
}

}  // namespace ringside::fault
