#include "tests/keys/mutants.h"

#include <array>

#include "http/path_rules.h"
#include "http/vary.h"
#include "sidecar/canonical_request.h"
#include "sidecar/shard_decision.h"

namespace ringside::keys {
namespace {

constexpr std::array<MutantRow, 6> rows{{
    {Mutant::vary_by_meaning, "vary_by_meaning", 20'000},
    {Mutant::first_cookie_alone, "first_cookie_alone", 20'000},
    {Mutant::underscores_pass, "underscores_pass", 20'000},
    {Mutant::proxies_word_not_keyed, "proxies_word_not_keyed", 20'000},
    {Mutant::clients_believed_as_proxies, "clients_believed_as_proxies", 20'000},
    {Mutant::escaped_slashes_unseen, "escaped_slashes_unseen", 2'000},
}};

Mutant chosen = Mutant::none;

bool is(Mutant mutant) noexcept { return chosen == mutant; }

// As it once was: without empty members, in lower case.
std::string by_meaning(std::string key) {
  std::string out;
  for (char c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c != ',' && c != ' ') out += c;
  }
  return out;
}

}  // namespace

std::span<const MutantRow> mutants() noexcept { return rows; }

void choose(Mutant mutant) noexcept { chosen = mutant; }

}  // namespace ringside::keys

// Wrong where their mutant is chosen; else as the real ones, which tests/CMakeLists.txt has
// compiled under these names. Where a signature changes, linking fails.

namespace ringside::http {

std::string real_variant_key(const std::vector<std::string>& names, const Fields& request_fields);

std::string variant_key(const std::vector<std::string>& names, const Fields& request_fields) {
  std::string key = real_variant_key(names, request_fields);
  return keys::is(keys::Mutant::vary_by_meaning) ? keys::by_meaning(std::move(key)) : key;
}

bool real_has_escaped_slash(std::string_view path) noexcept;

bool has_escaped_slash(std::string_view path) noexcept {
  return !keys::is(keys::Mutant::escaped_slashes_unseen) && real_has_escaped_slash(path);
}

}  // namespace ringside::http

namespace ringside::sidecar {

using keys::is;
using keys::Mutant;

void real_make_canonical(http::RequestHead& request, const Settings& settings, Decision& decision);
void real_build_extra_key(std::string& out, const shard::KeySpec& spec, const RequestFacts& facts);

void make_canonical(http::RequestHead& request, const Settings& settings, Decision& decision) {
  if (is(Mutant::underscores_pass)) {
    Settings lax = settings;
    lax.underscores = true;
    return real_make_canonical(request, lax, decision);
  }
  const bool is_trusted = decision.peer_is_trusted;
  if (is(Mutant::clients_believed_as_proxies)) decision.peer_is_trusted = true;
  real_make_canonical(request, settings, decision);
  decision.peer_is_trusted = is_trusted;
}

void build_extra_key(std::string& out, const shard::KeySpec& spec, const RequestFacts& facts) {
  http::Fields fields = facts.fields;
  if (is(Mutant::proxies_word_not_keyed) || is(Mutant::clients_believed_as_proxies)) {
    fields.keep([](const http::Field& field) { return !is_of_proxies(field.name); });
  }
  if (is(Mutant::first_cookie_alone)) {
    const auto cookies = fields.first("cookie");
    fields.remove("cookie");
    if (cookies) fields.add("Cookie", cookies->substr(0, cookies->find(';')));
  }
  real_build_extra_key(out, spec, {facts.host, facts.target, fields, facts.client, facts.country});
}

}  // namespace ringside::sidecar
