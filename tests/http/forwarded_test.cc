#include "http/forwarded.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

Fields fields_of(const std::vector<Field>& lines) {
  Fields fields;
  for (const Field& line : lines) fields.add(line.name, line.value);
  return fields;
}

// The field that these lines are about: what an operator names whose proxies write them.
std::string_view field_of(const std::vector<Field>& lines) {
  return fields_of(lines).has("forwarded") ? "forwarded" : x_forwarded_for;
}

// `address|proto` for each hop, `-` for a hop without address.
std::string told(const std::vector<Field>& lines) {
  std::string out;
  for (const ForwardedHop& hop : forwarded_hops(fields_of(lines), field_of(lines))) {
    if (!out.empty()) out += ' ';
    out += hop.address ? hop.address->text() : "-";
    if (!hop.proto.empty()) out += "|" + hop.proto;
  }
  return out;
}

TEST(Forwarded, IsReadByItsGrammar) {
  struct Case {
    std::string_view value;
    std::string_view hops;
  };
  const Case cases[] = {
      {"", ""},
      {" , ,", ""},
      {"for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60|http"},
      {"For=192.0.2.60;PROTO=HTTPS", "192.0.2.60|https"},
      {"for=192.0.2.43, for=198.51.100.17", "192.0.2.43 198.51.100.17"},
      {"for=192.0.2.43,,for=198.51.100.17,", "192.0.2.43 198.51.100.17"},
      {R"(for="192.0.2.43")", "192.0.2.43"},
      {R"(for="192.0.2.43:47011")", "192.0.2.43"},
      {R"(for="192.0.2.43:_port")", "192.0.2.43"},
      {R"(for="[2001:db8:cafe::17]:4711")", "2001:db8:cafe::17"},
      {R"(for="[2001:db8:cafe::17]")", "2001:db8:cafe::17"},
      {R"(for="[2001:DB8::17]:_a.b-c";proto="http")", "2001:db8::17|http"},
      {R"(for="[::ffff:192.0.2.1]")", "192.0.2.1"},
      {R"(for="\1\9\2.0.2.43")", "192.0.2.43"},
      {R"(by="a, b; for=192.0.2.9";for=192.0.2.1, for=192.0.2.2)", "192.0.2.1 192.0.2.2"},
      {R"(by="\", for=192.0.2.9";for=192.0.2.1)", "192.0.2.1"},
      {"for=192.0.2.1 ; proto=http", "192.0.2.1|http"},
      {"for=192.0.2.1;", "192.0.2.1"},
      {";for=192.0.2.1", "192.0.2.1"},
      {"secret=x;for=192.0.2.1;host=example.org", "192.0.2.1"},
      // No address told.
      {"for=unknown", "-"},
      {"for=_gazonk;proto=http", "-|http"},
      {R"(for="_SEVKISEK:_x")", "-"},
      {R"(for="unknown:80")", "-"},
      {"by=203.0.113.43", "-"},
      {"for=192.0.2.1, for=\"192.0.2.2, for=192.0.2.3", "192.0.2.1 -"},
  };
  for (const Case& c : cases) EXPECT_EQ(told({{"Forwarded", c.value}}), c.hops) << c.value;
}

TEST(Forwarded, AMalformedElementIsAHopWithoutAddress) {
  const std::string_view cases[] = {
      "192.0.2.1",
      "for",
      "for=",
      "for =192.0.2.1",
      "for= 192.0.2.1",
      "=192.0.2.1",
      "for=192.0.2.1 proto=http",
      "for=192.0.2.1:80",
      "for=[2001:db8::1]",
      R"(for="2001:db8::1")",
      R"(for="[2001:db8::1]:")",
      R"(for="[2001:db8::1]:123456")",
      R"(for="[2001:db8::1]:80x")",
      R"(for="[2001:db8::1]80")",
      R"(for="[2001:db8::1")",
      R"(for="[192.0.2.1]")",
      R"(for="192.0.2.1:")",
      R"(for=" 192.0.2.1")",
      R"(for="192.0.2.1)",
      R"(for="192.0.2.1\)",
      R"(for="192.0.2.1"x)",
      R"(for="192.0.2.1""192.0.2.2")",
      "for=192.0.2.1;for=192.0.2.2",
      "for=192.0.2.1;proto=http;proto=https",
      "for=192.0.2.1;a b=c",
      "for=192.0.2.01",
  };
  for (const std::string_view value : cases) {
    EXPECT_EQ(told({{"Forwarded", value}}), "-") << value;
  }
}

