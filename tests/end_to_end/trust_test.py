"""Who is believed what: client addresses, countries, internal fields, spellings of a path."""

import unittest

from support import Client, Tier, converse, wait_until, write_mmdb

GB, DE = "81.2.69.160", "53.1.2.3"


class Clients(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replica = self.cache("cache-0", self.source)

    def country(self, front, target: str, **fields: str) -> str:
        self.assertEqual(front.get(target, **fields).status, 200)
        return self.source.last().field("X-Country")

    def stranger(self):
        """A front that trusts nobody."""
        return self.start(
            "sidecar", "--replicas", f"cache-0={self.replica.address}",
            "--geo", self.countries(), "--threads", 1,
        )  # fmt: skip

    def test_without_trust_nobody_is_believed(self):
        front = self.stranger()
        self.assertEqual(self.country(front, "/a", client=GB), "ZZ")
        self.assertEqual(self.country(front, "/b", Forwarded=f"for={GB}"), "ZZ")
        told = self.source.last()
        self.assertEqual(told.field("X-Forwarded-For"), "127.0.0.1")
        self.assertEqual(told.field("Forwarded"), "for=127.0.0.1;proto=http")
        self.assertEqual(told.field("X-Forwarded-Proto"), "http")

    def test_the_list_is_walked_from_the_right_through_trusted_hops_only(self):
        front = self.start(
            "sidecar", "--replicas", f"cache-0={self.replica.address}",
            "--geo", self.countries(), "--trust", "127.0.0.0/8,10.0.0.0/8",
        )  # fmt: skip
        for number, (listed, country) in enumerate(
            (
                (GB, "GB"),
                (f"{DE}, {GB}", "GB"),  # the left one is the client's own claim
                (f"{DE}, {GB}, 10.1.1.1", "GB"),
                (f"{DE}, junk, 10.1.1.1", "ZZ"),
                ("2a02:d280::1", "CZ"),
                (f"::ffff:{GB}", "GB"),
                ("8.8.8.8", "ZZ"),
            )
        ):
            with self.subTest(listed):
                self.assertEqual(self.country(front, f"/x/{number}", client=listed), country)
        # Which a proxy that writes X-Forwarded-For passes on as the client wrote it.
        self.assertEqual(
            self.country(front, "/both", client=GB, Forwarded=f"for={DE}"), "GB"
        )
        self.assertEqual(self.country(front, "/only", Forwarded=f"for={DE}"), "ZZ")

    def test_the_field_that_is_believed_is_the_one_that_is_named(self):
        front = self.start(
            "sidecar", "--replicas", f"cache-0={self.replica.address}",
            "--geo", self.countries(), "--trust", "127.0.0.0/8",
            "--client-address-from", "Forwarded",
        )  # fmt: skip
        self.assertEqual(
            self.country(front, "/f", Forwarded=f'for={DE}, for="{GB}:4711";proto=https'), "GB"
        )
        self.assertEqual(self.country(front, "/g", client=GB), "ZZ")

    def test_a_clients_own_country_is_stripped(self):
        for front in (self.stranger(), self.sidecar([self.replica])):
            self.assertEqual(self.country(front, f"/{front.address}", X_Country="US"), "ZZ")
            self.assertEqual(self.source.last().raw.lower().count(b"x-country"), 1)

    def test_the_countrys_header_can_have_another_name(self):
        replica = self.cache("cache-0", self.source, "--country-header", "X-Land")
        front = self.sidecar([replica], "--country-header", "X-Land")
        self.assertEqual(front.get("/a", GB, X_Land="US").status, 200)
        self.assertEqual(self.source.last().field("X-Land"), "GB")

    def test_both_forms_of_country_records_are_read(self):
        for nested in (False, True):
            with self.subTest(nested=nested):
                write_mmdb(self.countries(), nested=nested)
                front = self.sidecar([self.replica])
                self.assertEqual(self.country(front, f"/nested/{nested}", client=DE), "DE")


class InternalFields(Tier):
    CLAIMS = {
        "Ringside-Topology": "0" * 32,
        "Ringside-Extra-Key": "forged",
        "Ringside-Bucket": "7",
        "Ringside-Outcome": "hit",
        "ringside-near-ttl-ms": "60000",
        "Ringside-Anything": "x",
    }

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.front = self.sidecar(self.caches(2, self.source))

    def test_they_never_reach_the_origin_nor_the_client(self):
        for method in ("GET", "POST"):
            answer = self.front.ask(
                method, "/a", b"x" if method == "POST" else None, dict(self.CLAIMS)
            )
            self.assertEqual(answer.status, 200)
            self.assertNotIn(b"ringside-", self.source.last().raw.lower())
            self.assertNotIn("ringside-", str(answer.fields).lower())

    def test_what_the_origin_says_in_them_is_not_heard(self):
        def claims(turn):
            turn.reply(**{name.replace("-", "_"): value for name, value in self.CLAIMS.items()})

        self.source.on["/claims"] = claims
        for _ in range(2):
            answer = self.front.get("/claims")
            self.assertNotIn("ringside-", str(answer.fields).lower())
        self.assertTrue(answer.is_hit)
        wait_until(
            lambda: self.front.metric("ringside_requests_total", role="sidecar", result="miss")
            == 1,
            "one miss to be counted",
        )

    def test_a_clients_extra_key_makes_no_entry_of_its_own(self):
        self.front.get("/k")
        again = self.front.ask("GET", "/k", fields=dict(self.CLAIMS))
        self.assertTrue(again.is_hit)


class Spellings(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.front = self.sidecar(self.caches(3, self.source))

    def test_spellings_of_one_path_meet_in_one_entry(self):
        replicas = set()
        with Client(self.front.address) as client:
            for spelling in ("/a/../b%7e", "/b~", "/b%7E", "/./b~", "/%62~", "/x/y/../../b%7e"):
                answer = client.get(spelling, Host="www.example.com")
                self.assertEqual(answer.text.split("\n")[0], "GET /b~ for ZZ")
                replicas.add(answer.replica)
        self.assertEqual(len(replicas), 1)
        self.assertEqual([request.target for request in self.source.seen()], ["/b~"])

    def test_what_means_something_else_stays_apart(self):
        for target in ("/b%2Fc", "/b/c", "/b/c/", "/b/c?", "/b/c?x", "/B/c", "/b//c"):
            self.front.get(target)
        self.assertEqual(self.source.count(), 7)
        self.assertEqual(self.source.count("/b%2Fc"), 1)
        self.assertEqual(self.source.count("/b//c"), 1)

    def test_no_spelling_of_a_path_gets_past_the_rules_of_its_route(self):
        config = self.file(
            "routes.yaml",
            "routes:\n"
            " - {name: static, path: /static, cache: {ignore_origin: true, default_ttl: 1h}}\n"
            " - {name: account, path: /account, cache: {bypass: ['cookie:session']}}\n"
            " - {name: rest, cache: {ignore_origin: true, default_ttl: 1h}}\n",
        )
        caches = self.caches(2, self.source, "--config", config)
        front = self.sidecar(caches, "--config", config)
        for path in ("/static/..%2faccount", "/static/..%5caccount", "/%2faccount", "/account%2f"):
            refused = front.get(path, Cookie="session=1")
            self.assertEqual(refused.status, 400, path)
            self.assertIn("escaped_slashes: keep", refused.text)
        self.assertEqual(self.source.count(), 0)
        for _ in range(2):
            self.assertEqual(front.get("//account", Cookie="session=1").status, 200)
        self.assertEqual(self.source.count("/account"), 2)

    def test_hosts_are_compared_without_regard_to_case_and_default_port(self):
        for host in ("www.example.com", "WWW.Example.COM", "www.example.com:80"):
            self.front.get("/h", Host=host)
        self.assertEqual(self.source.count("/h"), 1)
        self.front.get("/h", Host="www.example.com:81")
        self.assertEqual(self.source.count("/h"), 2)

    def test_a_path_that_leaves_the_root_stays_in_it(self):
        received, _ = converse(
            self.front.address,
            b"GET /../../etc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        )
        self.assertTrue(received.startswith(b"HTTP/1.1 200 "), received)
        self.assertEqual(self.source.last().target, "/etc")


if __name__ == "__main__":
    unittest.main()
