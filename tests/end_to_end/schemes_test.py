"""Schemes with a state route the live tier: what the tier has is not fetched again when it grows, and
not when a shard is cut or a key is placed while it serves."""

import itertools
import json
import unittest

from support import Client, Tier, each_in_a_thread, ringside, wait_until
from support.memory import is_sanitized

CLIENTS = ("81.2.69.160", "53.1.2.3", "89.160.20.1")
NUMBERS = range(200)
KEYS = [(f"/item/{number}", client) for number in NUMBERS for client in CLIENTS]
HOST = "www.example.com"
THREADS = 4


def range_state() -> dict:
    """Ranges of all countries' keys together: the key begins with the country."""
    starts = [""] + [f"{country}\n/item/{number}" for country in ("DE", "GB", "SE")
                     for number in range(0, 200, 20)]  # fmt: skip
    return {"shards": [{"at": start} for start in starts]}


def tree_state() -> dict:
    return {"shards": [{"at": f"shard_{number}"} for number in range(32)]}


def directory_state() -> dict:
    placed = [{"at": f"GB\n/item/{number}", "owner": f"cache-{number % 3}"} for number in range(50)]
    return {"fallback": "vbucket", "shards": placed}


STATES = {
    "ring": None,
    "vbucket": None,
    "rendezvous": None,
    "jump": None,
    "maglev": None,
    "modulo": None,
    "nginx": None,
    "jedis-ring": None,
    "simple-sha1": None,
    "range": range_state(),
    "ascending": range_state(),
    "split-tree": tree_state(),
    "directory": directory_state(),
}
# Each takes its time under a sanitizer: there one of a kind is tried.
SCHEMES = ("ring", "nginx", "range", "split-tree", "directory") if is_sanitized() else tuple(STATES)


class Schemes(Tier):
    def of_scheme(self, scheme: str, state: dict | None) -> tuple[str, ...]:
        if state is None:
            return ("--scheme", scheme)
        content = json.dumps({"format": 1, "scheme": scheme, "state": state})
        return ("--scheme", scheme, "--state", self.file(f"{scheme}.json", content))

    def ask_all(self, front) -> list:
        """Each key once."""

        def work(thread: int) -> list:
            with Client(front.address) as client:
                return [client.get(path, ip, Host=HOST) for path, ip in KEYS[thread::THREADS]]

        answers = list(itertools.chain(*each_in_a_thread(work, range(THREADS), THREADS)))
        self.assertEqual({answer.status for answer in answers}, {200})
        return answers

    def shards(self, tier) -> list[dict]:
        return tier.json("/topology")["state"]["shards"]