TEST(Forwarded, AnEndlessValueIsNoAddress) {
  const std::string value = "for=\"[2001:db8::1]:_" + std::string(1000, 'a') + "\"";
  EXPECT_EQ(told({{"Forwarded", value}}), "-");
}

TEST(XForwardedFor, IsAListOfAddresses) {
  struct Case {
    std::string_view value;
    std::string_view hops;
  };
  const Case cases[] = {
      {"192.0.2.1", "192.0.2.1"},
      {" 192.0.2.1 ,\t198.51.100.2,,203.0.113.3 ", "192.0.2.1 198.51.100.2 203.0.113.3"},
      {"192.0.2.1:4711", "192.0.2.1"},
      {"2001:db8::1, [2001:db8::2], [2001:db8::3]:80", "2001:db8::1 2001:db8::2 2001:db8::3"},
      {"unknown, 192.0.2.1", "- 192.0.2.1"},
      {"\"192.0.2.1, 192.0.2.2", "- 192.0.2.2"},
      {"for=192.0.2.1", "-"},
      {"192.0.2.1 192.0.2.2", "-"},
      {"192.0.2.1:, 192.0.2.1:x", "- -"},
      {"192.0.2.300", "-"},
      {"[2001:db8::1", "-"},
      {"[2001:db8::1]x", "-"},
      {"fe80::1%eth0", "-"},
  };
  for (const Case& c : cases) EXPECT_EQ(told({{"X-Forwarded-For", c.value}}), c.hops) << c.value;
}

TEST(ForwardedHops, SeveralLinesAreOneList) {
  EXPECT_EQ(told({{"forwarded", "for=192.0.2.1, for=192.0.2.2"},
                  {"Host", "example.org"},
                  {"FORWARDED", "for=192.0.2.3"}}),
            "192.0.2.1 192.0.2.2 192.0.2.3");
  EXPECT_EQ(told({{"X-Forwarded-For", "192.0.2.1"}, {"x-forwarded-for", "192.0.2.2"}}),
            "192.0.2.1 192.0.2.2");
}

TEST(ForwardedHops, AnOpenQuoteEndsWithItsLine) {
  EXPECT_EQ(told({{"Forwarded", "for=\"192.0.2.1"}, {"Forwarded", "for=192.0.2.2"}}),
            "- 192.0.2.2");
}

// Forwarded was preferred. Behind a proxy that only appends to X-Forwarded-For it is what the
// client wrote.
TEST(ForwardedHops, AreThoseOfTheFieldThatIsNamedAndOfNoOther) {
  const Fields both = fields_of({{"X-Forwarded-For", "192.0.2.1"}, {"Forwarded", "for=192.0.2.2"}});
  EXPECT_EQ(forwarded_hops(both).at(0).address->text(), "192.0.2.1");
  EXPECT_EQ(forwarded_hops(both, "forwarded").at(0).address->text(), "192.0.2.2");
  EXPECT_TRUE(forwarded_hops(both, "x-real-ip").empty());
  EXPECT_TRUE(forwarded_hops(fields_of({{"Forwarded", "for=192.0.2.2"}})).empty());
  EXPECT_EQ(told({}), "");
}

TEST(ForwardedHops, OnlyTheLastAreKept) {
  std::string list = "198.51.100.1";
  for (std::size_t i = 0; i < limits::forwarded_hops; ++i) list += ", 192.0.2." + std::to_string(i);
  const Fields fields = fields_of({{"X-Forwarded-For", list}});
  const auto hops = forwarded_hops(fields);
  ASSERT_EQ(hops.size(), limits::forwarded_hops);
  EXPECT_EQ(hops.front().address->text(), "192.0.2.0");
  EXPECT_EQ(hops.back().address->text(), "192.0.2." + std::to_string(limits::forwarded_hops - 1));
}

struct Walk {
  std::string_view what;
  std::string_view peer;
  std::vector<Field> lines;
  std::string_view client;
};

// 10.0.0.0/8 and fd00::/8 are trusted.
std::string client_of(const Walk& walk) {
  const std::vector<Network> trusted{Network::parse("10.0.0.0/8").value(),
                                     Network::parse("fd00::/8").value()};
  const IpAddress peer = IpAddress::parse(walk.peer).value();
  return client_address(peer, fields_of(walk.lines), trusted, field_of(walk.lines)).text();
}

