"""The admin pages of all three kinds of process, and PURGE on the data port."""

import json
import shutil
import subprocess
import unittest

from support import Client, Tier, wait_until
from support.tier import members

PAGE = "http://www.example.com/page"


class Pages(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(2, self.source)
        self.front = self.sidecar(self.replicas)
        self.kinds = {
            "cache": self.replicas[0],
            "sidecar": self.front,
            "up": self.up(2, self.source),
        }

    def test_every_kind_has_them(self):
        for kind, process in self.kinds.items():
            process.get("/hello", Host="www.example.com")
            for target, media_type, part in (
                ("/", "text/html", '<a href="/metrics">'),
                ("/livez", "text/plain", "alive\n"),
                ("/readyz", "text/plain", "ready\n"),
                ("/metrics", "text/plain", f'role="{kind if kind == "cache" else "sidecar"}"'),
                ("/topology", "application/json", '"scheme": "ring"'),
                ("/config", "application/json", '"drain_deadline": "30s"'),
            ):
                with self.subTest(kind=kind, target=target):
                    answer = process.administer("GET", target)
                    self.assertEqual(answer.status, 200)
                    self.assertTrue(answer.field("Content-Type").startswith(media_type))
                    self.assertIn(part, answer.text)
            with self.subTest(kind=kind):
                self.assertEqual(process.administer("GET", "/nothing").status, 404)
                self.assertIn(process.administer("DELETE", "/topology").status, (404, 405))

    def test_the_front_page_lists_the_pages_that_there_are(self):
        for kind, process in self.kinds.items():
            page = process.administer("GET", "/").text
            self.assertEqual('<a href="/scale">' in page, kind == "up")

    def test_metrics_are_what_promtool_wants(self):
        promtool = shutil.which("promtool")
        if not promtool:
            self.skipTest("promtool is not installed")
        for kind, process in self.kinds.items():
            with self.subTest(kind):
                process.get("/hello")
                done = subprocess.run(
                    [promtool, "check", "metrics"],
                    input=process.administer("GET", "/metrics").body,
                    capture_output=True,
                    check=False,
                )
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, b""))

    def test_a_url_is_no_label(self):
        for process in self.kinds.values():
            process.get("/a-path-of-its-own?with=query", Host="www.example.com")
            page = process.administer("GET", "/metrics").text
            self.assertNotIn("a-path-of-its-own", page)
            self.assertNotIn("www.example.com", page)

    def test_the_sidecar_is_not_ready_before_it_knows_a_replica(self):
        front = self.start(
            "sidecar", "--without-replica", "origin", "--origin", self.source.url,
            "--geo", self.countries(),
        )  # fmt: skip
        self.assertEqual(front.readyz().status, 200)  # it can ask the origin
        self.assertEqual(front.get("/direct").status, 200)