class OfOneProcess(Schemes):
    def wait_until_moved(self, tier) -> None:
        def is_over() -> bool:
            away = tier.metric("ringside_buckets_away")
            retiring = tier.json("/scale")["retiring"]
            return away == 0 and not retiring and tier.metric("ringside_store_entries") == len(KEYS)

        wait_until(is_over, "everything to lie where it belongs")

    def test_ten_become_eleven_under_every_scheme_and_nothing_is_fetched_again(self):
        for scheme in SCHEMES:
            state = STATES[scheme]
            with self.subTest(scheme):
                origin = self.origin()
                tier = self.up(10, origin, *self.of_scheme(scheme, state))
                self.ask_all(tier)
                self.assertEqual(origin.count(), len(KEYS))
                for replicas in (11, 10):
                    ringside("scale", replicas, "--admin", tier.admin)
                    self.ask_all(tier)
                    self.wait_until_moved(tier)
                    self.assert_all_hits(tier, self.ask_all)
                    self.assertEqual(origin.count(), len(KEYS), f"{replicas} replicas")
                tier.stop()

    def split_and_look(self, tier, origin, *words) -> str:
        told = ringside("split", *words, "--admin", tier.admin).stdout
        self.ask_all(tier)
        self.wait_until_moved(tier)
        self.assert_all_hits(tier, self.ask_all)
        self.assertEqual(origin.count(), len(KEYS), words)
        return told

    def test_a_range_is_cut_in_three_while_it_serves(self):
        origin = self.origin()
        state = {"shards": [{"at": "", "owner": "cache-0"}]}
        tier = self.up(3, origin, *self.of_scheme("range", state))
        self.ask_all(tier)
        told = self.split_and_look(tier, origin, "0", "--at", "GB /item/50", "--at", "SE")
        self.assertIn("3 shards", told)
        shards = self.shards(tier)
        self.assertEqual([shard["at"] for shard in shards], ["", "GB\n/item/50", "SE"])
        self.assertEqual({shard["owner"] for shard in shards}, {"cache-0", "cache-1", "cache-2"})
        self.assertGreater(tier.metric("ringside_store_entries", shard="cache-1"), 0)

    def test_a_leaf_splits_again_and_again(self):
        origin = self.origin()
        state = {"shards": [{"at": "shard_0", "owner": "cache-0"}]}
        tier = self.up(4, origin, *self.of_scheme("split-tree", state))
        self.ask_all(tier)
        for leaf in ("shard_0", "shard_0_0", "shard_0_1", "shard_0_0_0"):
            self.split_and_look(tier, origin, leaf)
        owned = {shard["owner"] for shard in self.shards(tier)}
        self.assertEqual(owned, {f"cache-{number}" for number in range(4)})

    def test_a_key_is_placed_and_moved(self):
        origin = self.origin()
        tier = self.up(3, origin, "--scheme", "directory")
        self.ask_all(tier)
        for name in ("cache-1", "cache-2", "cache-0"):
            self.split_and_look(tier, origin, "--at", r"GB\n/item/7", "--to", name)
            answer = tier.get("/item/7", "81.2.69.160", Host=HOST)
            self.assertTrue(answer.cache_status.startswith(f"{name}; hit"), answer.cache_status)

    def test_a_shard_that_cannot_be_cut_is_refused_in_a_line(self):
        origin = self.origin()
        tier = self.up(3, origin, "--scheme", "range")
        for words, said in (
            (("7", "--at", "m"), "there is no shard"),
            (("0",), "a range is cut at one or two keys"),
            (("0", "--at", ""), "does not lie within the range"),
            (("0", "--at", "m", "--at", "b"), '"b" does not lie behind "m"; name the keys in ascending order'),
            (("0", "--at", "m", "--to", "cache-9"), "there is no replica"),
        ):
            refused = ringside("split", *words, "--admin", tier.admin, expect=2)
            self.assertIn(said, refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
        self.assertEqual(self.shards(tier), [{"at": ""}])
        tier.stop()
        tier = self.up(3, origin, "--scheme", "directory")
        refused = ringside("split", "7", "--to", "cache-1", "--admin", tier.admin, expect=2)
        self.assertIn('there is no shard "7", and no other one; name a key', refused.stderr)

    def test_a_state_that_cannot_be_read_is_refused_in_a_line(self):
        twice = '{"shards": [{"at": ""}, {"at": "m"}, {"at": "m"}]}'
        for text, said in (
            ("", "is empty; give the file that was written, or remove it to begin anew"),
            ("SQLite format 3\0 and no more", "file is not a database"),
            ("{", "this is no JSON"),
            (f'{{"format": 1, "scheme": "range", "state": {twice}}}', "overlaps shards[1]"),
            ('{"format": 2, "scheme": "range", "state": {"shards": []}}', "format: is 2"),
            ('{"format": 1, "scheme": "ascending", "state": {"shards": []}}', "is of the scheme"),
            ('{"format": 1, "scheme": "range", "state": {"shards": [{"at": "a"}]}}', "no range"),
        ):
            state = self.file("state.json", text)
            refused = ringside("up", "--scheme", "range", "--state", state, "--validate", expect=2)
            self.assertIn(said, refused.stderr)
            self.assertIn(str(state), refused.stderr)
            self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)

    def test_members_that_a_scheme_cannot_take_are_refused_in_a_line(self):
        for replicas, scheme, said in (
            ("cache-0=h:1,cache-2=h:2", "jump", "without a gap"),
            ("cache-0=h:1;weight=2,cache-1=h:2", "simple-sha1", "weight"),
            ("a=h:1;weight=0,b=h:2;weight=0", "ring", "weights are all 0"),
            ("a=h:1;weight=-1", "ring", "weight"),
            ("a=h:1;weight=x", "ring", "weight"),
            ("a=h:1", "rung", "there is no scheme"),
        ):
            with self.subTest(replicas=replicas, scheme=scheme):
                refused = ringside(
                    "sidecar", "--listen", "127.0.0.1:0", "--replicas", replicas,
                    "--insecure-peers", "--scheme", scheme, "--validate", expect=2,
                )  # fmt: skip
                self.assertIn(said, refused.stderr)
                self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)

    def test_a_tier_that_writes_its_shards_loses_none(self):
        tier = self.up(3, self.origin(), "--scheme", "range")
        ringside("split", "0", "--at", "m", "--admin", tier.admin)
        topology = tier.json("/topology")
        del topology["version"]
        for shards in ([], [{"at": ""}], [{"at": ""}, {"at": "n", "parent": 0}]):
            topology["state"] = {"shards": shards}
            refused = tier.administer("PUT", "/topology", topology)
            self.assertEqual(refused.status, 409, refused.text)
            self.assertIn("take those of GET /topology", refused.text)
        self.assertEqual(len(self.shards(tier)), 2)

    def test_a_state_that_is_wrong_is_not_blamed_on_the_replicas(self):
        text = '{"format": 1, "scheme": "range", "state": {"shards": [{"at": "", "owner": "a b"}]}}'
        state = self.file("state.json", text)
        refused = ringside(
            "sidecar", "--listen", "127.0.0.1:0", "--replicas", "a=h:1", "--insecure-peers",
            "--scheme", "range", "--state", state, "--validate", expect=2,
        )  # fmt: skip
        self.assertIn(f"--state: {state}: shards[0].owner: ", refused.stderr)


