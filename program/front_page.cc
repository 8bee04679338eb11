#include "program/front_page.h"

namespace ringside::program {
namespace {

constexpr std::string_view page_head = R"(<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
  dt { font-family: ui-monospace, monospace }
</style>
)";

constexpr std::string_view page_body = R"(<dl>
<dt><a href="/livez">GET /livez</a><dd>the process runs
<dt><a href="/readyz">GET /readyz</a><dd>it takes requests; with details
<dt><a href="/metrics">GET /metrics</a><dd>for Prometheus
<dt><a href="/topology">GET /topology</a><dd>replicas, their addresses and shares
<dt><a href="/shards">GET /shards</a><dd>what is stored of each shard
<dt><a href="/config">GET /config</a><dd>the effective configuration
<dt>PUT /topology<dd>another membership
<dt>POST /shards<dd>what is stored of each shard, if a topology cut some of them; give it as PUT /topology takes it
<dt>POST /split<dd>cut a shard, where the state is written here
<dt>POST /purge<dd>{"url": "http://host/path"}, {"prefix": "http://host/path"} or {"all": true}
<dt>POST /log<dd>the requests since the same reader asked before: {"reader": "a name"}
<dt>POST /drain<dd>no new connections, not ready
)";

constexpr std::string_view of_sidecars =
    R"(<dt>POST /explain<dd>what would be done with a request: {"url": "http://host/path"}
)";

constexpr std::string_view of_up =
    R"(<dt><a href="/scale">GET /scale</a><dd>how many replicas; PUT: {"replicas": N}
<dt><a href="/origin">GET /origin</a><dd>what the sample origin was asked
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

}  // namespace

std::string front_page(std::string_view title, Command command) {
  const std::string name = escaped(title);
  std::string page(page_head);
  page += "<title>Ringside: " + name + "</title>\n<h1>Ringside: " + name + "</h1>\n";
  page += page_body;
  if (command != Command::cache) page += of_sidecars;
  if (command == Command::up) page += of_up;
  page += "</dl>\n";
  return page;
}

}  // namespace ringside::program
