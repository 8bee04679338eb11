"""A tier of separate processes changes under clients of five countries, and its two sidecars hear of
it one after the other: each answer is right, and the origin is asked for each key once."""

import collections
import signal
import time
import unittest

from support import Tier, wait_until
from support.memory import is_sanitized
from support.visitors import CLIENTS, Visit, Visitors, wrong_visits

LANGUAGES = ("de", "fr")
PAGES = [f"/page/{number}" for number in range(80)]
VARIED = [f"/varied/{number}" for number in range(20)]
# Each asks for the same page in another language, where that matters.
VISITS = [
    *(Visit(path, client) for path in PAGES for client in CLIENTS),
    *(
        Visit(path, client, language.encode(), language)
        for path in VARIED
        for client in CLIENTS
        for language in LANGUAGES
    ),
]
# Eleven replicas under a sanitizer, on two cores, take each other for dead.
REPLICAS, MANY = (5, 6) if is_sanitized() else (10, 20)
CHANGES_APART_S = 0.1

# A key begins with the country. `vbucket` without a state has the table that its members give.
STATES = {
    "vbucket": None,
    "range": {
        "shards": [{"at": ""}]
        + [
            {"at": f"{country}\n/page/{number}"}
            for country in ("CZ", "DE", "GB", "SE", "ZA")
            for number in range(0, 80, 16)
        ]
    },
    "split-tree": {"shards": [{"at": f"shard_{number}"} for number in range(32)]},
    "directory": {
        "fallback": "vbucket",
        "shards": [
            {"at": f"GB\n/page/{number}", "owner": f"cache-{number % 3}"} for number in range(50)
        ],
    },
}
# Each takes its time under a sanitizer.
SCHEMES = ("vbucket", "range") if is_sanitized() else tuple(STATES)


class TierChange(Tier):
    def begin(self, scheme: str, state: dict | None = None) -> None:
        """A warm tier of it, with visitors."""
        self.rule = {"scheme": scheme} | ({"state": state} if state else {})
        self.source = self.origin()
        for path in VARIED:
            self.source.on[path] = lambda turn: turn.reply(
                200, (turn.request.field("Accept-Language") or "-").encode(), vary="Accept-Language"
            )
        self.weights = {}
        self.replicas = self.caches(REPLICAS, self.source)
        self.fronts = [self.sidecar(self.replicas) for _ in range(2)]
        self.tell(*self.replicas, *self.fronts)
        self.ask_all(self.fronts[0])
        self.assertEqual(self.source.count(), len(VISITS))
        self.visitors = Visitors(self.fronts, VISITS)
        self.addCleanup(self.visitors.end)

    def tell(self, *processes) -> None:
        members = [
            {"name": one.name, "address": one.address, "weight": self.weights.get(one.name, 1)}
            for one in self.replicas
        ]
        for process in processes:
            answer = process.administer("PUT", "/topology", self.rule | {"members": members})
            self.assertEqual(answer.status, 200, answer.text)

    def ask_all(self, front) -> None:
        self.assertEqual(wrong_visits(front.address, VISITS), [])

    def change(self, *leavers) -> None:
        """The second sidecar hears of it when the first one has asked for everything."""
        self.tell(*reversed(self.replicas), *leavers, self.fronts[0])
        for front in self.fronts:
            self.ask_all(front)
        self.tell(self.fronts[1])
        self.ask_all(self.fronts[1])

    def expect_that_it_ends(self) -> None:
        """All lies with its owners, and the origin was asked for each key once, ever."""

        def is_settled() -> bool:
            selves = [one.json("/topology")["self"] for one in self.replicas]
            return not any(one["buckets_away"] + one["buckets_to_give"] for one in selves)

        wait_until(is_settled, "everything to lie with its owners")
        for front in self.fronts:
            self.ask_all(front)
        fetches = collections.Counter(
            (one.target, one.field("X-Country"), one.field("Accept-Language"))
            for one in self.source.seen()
        )
        again = {key: count for key, count in fetches.items() if count > 1}
        self.assertEqual(again, {})

    def expect_that_the_last_can_end(self) -> None:
        """It is told to, and all answers were right."""
        last = self.replicas.pop()
        last.signal(signal.SIGTERM)
        self.change()
        self.assertEqual(last.wait(), 0)
        self.expect_that_it_ends()
        self.assertEqual(self.visitors.end(), [])

    def add_replica(self):
        newcomer = self.cache(f"cache-{len(self.replicas)}", self.source)
        self.replicas.append(newcomer)
        return newcomer


class OfARing(TierChange):
    def setUp(self):
        super().setUp()
        self.begin("ring")

    def test_one_more_and_then_it_is_told_to_end(self):
        newcomer = self.add_replica()
        self.change()
        self.expect_that_it_ends()
        self.assertGreater(newcomer.metric("ringside_store_entries"), len(VISITS) // 40)
        self.expect_that_the_last_can_end()

    def test_many_more_and_then_they_are_members_no_more(self):
        while len(self.replicas) < MANY:
            self.add_replica()
        self.change()
        self.expect_that_it_ends()
        leavers, self.replicas = self.replicas[REPLICAS:], self.replicas[:REPLICAS]
        self.change(*leavers)
        self.expect_that_it_ends()
        for leaver in leavers:
            wait_until(
                lambda leaver=leaver: leaver.metric("ringside_store_entries") == 0,
                "it to give all it has",
            )
        self.assertEqual(self.visitors.end(), [])

    def test_a_rolling_restart_of_all(self):
        """The next one is told to end as soon as the one before it is ready again."""
        for number in range(REPLICAS):
            old = self.replicas[number]
            old.signal(signal.SIGTERM)
            self.assertEqual(old.wait(), 0)
            new = self.replicas[number] = self.cache(old.name, self.source)
            self.tell(new, *self.replicas, *self.fronts)
            wait_until(lambda new=new: new.readyz().status == 200, "it to be ready")
        self.expect_that_it_ends()
        self.assertEqual(self.visitors.end(), [])

    def test_weights_change(self):
        heavy, light = self.replicas[:2]
        self.weights = {heavy.name: 3, light.name: 0}
        self.change()
        self.expect_that_it_ends()
        wait_until(lambda: light.metric("ringside_store_entries") == 0, "it to give all it has")
        self.weights = {}
        self.change()
        self.expect_that_it_ends()
        self.assertGreater(light.metric("ringside_store_entries"), 0)
        self.assertEqual(self.visitors.end(), [])

    def test_two_changes_one_upon_the_other(self):
        self.add_replica()
        self.tell(*reversed(self.replicas), self.fronts[0])
        time.sleep(CHANGES_APART_S)
        leaver = self.replicas.pop(0)
        self.weights = {self.replicas[-1].name: 2}
        self.change(leaver)
        self.expect_that_it_ends()
        wait_until(lambda: leaver.metric("ringside_store_entries") == 0, "it to give all it has")
        self.assertEqual(self.visitors.end(), [])


class OfOtherSchemes(TierChange):
    def test_one_more_then_one_without_weight_and_one_that_is_told_to_end(self):
        for scheme in SCHEMES:
            with self.subTest(scheme):
                self.begin(scheme, STATES[scheme])
                newcomer, light = self.add_replica(), self.replicas[0]
                self.change()
                self.expect_that_it_ends()
                self.assertGreater(newcomer.metric("ringside_moved_responses_total"), 0)
                self.weights = {light.name: 0}
                self.expect_that_the_last_can_end()
                for process in (*self.fronts, *self.replicas):
                    process.stop()


if __name__ == "__main__":
    unittest.main()
