"""One process writes which shards there are; the others follow it, and shards that are too full are
cut by themselves."""

import contextlib
import json
import sqlite3
import unittest

from support import Client, Tier, each_in_a_thread, ringside, wait_until
from support.api_server import ApiServer

CONFIG_MAP = "ringside-shards"
HOST = "www.example.com"
IDS = range(1, 241)
MOST = 60  # stored responses of a shard
ROUTES = """
routes:
  - {name: users, path: "/users/{id}", shard_key: "id:{id}"}
"""


def have_noticed(replicas) -> bool:
    """That the writer is gone. They look each second, and ask for nothing until it is heard."""
    return all("is not heard, and it stays as it is" in replica.err for replica in replicas)


class Shards(Tier):
    def ask_all(self, front, ids=IDS) -> None:
        with Client(front.address) as client:
            answers = [client.get(f"/users/{number}", Host=HOST) for number in ids]
        self.assertEqual({answer.status for answer in answers}, {200})

    def shards(self, process) -> list[dict]:
        return process.json("/topology")["state"]["shards"]

    def written(self, state) -> list[dict]:
        return json.loads(state.read_text())["state"]["shards"]

    def written_keys(self, state) -> list[dict]:
        with contextlib.closing(sqlite3.connect(state)) as database:
            rows = database.execute("SELECT key, owner FROM keys ORDER BY number").fetchall()
        return [{"at": key, "owner": owner} for key, owner in rows]


class OfOneProcess(Shards):
    def start_up(self, origin, scheme: str, state, *options):
        routes = self.file("routes.yaml", ROUTES)
        return self.up(3, origin, "--config", routes, "--scheme", scheme, "--state", state, *options)

    def whole(self, scheme: str) -> list[dict]:
        return [{"at": "shard_0" if scheme == "split-tree" else "", "owner": "cache-0"}]

    def test_what_is_too_full_is_cut_until_nothing_is_and_nothing_is_fetched_again(self):
        for scheme in ("range", "ascending", "split-tree"):
            with self.subTest(scheme):
                state = self.file(
                    f"{scheme}.json",
                    json.dumps({"format": 1, "scheme": scheme, "state": {"shards": self.whole(scheme)}}),
                )
                origin = self.origin()
                tier = self.start_up(origin, scheme, state, "--split-above", MOST)
                self.ask_all(tier)
                least = 2 if scheme == "ascending" else len(IDS) // MOST
                wait_until(lambda: len(self.shards(tier)) >= least, "shards to be cut")
                wait_until(lambda: tier.metric("ringside_buckets_away") == 0, "what moves to be there")
                self.ask_all(tier)
                self.assertEqual(origin.count(), len(IDS))
                self.assertGreater(len({one["owner"] for one in self.shards(tier)}), 1)
                wait_until(
                    lambda: self.written(state) == self.shards(tier), "the state to be written"
                )
                tier.stop()

    def test_the_state_is_there_after_a_restart(self):
        state = self.folder / "made.json"
        origin = self.origin()
        tier = self.start_up(origin, "range", state)
        ringside("split", "0", "--at", "100", "--to", "cache-2", "--admin", tier.admin)
        shards = self.shards(tier)
        self.assertEqual([one["at"] for one in shards], ["", "100"])
        tier.stop()
        again = self.start_up(origin, "range", state)
        self.assertEqual(self.shards(again), shards)

    def test_a_state_that_cannot_be_written_is_not_used(self):
        state = self.folder / "no-such-folder" / "state.json"
        tier = self.start_up(self.origin(), "range", state)
        refused = ringside("split", "0", "--at", "100", "--admin", tier.admin, expect=1)
        self.assertIn("give a file in a folder that this process may write to", refused.stderr)
        self.assertEqual(self.shards(tier), [{"at": ""}])