TEST(ClientAddress, IsFoundFromTheRightThroughTrustedHops) {
  const Walk walks[] = {
      {"no header", "10.0.0.1", {}, "10.0.0.1"},
      {"empty header", "10.0.0.1", {{"X-Forwarded-For", ""}}, "10.0.0.1"},
      {"one hop", "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1"}}, "192.0.2.1"},
      {"two proxies", "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, 10.0.0.2"}}, "192.0.2.1"},
      {"v6 proxy",
       "fd00::1",
       {{"Forwarded", "for=\"[2001:db8::7]:1\", for=\"[fd00::2]\""}},
       "2001:db8::7"},
      {"mapped peer", "::ffff:10.0.0.1", {{"Forwarded", "for=192.0.2.1"}}, "192.0.2.1"},
      {"all trusted", "10.0.0.1", {{"X-Forwarded-For", "10.0.0.3, 10.0.0.2"}}, "10.0.0.3"},
      {"over lines",
       "10.0.0.1",
       {{"Forwarded", "for=192.0.2.1"}, {"Forwarded", "for=10.0.0.2"}},
       "192.0.2.1"},
      {"unknown client", "10.0.0.1", {{"Forwarded", "for=unknown, for=10.0.0.2"}}, "10.0.0.2"},
      {"unknown at once", "10.0.0.1", {{"Forwarded", "for=192.0.2.1, for=_x"}}, "10.0.0.1"},
      {"malformed", "10.0.0.1", {{"X-Forwarded-For", "192.0.2.1, what"}}, "10.0.0.1"},
  };
  for (const Walk& walk : walks) EXPECT_EQ(client_of(walk), walk.client) << walk.what;
}

TEST(ClientAddress, CanNotBeSpoofed) {
  const Walk walks[] = {
      {"untrusted peer", "192.0.2.9", {{"X-Forwarded-For", "198.51.100.1"}}, "192.0.2.9"},
      {"untrusted peer names a trusted one",
       "192.0.2.9",
       {{"X-Forwarded-For", "198.51.100.1, 10.0.0.2"}},
       "192.0.2.9"},
      {"the client's own list in front",
       "10.0.0.1",
       {{"X-Forwarded-For", "198.51.100.1, 192.0.2.1"}},
       "192.0.2.1"},
      {"the client's own list in a line of its own",
       "10.0.0.1",
       {{"X-Forwarded-For", "198.51.100.1"}, {"X-Forwarded-For", "192.0.2.1"}},
       "192.0.2.1"},
      {"the client claims to be a proxy's client",
       "10.0.0.1",
       {{"X-Forwarded-For", "198.51.100.1, 10.0.0.7, 192.0.2.1"}},
       "192.0.2.1"},
      {"the same with Forwarded",
       "10.0.0.1",
       {{"Forwarded", "for=198.51.100.1, for=10.0.0.7, for=192.0.2.1"}},
       "192.0.2.1"},
      {"an open quote before what the proxy adds",
       "10.0.0.1",
       {{"Forwarded", "for=198.51.100.1;by=\", for=192.0.2.1"}},
       "10.0.0.1"},
      {"an open quote that the proxy's own quote closes",
       "10.0.0.1",
       {{"Forwarded", "for=198.51.100.1;by=\", for=\"[2001:db8::1]\""}},
       "10.0.0.1"},
      {"an open quote with an escape at its end",
       "10.0.0.1",
       {{"Forwarded", "for=198.51.100.1;by=\"\\, for=\"[2001:db8::1]\""}},
       "10.0.0.1"},
      {"an open quote in X-Forwarded-For",
       "10.0.0.1",
       {{"X-Forwarded-For", "\"198.51.100.1, 192.0.2.1"}},
       "192.0.2.1"},
      {"two addresses in one element",
       "10.0.0.1",
       {{"Forwarded", "for=192.0.2.1;for=198.51.100.1"}},
       "10.0.0.1"},
  };
  for (const Walk& walk : walks) EXPECT_EQ(client_of(walk), walk.client) << walk.what;
}

TEST(ClientAddress, TheWalkEndsAfterItsLimit) {
  std::string list = "192.0.2.1";
  for (std::size_t i = 0; i < limits::forwarded_hops; ++i) list += ",10.0.0." + std::to_string(i);
  EXPECT_EQ(client_of({"", "10.1.0.0", {{"X-Forwarded-For", list}}, ""}), "10.0.0.0");
}