class OfProcesses(Schemes):
    """A cut that not everybody has heard of."""

    def tell(self, process, shards: list[dict], version: int) -> None:
        members = [{"name": one.name, "address": one.address} for one in self.replicas]
        topology = {
            "version": version,
            "scheme": "range",
            "members": members,
            "state": {"shards": shards},
        }
        answer = process.administer("PUT", "/topology", topology)
        self.assertEqual(answer.status, 200, answer.text)

    def test_every_mix_of_who_has_heard_of_a_cut_gives_right_answers(self):
        source = self.origin()
        rule = ("--scheme", "range")
        self.replicas = self.caches(3, source, *rule)
        fronts = [self.sidecar(self.replicas, *rule) for _ in range(2)]
        whole = [{"at": "", "owner": "cache-0"}]
        cut = [*whole, {"at": "GB\n/item/50", "owner": "cache-1", "parent": 0},
               {"at": "SE", "owner": "cache-2", "parent": 0}]  # fmt: skip
        everybody = [*self.replicas, *fronts]
        for process in everybody:
            self.tell(process, whole, 10)
        self.ask_all(fronts[0])
        self.assertEqual(source.count(), len(KEYS))
        # The new owners first, then the holder; one sidecar never hears of it.
        for process in (self.replicas[2], fronts[1], self.replicas[1], self.replicas[0]):
            self.tell(process, cut, 11)
            for front in fronts:
                self.ask_all(front)
            self.assertEqual(source.count(), len(KEYS))
        wait_until(
            lambda: all(one.metric("ringside_buckets_away") == 0 for one in self.replicas)
            and sum(one.metric("ringside_store_entries") for one in self.replicas) == len(KEYS),
            "everything to lie where it belongs",
        )
        for front in fronts:
            self.ask_all(front)
        self.assertEqual(source.count(), len(KEYS))
        self.assertGreater(self.replicas[1].metric("ringside_store_entries"), 0)
        self.assertGreater(self.replicas[2].metric("ringside_store_entries"), 0)


if __name__ == "__main__":
    unittest.main()