class Topology(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(3, self.source)
        self.front = self.sidecar(self.replicas[:2], "--topology-version", 5)

    def put(self, process, version: int | None, caches) -> tuple[int, str]:
        body = {
            "scheme": "ring",
            "members": [{"name": c.name, "address": c.address} for c in caches],
        }
        if version is not None:
            body["version"] = version
        answer = process.administer("PUT", "/topology", body)
        return answer.status, answer.text

    def test_a_newer_one_is_taken_and_an_older_one_refused(self):
        before = self.front.json("/topology")
        self.assertEqual(before["version"], 5)
        for version in (4, 5):
            status, text = self.put(self.front, version, self.replicas)
            self.assertEqual(status, 409)
            self.assertIn("not newer than 5", text)
        self.assertEqual(self.front.json("/topology"), before)

        status, text = self.put(self.front, 7, self.replicas)
        self.assertEqual(status, 200)
        after = self.front.json("/topology")
        self.assertEqual(json.loads(text), after)
        self.assertEqual(after["version"], 7)
        self.assertNotEqual(after["id"], before["id"])
        self.assertEqual(self.front.metric("ringside_topology_replicas"), 3)
        self.assertEqual(
            {self.front.get(f"/{n}").replica for n in range(60)}, {c.name for c in self.replicas}
        )

        self.assertEqual(self.put(self.front, None, self.replicas[:2])[0], 200)
        self.assertEqual(self.front.json("/topology")["version"], 8)
        self.assertEqual(self.front.json("/topology")["id"], before["id"])

    def test_equal_members_have_equal_ids_wherever_they_are_told(self):
        for process in (self.front, *self.replicas):
            self.assertEqual(self.put(process, 9, self.replicas)[0], 200)
        ids = {process.json("/topology")["id"] for process in (self.front, *self.replicas)}
        self.assertEqual(len(ids), 1)

    def test_each_replica_tells_which_it_is_and_where_its_peers_are(self):
        for process in (self.front, *self.replicas):
            self.assertEqual(self.put(process, 9, self.replicas)[0], 200)
        shown = self.front.json("/topology")
        self.assertNotIn("self", shown)
        for replica, member in zip(self.replicas, shown["members"], strict=True):
            told = replica.json("/topology")
            self.assertEqual(told["members"], shown["members"])
            self.assertEqual(told["self"]["name"], replica.name)
            self.assertEqual(told["self"]["buckets"], member["buckets"])

        self.assertEqual(self.put(self.replicas[0], 10, self.replicas[1:])[0], 200)
        told = self.replicas[0].json("/topology")
        self.assertEqual(told["self"]["buckets"], 0)  # no member any more

    def test_nonsense_is_refused_with_its_reason(self):
        twice = [self.replicas[0], self.replicas[0]]
        for body, reason in (
            ("", "JSON"),
            ("{", "JSON"),
            ("[]", "object"),
            ('{"scheme": "rings", "members": [{"name": "a", "address": "b:1"}]}', "rings"),
            ('{"scheme": "ring", "members": [{"name": "a"}]}', "address"),
        ):
            with self.subTest(body):
                answer = self.front.administer("PUT", "/topology", body)
                self.assertEqual(answer.status, 400, answer.text)
                self.assertIn(reason, answer.text)
        self.assertEqual(self.put(self.front, 9, twice)[0], 400)

    def test_what_is_shown_can_be_sent_back(self):
        shown = self.front.json("/topology")
        del shown["version"]  # the next one
        answer = self.front.administer("PUT", "/topology", shown)
        self.assertEqual(answer.status, 200, answer.text)
        again = json.loads(answer.body)
        self.assertEqual(again["members"], shown["members"])

    def test_a_sidecar_was_left_without_anybody_to_ask(self):
        for process, status in ((self.front, 400), (self.replicas[0], 200)):
            answer = process.administer("PUT", "/topology", {"scheme": "ring", "members": []})
            self.assertEqual(answer.status, status, answer.text)
        self.assertEqual(self.front.get("/hello").status, 200)

    def test_up_refuses_and_tells_the_way(self):
        tier = self.up(2, self.source)
        status, text = self.put(tier, 9, self.replicas)
        self.assertEqual(status, 409)
        self.assertIn("ringside scale", text)


class Purge(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.own = ("--purge-from", "127.0.0.0/8")
        self.replicas = self.caches(3, self.source, *self.own)
        self.front = self.sidecar(self.replicas, *self.own)

    def fill(self, process) -> None:
        for client in ("81.2.69.1", "53.1.1.1", "10.0.0.1"):
            for target in ("/page", "/other"):
                process.get(target, client, Host="www.example.com")

    def cold(self, process, target: str) -> bool:
        """Whether it has to be fetched for each country."""
        answers = [
            process.get(target, client, Host="www.example.com").is_hit
            for client in ("81.2.69.1", "53.1.1.1", "10.0.0.1")
        ]
        self.assertEqual(len(set(answers)), 1, answers)
        return not answers[0]

    def check_by_admin(self, process) -> None:
        self.fill(process)
        answer = process.administer("POST", "/purge", {"url": PAGE})
        self.assertEqual((answer.status, json.loads(answer.body)),
                         (200, {"removed": 3, "complete": True}))  # fmt: skip
        self.assertTrue(self.cold(process, "/page"))
        self.assertFalse(self.cold(process, "/other"))
        answer = process.administer("POST", "/purge", {"prefix": "http://www.example.com/pa"})
        self.assertEqual(json.loads(answer.body), {"removed": 3, "complete": True})
        self.assertTrue(self.cold(process, "/page"))
        self.assertFalse(self.cold(process, "/other"))
        answer = process.administer("POST", "/purge", {"prefix": "http://example.com/"})
        self.assertEqual(json.loads(answer.body)["removed"], 0)
        answer = process.administer("POST", "/purge", {"all": True})
        self.assertEqual(json.loads(answer.body), {"removed": 6, "complete": True})
        self.assertTrue(self.cold(process, "/other"))

    def test_by_the_sidecars_admin_address(self):
        self.check_by_admin(self.front)

    def test_by_the_admin_address_of_up(self):
        self.check_by_admin(self.up(3, self.source))

    def test_by_a_replicas_admin_address(self):
        replica = self.replicas[0]
        replica.get("/mine", Host="www.example.com")
        answer = replica.administer("POST", "/purge", {"url": "http://www.example.com/mine"})
        self.assertEqual(json.loads(answer.body)["removed"], 1)
        self.assertFalse(replica.get("/mine", Host="www.example.com").is_hit)

    def test_by_a_purge_request_on_the_data_port(self):
        self.fill(self.front)
        answer = self.front.ask("PURGE", "/page", fields={"Host": "www.example.com"})
        self.assertEqual((answer.status, answer.text), (200, "purged 3 stored responses\n"))
        self.assertNotIn("ringside-", str(answer.fields).lower())
        self.assertTrue(self.cold(self.front, "/page"))
        self.assertFalse(self.cold(self.front, "/other"))
        self.assertNotIn("PURGE", {request.method for request in self.source.seen()})

    def test_a_purge_request_from_elsewhere_is_403(self):
        front = self.sidecar(self.replicas)
        self.fill(front)
        answer = front.ask("PURGE", "/page", fields={"Host": "www.example.com"})
        self.assertEqual(answer.status, 403)
        self.assertIn("purge_from", answer.text)
        self.assertFalse(self.cold(front, "/page"))

    def test_a_replica_that_does_not_confirm_makes_it_incomplete(self):
        self.fill(self.front)
        self.replicas[1].stop()
        for answer in (
            self.front.administer("POST", "/purge", {"url": PAGE}),
            self.front.ask("PURGE", "/page", fields={"Host": "www.example.com"}),
        ):
            self.assertEqual(answer.status, 502)
            self.assertIn("cache-1", answer.text)

    def test_replicas_that_take_none_from_the_sidecar_say_what_they_need(self):
        front = self.sidecar(self.caches(1, self.source))
        answer = front.administer("POST", "/purge", {"url": PAGE})
        self.assertEqual(answer.status, 502)
        missing = "cache-0: takes no purges from this sidecar; give it --purge-from with this sidecar's address"
        self.assertEqual(json.loads(answer.body)["missing"], [missing])

    def test_nonsense_is_refused(self):
        for body in ("", "{}", '{"url": "/page"}', '{"url": 1}', '{"all": false}', "[1]"):
            with self.subTest(body):
                self.assertEqual(self.front.administer("POST", "/purge", body).status, 400)


class NearCache(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(1, self.source, "--purge-from", "127.0.0.0/8")
        self.path = self.file(
            "tier.yaml",
            "routes:\n"
            "- {name: near, path: /near, near_ttl: 60s}\n"
            "- {name: far}\n"
            "purge_from: 127.0.0.0/8\n"
            "threads: 1\n",  # each core has a near cache of its own
        )
        self.front = self.start(
            "sidecar", "--config", self.path, "--replicas", members(self.replicas),
            "--trust", "127.0.0.0/8", "--geo", self.countries(),
        )  # fmt: skip

    def wait_until_asked(self, times: int) -> None:
        """Answers are counted after they are sent, so that the last one may show a moment later.
        Probes, which are counted as bypass, are none of these."""

        def asked():
            counted = self.replicas[0].metric
            probes = counted("ringside_requests_total", result="bypass")
            return counted("ringside_requests_total", role="cache") - probes

        wait_until(lambda: asked() == times, f"the replica to have been asked {times} times")

    def test_a_hot_answer_is_given_without_asking_the_replica(self):
        with Client(self.front.address) as client:
            first = client.get("/near/a")
            client.get("/near/a")  # a hit there: now it is known for how long it is fresh
            for _ in range(5):
                near = client.get("/near/a")
                self.assertEqual((near.status, near.body), (200, first.body))
                self.assertRegex(near.cache_status, "^cache-0; .*, ringside; hit$")
                self.assertIsNotNone(near.field("Age"))
            self.wait_until_asked(2)
            self.assertFalse(client.get("/near/a", "81.2.69.1").is_hit, "another country's")
            client.get("/near/a", Cache_Control="no-cache")
            self.wait_until_asked(4)

    def test_who_has_the_answer_is_told_so_and_variants_are_kept_apart(self):
        def translated(turn):
            language = turn.request.field("Accept-Language") or "en"
            fields = {"Vary": "Accept-Language", "ETag": f'"{language}"'}
            turn.reply(200, language.encode(), **fields)

        self.source.on["/near/v"] = translated
        german = {"Accept_Language": "de"}
        with Client(self.front.address) as client:
            for _ in range(4):
                self.assertEqual(client.get("/near/v").body, b"en")
                near = client.get("/near/v", **german)
                self.assertEqual(near.body, b"de")
            self.assertRegex(near.cache_status, "ringside; hit$")
            again = client.get("/near/v", If_None_Match='"de"', **german)
            self.assertEqual((again.status, again.body), (304, b""))
            self.assertRegex(again.cache_status, "ringside; hit$")
        self.assertEqual(self.source.count("/near/v"), 2)
        counted = self.front.metric
        wait_until(lambda: counted("ringside_near_hits_total", role="sidecar") >= 3, "near hits")

    def test_a_route_without_it_always_asks(self):
        for _ in range(4):
            self.front.get("/far/a")
        self.wait_until_asked(4)

    def test_a_purge_empties_it(self):
        for purge in (
            lambda: self.front.administer("POST", "/purge", {"url": "http://a/near/p"}),
            lambda: self.front.ask("PURGE", "/near/p", fields={"Host": "a"}),
        ):
            for _ in range(3):
                self.front.get("/near/p", Host="a")
            fetched = self.source.count("/near/p")
            self.assertEqual(purge().status, 200)
            self.assertFalse(self.front.get("/near/p", Host="a").is_hit)
            self.assertEqual(self.source.count("/near/p"), fetched + 1)


if __name__ == "__main__":
    unittest.main()