class KeysAtFirstSight(Shards):
    """A key of a directory is placed by weight when something of it is first stored, and stays there."""

    def owners(self, process) -> dict[str, str]:
        return {one["at"]: one["owner"] for one in self.shards(process)}

    def test_by_one_process(self):
        origin = self.origin()
        routes = self.file("routes.yaml", ROUTES)
        state = self.folder / "directory.sqlite"
        tier = self.up(
            4, origin, "--config", routes, "--scheme", "directory", "--state", state, "--place-keys"
        )  # fmt: skip
        self.ask_all(tier)
        wait_until(lambda: len(self.shards(tier)) == len(IDS), "every key to be placed")
        wait_until(lambda: tier.metric("ringside_buckets_away") == 0, "what moves to be there")
        self.ask_all(tier)
        self.assertEqual(origin.count(), len(IDS))
        placed = self.owners(tier)
        self.assertEqual(set(placed), {str(number) for number in IDS})
        share = len(IDS) // 4
        for name in ("cache-0", "cache-1", "cache-2", "cache-3"):
            self.assertAlmostEqual(list(placed.values()).count(name), share, delta=share // 2)
        ringside("scale", 5, "--admin", tier.admin)
        self.assertEqual(self.owners(tier), placed, "a key keeps its replica")
        self.assertEqual(self.written_keys(state), self.shards(tier))
        tier.stop()
        again = self.up(
            4, origin, "--config", routes, "--scheme", "directory", "--state", state, "--place-keys"
        )  # fmt: skip
        self.assertEqual(self.owners(again), placed)

    def start_processes(self, origin):
        """A writer, three replicas of which one has no weight, and two sidecars."""
        routes = self.file("routes.yaml", ROUTES)
        rule = ("--scheme", "directory", "--config", routes)
        writer = self.start(
            "sidecar", "--replicas", "cache-0=127.0.0.1:1", "--geo", self.countries(),
            "--state-writer", "self", *rule,
        )  # fmt: skip
        follows = (*rule, "--state-writer", writer.admin)
        replicas = self.caches(3, origin, *follows, "--place-keys")
        fronts = [self.sidecar(replicas, *follows) for _ in range(2)]
        members = [
            {"name": one.name, "address": one.address, "weight": weight}
            for one, weight in zip(replicas, (1, 3, 0))
        ]
        for process in (writer, *replicas, *fronts):
            topology = {"version": 7, "scheme": "directory", "members": members}
            self.assertEqual(process.administer("PUT", "/topology", topology).status, 200)
        return writer, replicas, fronts

    def test_by_weight_and_once_whoever_asks(self):
        origin = self.origin()
        writer, replicas, fronts = self.start_processes(origin)
        each_in_a_thread(self.ask_all, fronts)
        wait_until(lambda: len(self.shards(writer)) == len(IDS), "every key to be placed")
        placed = list(self.owners(writer).values())
        self.assertNotIn("cache-2", placed, "one of weight 0 takes no new keys")
        self.assertAlmostEqual(placed.count("cache-1"), len(IDS) * 3 // 4, delta=len(IDS) // 8)
        wait_until(
            lambda: len({process.json("/topology")["id"] for process in (writer, *replicas, *fronts)}) == 1,
            "everybody to follow",
        )
        before = origin.count()
        each_in_a_thread(self.ask_all, fronts)
        self.assertEqual((before, origin.count()), (len(IDS), len(IDS)))

    def test_while_the_writer_is_away_nothing_is_placed_and_the_fallback_serves(self):
        origin = self.origin()
        writer, replicas, fronts = self.start_processes(origin)
        first = IDS[:60]
        self.ask_all(fronts[0], first)
        wait_until(
            lambda: {len(self.shards(one)) for one in (*replicas, *fronts)} == {len(first)},
            "everybody to follow",
        )
        writer.stop()
        wait_until(lambda: "is not heard" in fronts[1].readyz().text, "a sidecar to notice it")
        for front in (*fronts, *fronts):
            self.ask_all(front)
        self.assertEqual(origin.count(), len(IDS))
        wait_until(lambda: have_noticed(replicas), "the replicas to find nobody to ask")
        self.assertEqual(
            {len(self.shards(one)) for one in (*replicas, *fronts)}, {len(first)}, "placed"
        )


class OfProcesses(Shards):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.state = self.folder / "state.json"
        routes = self.file("routes.yaml", ROUTES)
        self.rule = ("--scheme", "range", "--config", routes)
        self.writer = self.start(
            "sidecar", "--replicas", "cache-0=127.0.0.1:1", "--geo", self.countries(),
            "--state-writer", "self", "--state", self.state, *self.rule,
        )  # fmt: skip
        follows = (*self.rule, "--state-writer", self.writer.admin)
        self.replicas = self.caches(3, self.source, *follows, "--split-above", MOST)
        self.front = self.sidecar(self.replicas, *follows)
        members = [{"name": one.name, "address": one.address} for one in self.replicas]
        topology = {"version": 7, "scheme": "range", "members": members}
        for process in (self.writer, *self.replicas, self.front):
            answer = process.administer("PUT", "/topology", topology)
            self.assertEqual(answer.status, 200, answer.text)

    def everybody_agrees(self) -> bool:
        processes = (self.writer, *self.replicas, self.front)
        return len({process.json("/topology")["id"] for process in processes}) == 1

    def test_a_cut_by_the_writer_leaves_the_version_as_it_is(self):
        told = ringside("split", "0", "--at", "5", "--to", "cache-1", "--admin", self.writer.admin)
        self.assertRegex(told.stdout, r"\Atopology +version 7, \d+ shards\n")

    def test_all_follow_the_writer_and_full_shards_are_cut_by_it(self):
        self.ask_all(self.front)
        wait_until(lambda: len(self.shards(self.writer)) >= len(IDS) // MOST, "shards to be cut")
        wait_until(self.everybody_agrees, "everybody to follow")
        self.ask_all(self.front)
        self.ask_all(self.writer)
        self.assertEqual(self.source.count(), len(IDS))
        # One more shard may be found too full, and be cut, at any time.
        wait_until(
            lambda: self.written(self.state) == self.shards(self.front), "the front to follow"
        )
        ready = self.front.readyz().text
        self.assertIn(f"state: as {self.writer.admin} has it", ready)

    def test_nobody_else_changes_the_state(self):
        refused = ringside("split", "0", "--at", "9", "--admin", self.front.admin, expect=1)
        self.assertIn(f"`ringside split --admin {self.writer.admin}`", refused.stderr)
        page = self.front.json("/topology")
        page["version"] += 1
        page["state"] = {"shards": [{"at": ""}, {"at": "9", "owner": "cache-1", "parent": 0}]}
        answer = self.front.administer("PUT", "/topology", page)
        self.assertEqual(answer.status, 409, answer.text)
        ringside("split", "0", "--at", "9", "--admin", self.writer.admin)
        wait_until(lambda: len(self.shards(self.front)) == 2, "the front to follow")

    def test_while_the_writer_is_away_all_is_served_as_it_was(self):
        ringside("split", "0", "--at", "100", "--admin", self.writer.admin)
        wait_until(lambda: len(self.shards(self.front)) == 2, "the front to follow")
        self.writer.stop()
        wait_until(
            lambda: "is not heard" in self.front.readyz().text, "the front to notice it"
        )
        self.ask_all(self.front)
        self.ask_all(self.front)
        wait_until(lambda: have_noticed(self.replicas), "the replicas to find nobody to ask")
        self.assertEqual(self.source.count(), len(IDS))
        self.assertEqual(len(self.shards(self.front)), 2)

    def test_of_two_who_cut_one_shard_in_two_ways_one_is_refused(self):
        cut = {"scheme": "range", "shards": 1, "shard": "0", "at": ["100"], "to": ["cache-1"]}
        self.assertEqual(self.writer.administer("POST", "/split", cut).status, 200)
        late = self.writer.administer("POST", "/split", {**cut, "at": ["50"]})
        self.assertEqual(late.status, 409)
        self.assertIn("shard 0 was cut since there were 1", late.text)
        self.assertEqual(len(self.shards(self.writer)), 2)

    def test_what_is_no_cut_is_refused_in_a_line(self):
        for cut, said in (
            ({"shard": 0}, "shard: is of type number; give a string"),
            ({"at": "m"}, "at: give an array of strings"),
            ({"where": ["m"]}, "this key is not known"),
            ({"at": ["m"], "to": ["cache-9"]}, "there is no replica"),
            ({"at": ["m", "n"], "to": ["cache-1"]}, "give a `to` for each `at`, or none"),
        ):
            answer = self.writer.administer("POST", "/split", cut)
            self.assertEqual((answer.status, answer.text.count("\n")), (400, 1), answer.text)
            self.assertIn(said, answer.text)


class InAConfigMap(Shards):
    """Every process may write which shards there are; who comes second reads again."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.api = ApiServer()
        self.addCleanup(self.api.stop)
        self.api.make_config_map(CONFIG_MAP)
        self.rule = self.rule_of("range")

    def rule_of(self, scheme: str) -> tuple:
        return (
            "--scheme", scheme, "--config", self.file("routes.yaml", ROUTES),
            "--state-writer", f"configmap:{CONFIG_MAP}",
            "--kubeconfig", self.file("kubeconfig", self.api.kubeconfig()),
        )  # fmt: skip

    def start_all(self, *options) -> None:
        self.replicas = self.caches(3, self.source, *self.rule, *options)
        self.fronts = [self.sidecar(self.replicas, *self.rule) for _ in range(2)]
        members = [{"name": one.name, "address": one.address} for one in self.replicas]
        topology = {"version": 7, "scheme": self.rule[1], "members": members}
        for process in self.replicas:
            wait_until(lambda: self.is_heard(process), "the ConfigMap to be read")
            self.assertEqual(process.administer("PUT", "/topology", topology).status, 200)

    @staticmethod
    def is_heard(process) -> bool:
        return f"state: as configmap:{CONFIG_MAP} has it" in process.readyz().text

    def published(self) -> list[dict]:
        return json.loads(self.api.config_map(CONFIG_MAP)["state.json"])["state"]["shards"]

    def agree(self, processes) -> bool:
        return len({json.dumps(self.shards(process)) for process in processes}) == 1

    def test_full_shards_are_cut_by_whoever_has_them_and_nothing_is_fetched_again(self):
        self.start_all("--split-above", MOST)
        self.ask_all(self.fronts[0])
        wait_until(lambda: len(self.shards(self.replicas[0])) >= len(IDS) // MOST, "cuts")
        for front in self.fronts:
            self.ask_all(front)
        wait_until(lambda: self.agree((*self.replicas, *self.fronts)), "everybody to follow")
        self.assertEqual(self.source.count(), len(IDS))
        self.assertEqual(self.published(), self.shards(self.fronts[1]))

    def test_keys_are_placed_once_whoever_asks(self):
        self.rule = self.rule_of("directory")
        self.start_all("--place-keys")
        each_in_a_thread(self.ask_all, self.fronts)
        wait_until(lambda: len(self.published()) >= len(IDS), "every key to be placed")
        placed = [one["at"] for one in self.published()]
        self.assertEqual(sorted(placed, key=int), [str(number) for number in IDS])
        wait_until(lambda: self.agree((*self.replicas, *self.fronts)), "everybody to follow")
        each_in_a_thread(self.ask_all, self.fronts)
        self.assertEqual(self.source.count(), len(IDS))
        self.assertEqual(self.published(), self.shards(self.fronts[1]))

    def test_two_who_cut_at_once_do_not_undo_each_other(self):
        self.start_all()
        first, second = self.replicas[:2]
        ringside("split", "0", "--at", "100", "--to", "cache-1", "--admin", first.admin)
        # It may have heard of the first cut by now; if not, its own is refused.
        late = second.administer("POST", "/split", {"number": 0, "at": ["50"], "to": ["cache-2"]})
        if late.status == 409:
            self.assertIn("ask again in a moment", late.text)
        self.assertEqual(self.published()[:2], self.shards(first)[:2])

    def test_what_was_made_of_an_older_version_is_not_written(self):
        self.start_all()
        first = self.replicas[0]
        cuts = iter(range(199, 9, -1))  # each below the one before

        def is_refused() -> bool:
            self.api.touch_config_map(CONFIG_MAP)  # it looks every five seconds, and cuts at once
            cut = {"number": 0, "at": [str(next(cuts))], "to": ["cache-1"]}
            answer = first.administer("POST", "/split", cut)
            said = "was written by another process since; ask again in a moment"
            return answer.status == 409 and said in answer.text

        wait_until(is_refused, "a cut that comes second")
        self.assertGreater(self.api.conflicts, 0)
        self.assertEqual(self.published(), self.shards(first))

    def test_one_that_is_made_anew_gets_the_shards_that_are_in_use(self):
        self.start_all()
        ringside("split", "0", "--at", "100", "--to", "cache-1", "--admin", self.replicas[0].admin)
        shards = self.published()
        self.api.make_config_map(CONFIG_MAP)
        written = "state.json"
        wait_until(
            lambda: written in self.api.config_map(CONFIG_MAP) and self.published() == shards,
            "them to be written",
        )

    def test_what_is_there_at_the_start_is_followed(self):
        shards = [{"at": "", "owner": "cache-0"}, {"at": "100", "owner": "cache-1", "parent": 0}]
        self.start_all()
        page = self.replicas[0].json("/topology")
        page |= {"version": page["version"] + 1, "state": {"shards": shards}}
        self.assertEqual(self.replicas[0].administer("PUT", "/topology", page).status, 200)
        late = self.sidecar(self.replicas, *self.rule)
        wait_until(lambda: self.shards(late) == shards, "a late one to follow")

    def test_without_it_all_is_served_and_the_remedy_is_said(self):
        self.api.stop()
        self.replicas = self.caches(1, self.source, *self.rule)
        front = self.sidecar(self.replicas, *self.rule)
        wait_until(lambda: "is not heard: API server" in front.readyz().text, "word of it")
        self.ask_all(front)

    def test_one_that_is_not_there_is_told_how_to_be_made(self):
        rule = [part.replace(CONFIG_MAP, "other") if isinstance(part, str) else part for part in self.rule]
        cache = self.cache("cache-0", self.source, *rule)
        remedy = "make it: kubectl create configmap other --namespace shop"
        wait_until(lambda: remedy in cache.readyz().text, remedy)


if __name__ == "__main__":
    unittest.main()