TEST(ToldScheme, IsThatOfTheClientsConnectionAsTrustedHopsSay) {
  struct Row {
    std::string_view what;
    std::string_view peer;
    std::vector<Field> lines;
    std::string_view scheme;
  };
  const Row rows[] = {
      {"nobody says", "10.0.0.1", {}, "-"},
      {"one hop", "10.0.0.1", {{"Forwarded", "for=192.0.2.1;proto=https"}}, "https"},
      {"in any case", "10.0.0.1", {{"Forwarded", "For=192.0.2.1;Proto=\"HTTPS\""}}, "https"},
      {"between proxies there may be none",
       "10.0.0.1",
       {{"Forwarded", "for=192.0.2.1;proto=https, for=10.0.0.2;proto=http"}},
       "https"},
      {"nor does theirs count for the client",
       "10.0.0.1",
       {{"Forwarded", "for=192.0.2.1;proto=http, for=10.0.0.2;proto=https"}},
       "http"},
      {"the client's own claim",
       "10.0.0.1",
       {{"Forwarded", "for=10.0.0.9;proto=https, for=192.0.2.1;proto=http"}},
       "http"},
      {"no word", "10.0.0.1", {{"Forwarded", "for=192.0.2.1"}}, "-"},
      {"another scheme", "10.0.0.1", {{"Forwarded", "for=192.0.2.1;proto=ftp"}}, "-"},
      {"a client without address", "10.0.0.1", {{"Forwarded", "for=_x;proto=https"}}, "https"},
      {"malformed", "10.0.0.1", {{"Forwarded", "for=192.0.2.1;proto=https;proto=http"}}, "-"},
      {"who is not trusted", "192.0.2.9", {{"Forwarded", "for=192.0.2.1;proto=https"}}, "-"},
      {"in a field of its own", "10.0.0.1", {{"X-Forwarded-Proto", "https"}}, "https"},
      {"likewise, by who is not trusted", "192.0.2.9", {{"X-Forwarded-Proto", "https"}}, "-"},
      {"once for all hops",
       "10.0.0.1",
       {{"X-Forwarded-For", "192.0.2.1, 10.0.0.2"}, {"X-Forwarded-Proto", "https"}},
       "https"},
      {"for each hop",
       "10.0.0.1",
       {{"X-Forwarded-For", "192.0.2.1, 10.0.0.2"}, {"X-Forwarded-Proto", "https, http"}},
       "https"},
      {"behind the client's own claim",
       "10.0.0.1",
       {{"X-Forwarded-For", "192.0.2.1"}, {"X-Forwarded-Proto", "https, http"}},
       "http"},
      {"likewise in lines of their own",
       "10.0.0.1",
       {{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Proto", "http"}},
       "http"},
      {"empty", "10.0.0.1", {{"X-Forwarded-Proto", ""}}, "-"},
      {"Forwarded alone counts where it is",
       "10.0.0.1",
       {{"Forwarded", "for=192.0.2.1"}, {"X-Forwarded-Proto", "https"}},
       "-"},
  };
  for (const Row& row : rows) {
    const auto client = told_client(IpAddress::parse(row.peer).value(), fields_of(row.lines),
                                    {Network::parse("10.0.0.0/8").value()}, field_of(row.lines));
    EXPECT_EQ(client.scheme ? name(*client.scheme) : "-", row.scheme) << row.what;
  }
}

TEST(AppendForwarded, WritesWhatIsReadBack) {
  struct Case {
    std::string_view client;
    std::string_view proto;
    std::string_view written;
  };
  const Case cases[] = {
      {"192.0.2.1", "http", "for=192.0.2.1;proto=http"},
      {"2001:db8::1", "https", "for=\"[2001:db8::1]\";proto=https"},
      {"::ffff:192.0.2.1", "", "for=192.0.2.1"},
      {"2001:db8::1", "", "for=\"[2001:db8::1]\""},
  };
  for (const Case& c : cases) {
    std::string out;
    append_forwarded(out, IpAddress::parse(c.client).value(), c.proto);
    EXPECT_EQ(out, c.written);
    const auto hops = forwarded_hops(fields_of({{"Forwarded", out}}), "forwarded");
    ASSERT_EQ(hops.size(), 1U);
    EXPECT_EQ(hops[0].address, IpAddress::parse(c.client).value());
    EXPECT_EQ(hops[0].proto, c.proto);
  }
}

}  // namespace
}  // namespace ringside::http
