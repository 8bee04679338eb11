"""A tier of separate processes changes under clients of five countries, and its two sidecars hear of
it one after the other: the origin is asked for each key once."""

import collections
import concurrent.futures
import itertools
import signal
import threading
import time
import unittest

from support import Client, Tier, each_in_a_thread, wait_until
from support.memory import is_sanitized

CLIENTS = ("81.2.69.160", "53.1.2.3", "89.160.20.1", "41.0.0.1", "2a02:d280::7")
LANGUAGES = ("de", "fr")
PAGES = [f"/page/{number}" for number in range(80)]
VARIED = [f"/varied/{number}" for number in range(20)]
HOST = "www.example.com"
# Each asks for the same page in another language, where that matters.
KEYS = [
    *((path, client, {}) for path in PAGES for client in CLIENTS),
    *(
        (path, client, {"Accept_Language": language})
        for path in VARIED
        for client in CLIENTS
        for language in LANGUAGES
    ),
]
# Eleven replicas under a sanitizer, on two cores, take each other for dead.
REPLICAS, MANY = (5, 6) if is_sanitized() else (10, 20)
THREADS = 4
CHANGES_APART_S = 0.1


class Visitors:
    """Go on asking at each sidecar for what is warm, and for what nobody has asked for yet."""

    def __init__(self, fronts):
        self.over = threading.Event()
        self.pool = concurrent.futures.ThreadPoolExecutor(len(fronts))
        self.working = [self.pool.submit(self.work, front.address) for front in fronts]

    def work(self, address: str) -> set[int]:
        """What statuses there were."""
        statuses = set()
        with Client(address) as client:
            for number in itertools.count():
                if self.over.is_set():
                    return statuses
                path, ip, fields = KEYS[number * 7 % len(KEYS)]
                statuses.add(client.get(path, ip, Host=HOST, **fields).status)
                cold = f"/cold/{number}"
                statuses.add(client.get(cold, CLIENTS[number % len(CLIENTS)], Host=HOST).status)

    def end(self) -> set[int]:
        self.over.set()
        self.pool.shutdown()
        return set().union(*(one.result() for one in self.working))


class TierChange(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        for path in VARIED:
            self.source.on[path] = lambda turn: turn.reply(
                200, (turn.request.field("Accept-Language") or "-").encode(), vary="Accept-Language"
            )
        self.weights = {}
        self.replicas = self.caches(REPLICAS, self.source)
        self.tell(*self.replicas)
        self.fronts = [self.sidecar(self.replicas) for _ in range(2)]
        self.ask_all(self.fronts[0])
        self.assertEqual(self.source.count(), len(KEYS))
        self.visitors = Visitors(self.fronts)
        self.addCleanup(self.visitors.end)

    def tell(self, *processes) -> None:
        members = [
            {"name": one.name, "address": one.address, "weight": self.weights.get(one.name, 1)}
            for one in self.replicas
        ]
        for process in processes:
            answer = process.administer("PUT", "/topology", {"scheme": "ring", "members": members})
            self.assertEqual(answer.status, 200, answer.text)

    def ask_all(self, front) -> None:
        """Each key once."""

        def work(thread: int) -> list:
            with Client(front.address) as client:
                return [
                    client.get(path, ip, Host=HOST, **fields)
                    for path, ip, fields in KEYS[thread::THREADS]
                ]

        answers = each_in_a_thread(work, range(THREADS), THREADS)
        self.assertEqual({one.status for one in itertools.chain(*answers)}, {200})

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

    def add_replica(self):
        newcomer = self.cache(f"cache-{len(self.replicas)}", self.source)
        self.replicas.append(newcomer)
        return newcomer

    def test_one_more_and_then_it_is_told_to_end(self):
        newcomer = self.add_replica()
        self.change()
        self.expect_that_it_ends()
        self.assertGreater(newcomer.metric("ringside_store_entries"), len(KEYS) // 40)
        self.replicas.pop()
        newcomer.signal(signal.SIGTERM)
        self.change()
        self.assertEqual(newcomer.wait(), 0)
        self.expect_that_it_ends()
        self.assertEqual(self.visitors.end(), {200})

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
        self.assertEqual(self.visitors.end(), {200})

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
        self.assertEqual(self.visitors.end(), {200})

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
        self.assertEqual(self.visitors.end(), {200})

    def test_two_changes_one_upon_the_other(self):
        self.add_replica()
        self.tell(*reversed(self.replicas), self.fronts[0])
        time.sleep(CHANGES_APART_S)
        leaver = self.replicas.pop(0)
        self.weights = {self.replicas[-1].name: 2}
        self.change(leaver)
        self.expect_that_it_ends()
        wait_until(lambda: leaver.metric("ringside_store_entries") == 0, "it to give all it has")
        self.assertEqual(self.visitors.end(), {200})


if __name__ == "__main__":
    unittest.main()
