"""What `ringside explain` tells is what the next request gets, and telling it changes nothing."""

import json
import random
import re
import threading
import time
import unittest

from support import WAIT_S, Client, Tier, ringside, wait_until

SEED = 20261125
CASES = 1000
CLIENTS = ["81.2.69.160", "53.1.2.3", "89.160.20.112"]
HOST = "www.example.com"
BODY_BYTES = 1000
HITS = {"hit", "stale"}

ROUTES = """
routes:
  - name: api
    path: /api
    shard_key: [country, path, query, "header:accept-language"]
    cache: {client_no_cache: ignore, bypass: ["header:X-Debug"], no_store: ["query:preview"]}
  - name: pictures
    path: /pictures
    shard_key: path
    cache: {ignore_origin: true, default_ttl: 1h, set_cookie: strip}
  - name: films
    path: /films
    cache: {slice: 64KiB, stale_while_revalidate: 1h}
  - name: rest
    cache: {ttl_by_status: {404: 1h}}
"""

# Nothing of it turns stale, or old enough, while the test runs.
CACHE_CONTROLS = [
    "max-age=3600",
    "max-age=3600, must-revalidate",
    "max-age=3600, stale-while-revalidate=86400",
    "public, s-maxage=3600",
    "no-cache",
    "no-store",
    "private",
    "max-age=0",
    "max-age=3600, immutable",
    None,
]
AGES = [0, 0, 0, 1800, 10_000]
VARIES = [None, None, None, "X-Kind", "Accept-Language", "*"]
ASKED = [
    {},
    {},
    {},
    {"Cache-Control": "no-cache"},
    {"Cache-Control": "no-store"},
    {"Cache-Control": "max-age=900"},
    {"Cache-Control": "min-fresh=2700"},
    {"Cache-Control": "max-stale"},
    {"Cache-Control": "max-stale=900"},
    {"Cache-Control": "only-if-cached"},
    {"Pragma": "no-cache"},
    {"Authorization": "Basic eA=="},
    {"Range": "bytes=0-99"},
    {"Range": "bytes=500-599"},
    {"Range": "bytes=0-9,20-29"},
    {"Range": "bytes=0-99", "If-Range": '"1"'},
    {"If-None-Match": '"1"'},
    {"If-Match": '"1"'},
    {"X-Debug": "1"},
]


