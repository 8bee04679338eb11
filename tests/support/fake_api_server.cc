#include "tests/support/fake_api_server.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

namespace ringside::support {
namespace {

using nlohmann::json;
using Kind = FakeApiServer::Kind;

constexpr std::string_view service_label = "kubernetes.io/service-name";

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size()) {
      std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The value of a query's parameter, decoded; empty where there is none.
std::string parameter(std::string_view target, std::string_view name) {
  std::size_t at = target.find('?');
  while (at != target.npos) {
    const std::size_t end = target.find('&', at + 1);
    const auto pair = target.substr(at + 1, end == target.npos ? end : end - at - 1);
    if (pair.starts_with(name) && pair.substr(name.size()).starts_with('=')) {
      return decoded(pair.substr(name.size() + 1));
    }
    at = end;
  }
  return {};
}

std::string target_of(const std::string& head) {
  const std::size_t from = head.find(' ') + 1;
  return head.substr(from, head.find(' ', from) - from);
}

Kind kind_of(const std::string& target) {
  const bool watches = parameter(target, "watch") == "1";
  if (target == "/apis/discovery.k8s.io") return Kind::group;
  if (target.starts_with("/apis/apps/v1/namespaces/shop/statefulsets?")) {
    return watches ? Kind::watch_sets : Kind::list_sets;
  }
  if (target.starts_with("/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?")) {
    return watches ? Kind::watch_slices : Kind::list_slices;
  }
  return Kind::unknown;
}

std::string service_of(const std::string& target) {
  const std::string selector = parameter(target, "labelSelector");
  const std::size_t equals = selector.find('=');
  return equals == selector.npos ? std::string() : selector.substr(equals + 1);
}

json slice_json(const FakeSlice& slice, std::uint64_t version) {
  json endpoints = json::array();
  for (const FakeSlice::Pod& pod : slice.pods) {
    endpoints.push_back(
        {{"addresses", {pod.address}},
         {"conditions", {{"ready", pod.ready}}},
         {"targetRef", {{"kind", "Pod"}, {"name", pod.name}, {"namespace", "shop"}}}});
  }
  return {{"metadata",
           {{"name", slice.name},
            {"namespace", "shop"},
            {"resourceVersion", std::to_string(version)},
            {"labels", {{std::string(service_label), slice.service}}}}},
          {"addressType", "IPv4"},
          {"ports", {{{"name", "http"}, {"port", slice.port}, {"protocol", "TCP"}}}},
          {"endpoints", endpoints}};
}

std::string event_line(const std::string& type, json object, const std::string& kind) {
  object["kind"] = kind;
  object["apiVersion"] = kind == "StatefulSet" ? "apps/v1" : "discovery.k8s.io/v1";
  return json{{"type", type}, {"object", std::move(object)}}.dump() + "\n";
}

const std::string group_body =
    json{{"kind", "APIGroup"},
         {"apiVersion", "v1"},
         {"name", "discovery.k8s.io"},
         {"versions", {{{"groupVersion", "discovery.k8s.io/v1"}, {"version", "v1"}}}},
         {"preferredVersion", {{"groupVersion", "discovery.k8s.io/v1"}, {"version", "v1"}}}}
        .dump();

constexpr std::string_view json_type = "Content-Type: application/json\r\n";

}  // namespace

FakeApiServer::FakeApiServer() : peer_([this](Stage& stage) { play(stage); }) {}

void FakeApiServer::tell(Kind kind, const std::string& service, const std::string& line) {
  changes_.push_back({version_, kind, service, line});
  wake();
}

void FakeApiServer::wake() {
  for (const auto& gate : waiting_) gate->open();
  waiting_.clear();
}

std::string FakeApiServer::set_json() const {
  json object = {{"metadata",
                  {{"name", set_.name},
                   {"namespace", "shop"},
                   {"generation", generation_},
                   {"resourceVersion", std::to_string(set_version_)}}},
                 {"spec", {{"replicas", set_.replicas}, {"serviceName", set_.service}}}};
  if (!set_.weight.empty()) object["metadata"]["annotations"]["ringside.dev/weight"] = set_.weight;
  return object.dump();
}

void FakeApiServer::apply(const FakeSet& set) {
  const std::lock_guard lock(mutex_);
  const bool is_new = set_version_ == 0;
  set_ = set;
  set_version_ = ++version_;
  ++generation_;
  tell(Kind::watch_sets, "",
       event_line(is_new ? "ADDED" : "MODIFIED", json::parse(set_json()), "StatefulSet"));
}

void FakeApiServer::delete_set() {
  const std::lock_guard lock(mutex_);
  set_version_ = ++version_;
  const std::string line = event_line("DELETED", json::parse(set_json()), "StatefulSet");
  set_version_ = 0;
  tell(Kind::watch_sets, "", line);
}

void FakeApiServer::apply(const FakeSlice& slice) {
  const std::lock_guard lock(mutex_);
  const bool is_new = slices_.find(slice.name) == slices_.end();
  slices_[slice.name] = {slice, ++version_};
  tell(Kind::watch_slices, slice.service,
       event_line(is_new ? "ADDED" : "MODIFIED", slice_json(slice, version_), "EndpointSlice"));
}

void FakeApiServer::delete_slice(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const FakeSlice slice = slices_.at(name).slice;
  slices_.erase(name);
  ++version_;
  tell(Kind::watch_slices, slice.service,
       event_line("DELETED", slice_json(slice, version_), "EndpointSlice"));
}

void FakeApiServer::once(Kind kind, Script script) {
  const std::lock_guard lock(mutex_);
  once_[kind].push_back(std::move(script));
}

void FakeApiServer::always(Kind kind, Script script) {
  const std::lock_guard lock(mutex_);
  always_[kind] = std::move(script);
}

void FakeApiServer::cut(Kind kind) {
  const std::lock_guard lock(mutex_);
  ++cuts_[kind];
  wake();
}

void FakeApiServer::go_away() {
  const std::lock_guard lock(mutex_);
  away_ = true;
  wake();
}

void FakeApiServer::come_back() {
  const std::lock_guard lock(mutex_);
  away_ = false;
}

void FakeApiServer::compact() {
  const std::lock_guard lock(mutex_);
  compacted_ = ++version_;
  changes_.clear();
}

std::size_t FakeApiServer::requests(Kind kind) const { return heads(kind).size(); }

std::vector<std::string> FakeApiServer::heads(Kind kind) const {
  const std::lock_guard lock(mutex_);
  const auto found = heads_.find(kind);
  return found == heads_.end() ? std::vector<std::string>() : found->second;
}

std::uint64_t FakeApiServer::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::string FakeApiServer::list_body(Kind kind, const std::string& service) const {
  const std::lock_guard lock(mutex_);
  const bool sets = kind == Kind::list_sets;
  json items = json::array();
  if (sets && set_version_ != 0) items.push_back(json::parse(set_json()));
  if (!sets) {
    for (const auto& [name, held] : slices_) {
      if (held.slice.service == service) items.push_back(slice_json(held.slice, held.version));
    }
  }
  return json{{"kind", sets ? "StatefulSetList" : "EndpointSliceList"},
              {"apiVersion", sets ? "apps/v1" : "discovery.k8s.io/v1"},
              {"metadata", {{"resourceVersion", std::to_string(version_)}}},
              {"items", items}}
      .dump();
}

std::string FakeApiServer::event_of_set(const std::string& type) const {
  const std::lock_guard lock(mutex_);
  return event_line(type, json::parse(set_json()), "StatefulSet");
}

std::string FakeApiServer::event_of_slice(const std::string& type, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const Held& held = slices_.at(name);
  return event_line(type, slice_json(held.slice, held.version), "EndpointSlice");
}

std::string FakeApiServer::bookmark(const std::string& kind, std::uint64_t version) {
  return event_line("BOOKMARK", {{"metadata", {{"resourceVersion", std::to_string(version)}}}},
                    kind);
}

std::string FakeApiServer::status_body(int code, const std::string& reason) {
  return json{{"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", {}},
              {"status", "Failure"},
              {"message", reason + " says the test"},
              {"reason", reason},
              {"code", code}}
      .dump();
}

std::string FakeApiServer::error_event(int code, const std::string& reason) {
  return json{{"type", "ERROR"}, {"object", json::parse(status_body(code, reason))}}.dump() + "\n";
}

std::string FakeApiServer::watch_head() {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
}

std::string FakeApiServer::chunk(std::string_view bytes) {
  const std::string whole = chunked(bytes, std::max<std::size_t>(bytes.size(), 1));
  return whole.substr(0, whole.size() - std::string_view("0\r\n\r\n").size());
}

void FakeApiServer::play(Stage& stage) {
  {
    const std::lock_guard lock(mutex_);
    if (away_) stage.close();
  }
  const std::string head = stage.read_request();
  const std::string target = target_of(head);
  const Kind kind = kind_of(target);
  const Part part = part_for(kind, head);
  if (part.script) return part.script(stage);
  switch (kind) {
    case Kind::group:
      return stage.send(answer("200 OK", json_type, group_body));
    case Kind::list_sets:
    case Kind::list_slices:
      return answer_list(stage, kind, target);
    case Kind::watch_sets:
    case Kind::watch_slices:
      return answer_watch(stage, kind, target, part.cuts);
    case Kind::unknown:
      stage.send(answer("404 Not Found", json_type, status_body(404, "NotFound")));
  }
}

FakeApiServer::Part FakeApiServer::part_for(Kind kind, const std::string& head) {
  const std::lock_guard lock(mutex_);
  heads_[kind].push_back(head);
  auto& queue = once_[kind];
  if (queue.empty()) return {always_[kind], cuts_[kind]};
  Part part{std::move(queue.front()), cuts_[kind]};
  queue.pop_front();
  return part;
}

void FakeApiServer::answer_list(Stage& stage, Kind kind, const std::string& target) {
  stage.send(answer("200 OK", json_type, list_body(kind, service_of(target))));
}

void FakeApiServer::answer_watch(Stage& stage, Kind kind, const std::string& target,
                                 std::uint64_t cuts) {
  std::uint64_t from = std::stoull(parameter(target, "resourceVersion"));
  stage.send(watch_head());
  while (true) {
    std::string lines;
    const auto gate = std::make_shared<Gate>();
    {
      const std::lock_guard lock(mutex_);
      if (away_ || cuts_[kind] != cuts) return;
      if (from < compacted_) return stage.send(chunked(error_event(410, "Expired"), 1024));
      for (const Change& change : changes_) {
        if (change.version <= from || change.kind != kind || !lines.empty()) continue;
        from = change.version;
        if (kind == Kind::watch_sets || change.service == service_of(target)) lines = change.line;
      }
      if (lines.empty()) waiting_.push_back(gate);
    }
    if (lines.empty()) {
      stage.wait(*gate);
    } else {
      stage.send(chunk(lines));
    }
  }
}

}  // namespace ringside::support
