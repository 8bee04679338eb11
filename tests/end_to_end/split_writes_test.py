"""A shard is cut and one half moves while clients ask for more of it, in both ways of
`--split-writes`: what is stored and what is purged meanwhile is lost in neither."""

import collections
import threading
import unittest

from support import Client, Tier, wait_until

HOST = "www.example.com"
BODY = b"x" * 60_000
PAGES = [f"/page/{number}" for number in range(80)]
FIRST_TO_MOVE = 40
# Half of it takes two seconds.
SLOWLY = ("--move-rate", 1)
PURGED = ("/page/41", "/page/79")
PAUSE_S = 0.02  # of who asks for what is cold: it stores less than moves


class SplitWrites(Tier):
    def publish(self, *shards: dict) -> None:
        members = [{"name": one.name, "address": one.address} for one in self.replicas]
        page = {"scheme": "range", "members": members, "state": {"shards": list(shards)}}
        for process in (*reversed(self.replicas), self.front):
            answer = process.administer("PUT", "/topology", page)
            self.assertEqual(answer.status, 200, answer.text)

    def begin(self, way: str) -> None:
        # What is fetched while something is purged, whatever that is, may not be stored.
        self.no_purge = threading.Lock()
        self.source = self.origin()
        for path in PAGES:
            self.source.on[path] = lambda turn: turn.reply(200, BODY)
        rule = ("--scheme", "range", "--purge-from", "127.0.0.0/8")
        self.replicas = self.caches(2, self.source, *rule, *SLOWLY, "--split-writes", way)
        self.front = self.sidecar(self.replicas, *rule, "--shard-key", "path")
        self.publish({"at": "", "owner": "cache-0"})
        self.ask(PAGES)

    def ask(self, paths) -> None:
        with Client(self.front.address) as client:
            self.assertEqual({client.get(path, Host=HOST).status for path in paths}, {200})

    def ask_for_what_is_cold(self, over: threading.Event, cold: list[str]) -> None:
        """Of the half that moves, until it is over."""
        with Client(self.front.address) as client:
            while not over.wait(PAUSE_S):
                cold.append(f"/page/{len(PAGES) + len(cold)}")
                with self.no_purge:
                    client.get(cold[-1], Host=HOST)

    def is_moved(self) -> bool:
        selves = [one.json("/topology")["self"] for one in self.replicas]
        return not any(one["buckets_away"] + one["buckets_to_give"] for one in selves)

    def move_half(self) -> list[str]:
        """With purges and cold requests in the midst of it; what was cold."""
        cold, over = [], threading.Event()
        visitor = threading.Thread(target=self.ask_for_what_is_cold, args=(over, cold))
        visitor.start()
        try:
            self.publish(
                {"at": "", "owner": "cache-0"},
                {"at": PAGES[FIRST_TO_MOVE], "owner": "cache-1", "parent": 0},
            )
            taker = self.replicas[1]
            wait_until(lambda: taker.metric("ringside_moved_responses_total") > 0, "a first batch")
            with self.no_purge:
                for path in PURGED:
                    url = {"url": f"http://{HOST}{path}"}
                    self.assertEqual(self.front.administer("POST", "/purge", url).status, 200)
            wait_until(self.is_moved, "the half to move")
        finally:
            over.set()
            visitor.join()
        return cold

    def test_nothing_is_lost_in_either_way(self):
        for way in ("log", "wait"):
            with self.subTest(way):
                self.begin(way)
                cold = self.move_half()
                self.ask((*PAGES, *cold))
                fetched = collections.Counter(one.target for one in self.source.seen())
                right = dict.fromkeys((*PAGES, *cold), 1) | dict.fromkeys(PURGED, 2)
                self.assertEqual(fetched, right)
                moved = self.replicas[1].metric("ringside_store_entries")
                self.assertEqual(moved, len(PAGES) - FIRST_TO_MOVE + len(cold))
                waits = sum(
                    one.metric("ringside_split_wait_seconds_count") for one in self.replicas
                )
                if way == "wait":
                    self.assertGreater(waits, 0)
                for process in (self.front, *self.replicas):
                    process.stop()


if __name__ == "__main__":
    unittest.main()
