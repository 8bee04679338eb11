"""Routes of one tier that have sharding schemes of their own: each moves, is cut and is placed by its
own rules, and nothing is fetched again by it."""

import contextlib
import sqlite3
import unittest

from support import Client, Tier, each_in_a_thread, ringside, wait_until

HOST = "www.example.com"
USERS = range(1, 121)
CONFIG = """
scheme: ring
routes:
  - {name: users, path: "/users/{id}", shard_key: "id:{id}", key_fallback: path, scheme: range}
  - {name: films, path: /films, shard_key: path, scheme: split-tree}
  - {name: kept, path: /kept, shard_key: path, scheme: directory}
  - {name: rest, path: /}
"""
SCHEMES = "ring,films=split-tree,kept=directory,users=range"
PATHS = [
    *(f"/users/{number}" for number in USERS),
    "/users",
    *(f"/films/{number}" for number in range(60)),
    *(f"/kept/{number}" for number in range(40)),
    *(f"/item/{number}" for number in range(60)),
]


class RouteSchemes(Tier):
    def setUp(self):
        super().setUp()
        self.config = self.file("schemes.yaml", CONFIG)
        self.source = self.origin()

    def ask_all(self, front) -> list:
        with Client(front.address) as client:
            answers = [client.get(path, Host=HOST) for path in PATHS]
        self.assertEqual({answer.status for answer in answers}, {200})
        return answers

    def shards(self, process, route: str | None = None) -> list[dict]:
        shards = process.json("/topology")["state"]["shards"]
        return [one for one in shards if route is None or one.get("route", "") == route]

    def assert_nothing_is_fetched_again(self, front) -> None:
        self.ask_all(front)
        self.assertEqual(self.source.count(), len(PATHS))