class Whims:
    """An origin that says something else each time that it is asked."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        self.plan = {}

    def get(self, _path, _default):  # in the place of Origin.on
        return self

    def think(self, target: str) -> None:
        """How the next requests are answered, whoever asks, and how often."""
        some = self.chance.choice
        self.plan = {
            "status": some([200, 200, 200, 200, 404]),
            "control": some(CACHE_CONTROLS),
            "age": some(AGES),
            "vary": some(VARIES),
            "tag": some(['"1"', '"2"', 'W/"1"', None]),
            "cookie": some([None, None, None, "a=1"]),
        }
        if target.startswith("/films"):  # what changes between two slices is cut off
            self.plan |= {"status": 200, "tag": '"1"', "vary": None}

    def __call__(self, turn) -> None:
        plan, asked = self.plan, turn.request
        fields = {"cache_control": plan["control"] or "x-nothing", "Age": str(plan["age"])}
        for name, value in (("Vary", "vary"), ("ETag", "tag"), ("Set-Cookie", "cookie")):
            if plan[value]:
                fields[name] = plan[value]
        if plan["status"] != 200:
            return turn.reply(plan["status"], b"no", **fields)
        if plan["tag"] and asked.field("If-None-Match") == plan["tag"]:
            return turn.reply(304, b"", **fields)
        body = bytes(BODY_BYTES)
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", asked.field("Range") or "")
        if part and asked.field("If-Range") in (None, plan["tag"]):
            first, last = int(part[1]), min(int(part[2] or BODY_BYTES), BODY_BYTES - 1)
            fields["Content-Range"] = f"bytes {first}-{last}/{BODY_BYTES}"
            return turn.reply(206, body[first : last + 1], **fields)
        return turn.reply(200, body, **fields)


def explain(process, ip=None, target="/", method="GET", fields=None, host=HOST) -> dict:
    body = {"url": f"http://{host}{target}", "method": method}
    if ip:
        body["ip"] = ip
    body["headers"] = [f"{name}: {value}" for name, value in (fields or {}).items()]
    answer = process.administer("POST", "/explain", body)
    if answer.status != 200:
        raise AssertionError(f"{answer.status} {answer.text}")
    return json.loads(answer.body)


def forward(cache_status: str) -> str:
    """`hit`, or why the request went forward."""
    found = re.search(r"; (?:(hit)|fwd=([a-z-]+))", cache_status)
    return found[1] or found[2] if found else ""


class Explained(Tier):
    def some_request(self, chance) -> tuple:
        route = chance.choice(["", "/api", "/pictures", "/films"])
        query = chance.choice(["", "", "?preview", "?a=1"]) if route == "/api" else ""
        fields = dict(chance.choice(ASKED))
        if chance.random() < 0.3:
            fields["X-Kind"] = chance.choice(["a", "b"])
        if chance.random() < 0.3:
            fields["Accept-Language"] = chance.choice(["de", "en"])
        method = "HEAD" if chance.random() < 0.1 else "GET"
        return (
            chance.choice(CLIENTS), f"{route}/{chance.randrange(4)}{query}", method, fields,
        )  # fmt: skip

    def settle(self, front) -> None:
        """Until nothing is fetched any more: what is to be stored is."""
        wait_until(lambda: front.metric("ringside_store_flights") == 0, "the fetches' end")

    def check(self, told: dict, answer, asked: list, took_s: float) -> None:
        """`asked`: what the origin was asked for the answer, and to refresh it."""
        verdict, replica = told["verdict"], told["replica"]
        status = answer.cache_status.split(",")[-1]
        self.assertEqual(answer.replica, verdict["by"])
        self.assertEqual(forward(status), forward(verdict["cache_status"]))
        self.assertEqual(answer.is_hit, verdict["outcome"] in HITS)
        if verdict["outcome"] == "error":
            self.assertEqual(answer.status, 504)
        if verdict["outcome"] in HITS:
            self.assertEqual(verdict["outcome"] == "hit", verdict["is_fresh"])
            age = int(answer.field("Age"))
            self.assertGreaterEqual(age, verdict["age_s"])
            self.assertLessEqual(age, verdict["age_s"] + took_s + 1)
        # Where it is only confirmed it was said to be stored, and to be asked for by condition.
        if "fwd-status=304" in status and verdict["outcome"] != "bypass":
            self.assertEqual(verdict["outcome"], "revalidated")
        self.assertEqual(bool(asked), verdict["asks_origin"] or bool(replica["refreshes"]))
        if not verdict["asks_origin"] or replica["refreshes"]:
            return  # of two at the same moment either may come first
        question = replica["asks"]
        first = asked[0]
        self.assertEqual((first.method, first.target), (question["method"], question["target"]))
        said = dict(line.split(": ", 1) for line in question["fields"])
        for name in ("If-None-Match", "If-Modified-Since", "If-Match", "If-Range", "Range",
                     "Cache-Control", "Authorization", "X-Country", "X-Forwarded-For"):  # fmt: skip
            self.assertEqual(first.field(name), said.get(name), name)

    def test_the_verdict_is_what_the_next_request_gets(self):
        print(f"seed {SEED}", flush=True)
        chance = random.Random(SEED)
        origin = self.origin()
        origin.on = whims = Whims(chance)
        front = self.up(3, origin, "--config", self.file("routes.yaml", ROUTES), "--threads", 2)
        right, outcomes = 0, set()
        with Client(front.address) as client:
            for case in range(CASES):
                ip, target, method, fields = self.some_request(chance)
                whims.think(target)
                before = origin.count()
                begun = time.monotonic()
                by_proxy = {"X-Forwarded-For": ip} | fields
                told = explain(front, None, target, method, by_proxy)
                self.assertEqual(origin.count(), before, "explaining asks no origin")
                answer = client.ask(method, target, fields={"Host": HOST} | by_proxy)
                self.settle(front)
                asked = origin.seen()[before:]
                with self.subTest(case=case, target=target, method=method, fields=fields, told=told):
                    self.check(told, answer, asked, time.monotonic() - begun)
                    right += 1
                outcomes.add(told["verdict"]["outcome"])
        self.assertEqual(right, CASES)
        self.assertEqual(
            outcomes, {"hit", "stale", "miss", "revalidated", "bypass", "error"}, "hardly any case"
        )

    def test_it_changes_nothing(self):
        origin = self.origin()
        caches = self.caches(2, origin)
        front = self.sidecar(caches)
        front.get("/page", CLIENTS[0], Host=HOST)
        families = ("ringside_requests_total", "ringside_origin_requests_total",
                    "ringside_errors_total", "ringside_retries_total")  # fmt: skip

        def counts():
            return [
                process.metric(family) for process in (front, *caches) for family in families
            ]

        wait_until(lambda: front.metric("ringside_requests_total") == 1, "the count")
        wait_until(lambda: sum(c.metric("ringside_store_entries") for c in caches) == 1, "it")
        before = counts()
        for target in ("/page", "/other"):
            told = [explain(front, CLIENTS[0], target) for _ in range(20)]
            for one in told:
                for timed in ("age_s", "left_s", "because", "cache_status"):
                    one["verdict"].pop(timed)
                for timed in ("because", "cache_status", "stored"):
                    one["replica"].pop(timed)
            self.assertEqual([one for one in told if one != told[0]], [])
        probes = sum(c.metric("ringside_requests_total", result="bypass") for c in caches)
        self.assertEqual(counts()[0], before[0])
        self.assertLessEqual(counts()[4] + counts()[8], before[4] + before[8] + probes)
        self.assertEqual(origin.count(), 1)

    def test_a_proxy_tells_of_the_client_as_it_does_of_a_requests(self):
        front = self.sidecar(self.caches(3, self.origin()))
        ways = [
            explain(front, CLIENTS[0], "/page"),
            explain(front, None, "/page", fields={"X-Forwarded-For": CLIENTS[0]}),
        ]
        for told in ways:
            self.assertEqual(told["client"]["address"], CLIENTS[0])
            self.assertEqual(told["client"]["country"], "GB")
        self.assertEqual(ways[0]["shard"], ways[1]["shard"])
        self.assertEqual(ways[0]["replica"]["cache_key"], ways[1]["replica"]["cache_key"])
        self.assertEqual(ways[1]["client"]["told_by"], "x-forwarded-for")
        owners = [owner["name"] for owner in ways[0]["shard"]["owners"]]
        self.assertEqual(front.get("/page", CLIENTS[0], Host=HOST).replica, owners[0])

    def test_a_dead_owner_is_told_of_and_the_next_one_is_asked(self):
        caches = self.caches(2, self.origin())
        front = self.sidecar(caches)
        told = explain(front, CLIENTS[0], "/page")
        owner, heir = (row["name"] for row in told["shard"]["owners"])
        self.assertEqual(told["verdict"]["by"], owner)
        next(cache for cache in caches if cache.name == owner).kill()
        told = explain(front, CLIENTS[0], "/page")
        self.assertEqual(told["verdict"]["by"], heir)
        reasons = told["asked_in_vain"] + [row["state"] for row in told["shard"]["owners"]]
        self.assertTrue(any(owner in reason or reason == "ejected" for reason in reasons), reasons)
        self.assertEqual(front.get("/page", CLIENTS[0], Host=HOST).replica, heir)

    def test_what_is_kept_nearby_is_told(self):
        routes = self.file("near.yaml", "routes:\n- name: rest\n  near_ttl: 1m\n")
        front = self.up(1, self.origin(), "--config", routes, "--threads", 1)

        def is_near():
            return "ringside; hit" in front.get("/page", CLIENTS[0], Host=HOST).cache_status

        self.assertEqual(explain(front, CLIENTS[0], "/page")["verdict"]["outcome"], "miss")
        wait_until(is_near, "the near cache")
        verdict = explain(front, CLIENTS[0], "/page")["verdict"]
        self.assertEqual((verdict["outcome"], verdict["by"]), ("hit", "ringside"))

    def test_a_fetch_that_is_under_way_is_joined(self):
        release = threading.Event()
        self.addCleanup(release.set)

        def slow(turn):
            release.wait(WAIT_S)
            turn.reply()

        origin = self.origin()
        origin.on["/slow"] = slow
        front = self.up(1, origin)
        asking = threading.Thread(target=front.get, args=("/slow",), kwargs={"Host": HOST})
        asking.start()
        origin.wait_for("/slow")
        self.assertEqual(explain(front, None, "/slow")["verdict"]["outcome"], "collapsed")
        self.assertEqual(explain(front, None, "/other")["verdict"]["outcome"], "miss")
        release.set()
        asking.join()
        self.assertEqual(origin.count("/slow"), 1)

    def test_of_answers_that_are_never_stored_it_says_why(self):
        origin = self.origin()
        origin.on["/mine"] = lambda turn: turn.reply(cache_control="private")
        front = self.up(1, origin)
        front.get("/mine", Host=HOST)
        told = explain(front, None, "/mine")
        self.assertEqual(told["verdict"]["outcome"], "miss")
        self.assertIn("private", told["replica"]["not_stored_because"])


class TheCommand(Tier):
    def test_it_tells_people(self):
        origin = self.origin()
        front = self.up(2, origin)
        front.get("/page", CLIENTS[0], Host=HOST)
        self.assertEqual(origin.count(), 1)
        url = f"http://{HOST}/page"
        asked = ("explain", url, "--ip", CLIENTS[0], "--admin", front.admin)
        lines = ringside(*asked).stdout
        self.assertRegex(lines, r"country +GB, by the first")
        self.assertRegex(lines, r"verdict +hit by cache-\d: it is fresh for 3\d+ s more, by max-age")
        self.assertRegex(lines, r"origin +not asked")
        lines = ringside(*asked, "-H", "Cache-Control: no-cache").stdout
        self.assertRegex(lines, r"stored +200, \d+ s old, fresh for 3\d+ s by max-age")
        self.assertRegex(lines, r"verdict +miss by cache-\d: no-cache of the request")
        told = json.loads(ringside(*asked, "--json").stdout)
        self.assertEqual(told["verdict"]["outcome"], "hit")

    def test_what_cannot_be_explained_is_refused_with_the_remedy(self):
        cache = self.cache("cache-0", self.origin())
        front = self.sidecar([cache])
        for arguments, remedy in (
            (("/page",), "no host"),
            (("http://a/", "--ip", "x"), "ip: "),
            (("http://a/", "-H", "x"), "'Name: value'"),
            (("http://a/", "-H", "Content-Length: 3"), "content"),
            (("http://a/", "-H", "Upgrade: websocket", "-H", "Connection: upgrade"), "Upgrade"),
            (("http://a/", "-H", "Host: b"), "Host"),
        ):
            with self.subTest(arguments):
                done = ringside("explain", *arguments, "--admin", front.admin, expect=1)
                self.assertIn(remedy, done.stderr)
        done = ringside("explain", "http://a/", "--admin", cache.admin, expect=1)
        self.assertIn("has no POST /explain; ask a sidecar", done.stderr)
        for body in ("[]", "{}", '{"url": 1}', '{"url": "http://a/", "x": 1}',
                     '{"url": "http://a/", "method": "POST"}'):  # fmt: skip
            self.assertEqual(front.administer("POST", "/explain", json.loads(body)).status, 400)


if __name__ == "__main__":
    unittest.main()