class OfOneProcess(RouteSchemes):
    def start_up(self, *options):
        return self.up(10, self.source, "--config", self.config, *options)

    def wait_until_moved(self, tier) -> None:
        wait_until(
            lambda: tier.metric("ringside_buckets_away") == 0
            and not tier.json("/scale")["retiring"]
            and tier.metric("ringside_store_entries") == len(PATHS),
            "everything to lie where it belongs",
        )
        self.assert_all_hits(tier, self.ask_all)
        self.assert_nothing_is_fetched_again(tier)

    def test_ten_become_eleven_and_shards_of_each_route_are_cut(self):
        tier = self.start_up()
        self.assertEqual(tier.json("/topology")["scheme"], SCHEMES)
        self.ask_all(tier)
        for replicas in (11, 10):
            ringside("scale", replicas, "--admin", tier.admin)
            self.assert_nothing_is_fetched_again(tier)
            self.wait_until_moved(tier)
        for words in (
            ("--route", "users", "--at", "60", "--to", "cache-3"),
            ("--route", "kept", "--at", "/kept/7", "--to", "cache-4"),
            ("shard_5", "--to", "cache-5"),
            ("--route", "users", "--at", "90", "--to", "cache-7"),
            ("--route", "kept", "--at", "/kept/7", "--to", "cache-6"),
        ):
            ringside("split", *words, "--admin", tier.admin)
            self.assert_nothing_is_fetched_again(tier)
            self.wait_until_moved(tier)
        self.assertEqual(
            self.shards(tier, "users"),
            [
                {"route": "users", "at": "", "owner": "cache-0"},
                {"route": "users", "at": "60", "owner": "cache-3", "parent": 64},
                {"route": "users", "at": "90", "owner": "cache-7", "parent": 65},
            ],
        )
        self.assertEqual(
            self.shards(tier, "kept"), [{"route": "kept", "at": "/kept/7", "owner": "cache-6"}]
        )
        for path, owner in (("/users/77", "cache-3"), ("/kept/7", "cache-6")):
            status = tier.get(path, Host=HOST).cache_status
            self.assertTrue(status.startswith(f"{owner}; hit"), status)

    def test_a_path_without_the_id_goes_by_the_scheme_of_the_tier(self):
        tier = self.start_up()
        ringside("split", "--route", "users", "--at", "60", "--to", "cache-3", "--admin", tier.admin)
        shards = self.shard([("", f"http://{HOST}/users/61"), ("", f"http://{HOST}/users")],
                            "--config", self.config)  # fmt: skip
        self.assertEqual([one["key"] for one in shards], ["61", "/users"])
        # Of the ring's buckets, and of the shards behind all buckets by hash.
        self.assertLess(shards[1]["bucket"], 4096)
        self.assertGreaterEqual(shards[0]["bucket"], 2 * 4096)
        told = ringside("explain", f"http://{HOST}/users/61", "--admin", tier.admin).stdout
        self.assertIn(f"of scheme {SCHEMES}", told)
        self.assertRegex(told, r"key +id:\{id\}: 61\n")

    def test_the_shards_are_there_after_a_restart(self):
        state = self.folder / "state.sqlite"
        tier = self.start_up("--state", state)
        ringside("split", "--route", "users", "--at", "60", "--to", "cache-3", "--admin", tier.admin)
        ringside("split", "--route", "kept", "--at", "/kept/7", "--to", "cache-4", "--admin", tier.admin)
        shards = self.shards(tier)
        tier.stop()
        with contextlib.closing(sqlite3.connect(state)) as database:
            placed = database.execute("SELECT key, owner FROM keys WHERE route = 'kept'").fetchall()
            (cut,) = database.execute("SELECT parent FROM keys WHERE parent IS NOT NULL").fetchall()
        self.assertEqual(placed, [("/kept/7", "cache-4")])
        self.assertEqual(shards[cut[0]]["route"], "users")
        again = self.start_up("--state", state)
        self.assertEqual(self.shards(again), shards)

    def test_what_cannot_be_cut_is_refused_in_a_line(self):
        tier = self.start_up()
        for words, said in (
            (("--at", "60"), "several routes have shards of their own: " + SCHEMES),
            (("--route", "rest", "--at", "60"), 'route: "rest" has no scheme of its own'),
            (("--route", "films"), "which of 64 shards?"),
            (("--route", "users"), "of route users, whose shards count from 0: a range is cut at one or two keys"),
            (("--route", "users", "5", "--at", "60"), 'shard 5 is none of route "users"'),
            (("--route", "users", "500", "--at", "60"), 'there is no shard "500"'),
        ):
            refused = ringside("split", *words, "--admin", tier.admin, expect=2)
            self.assertIn(said, refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)

    def test_rings_of_others_hand_over_what_moves_and_refuse_too_many_replicas(self):
        rings = CONFIG.replace("split-tree", "nginx").replace("directory", "jedis-ring")
        self.config = self.file("rings.yaml", rings)
        tier = self.start_up()
        self.assertEqual(
            tier.json("/topology")["scheme"], "ring,films=nginx,kept=jedis-ring,users=range"
        )
        self.ask_all(tier)
        for replicas in (11, 10):
            ringside("scale", replicas, "--admin", tier.admin)
            self.assert_nothing_is_fetched_again(tier)
            self.wait_until_moved(tier)
            self.assert_nothing_is_fetched_again(tier)
        refused = ringside("scale", 26, "--admin", tier.admin, expect=1)
        self.assertIn("of route films: nginx may be one of several schemes with up to 25 replicas", refused.stderr)
        self.assert_nothing_is_fetched_again(tier)

    def test_a_scheme_that_a_route_cannot_have_is_refused_in_a_line(self):
        for route, said in (
            ("{name: a, path: /a, scheme: jump}\n  - {name: b, path: /b, scheme: maglev}\n"
             "  - {name: c, path: /c, scheme: nginx}", "routes have 4 schemes by hash"),
            ("{name: a, path: /a, scheme: rnig}", 'there is no scheme "rnig"; choose one of'),
            ('{name: "a,b", path: /a, scheme: range}', "needs a name of letters, digits"),
        ):
            config = self.file("wrong.yaml", f"routes:\n  - {route}\n")
            refused = ringside("up", "--config", config, "--validate", expect=2)
            self.assertIn(said, refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)


class OfProcesses(RouteSchemes):
    def test_shards_are_cut_and_keys_placed_by_themselves(self):
        rule = ("--config", self.config)
        writer = self.start(
            "sidecar", "--replicas", "cache-0=127.0.0.1:1", "--geo", self.countries(),
            "--state-writer", "self", *rule,
        )  # fmt: skip
        follows = (*rule, "--state-writer", writer.admin)
        replicas = self.caches(4, self.source, *follows, "--place-keys", "--split-above", 30)
        fronts = [self.sidecar(replicas, *follows) for _ in range(2)]
        members = [{"name": one.name, "address": one.address} for one in replicas]
        for process in (writer, *replicas, *fronts):
            topology = {"version": 7, "scheme": SCHEMES, "members": members}
            answer = process.administer("PUT", "/topology", topology)
            self.assertEqual(answer.status, 200, answer.text)
        each_in_a_thread(self.ask_all, fronts)
        wait_until(lambda: len(self.shards(writer, "kept")) == 40, "every key to be placed")
        wait_until(lambda: len(self.shards(writer, "users")) >= 4, "ranges to be cut")
        wait_until(
            lambda: all(one.metric("ringside_buckets_away") == 0 for one in replicas)
            and sum(one.metric("ringside_store_entries") for one in replicas) == len(PATHS),
            "everything to lie where it belongs",
        )
        for front in fronts:
            self.assert_nothing_is_fetched_again(front)
        self.assertEqual(len(self.shards(writer, "films")), 64, "no leaf has more than 30")


if __name__ == "__main__":
    unittest.main()
