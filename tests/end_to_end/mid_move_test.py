"""Somebody dies, or is cut off, while what is stored moves: all are answered, what is lost is what
the dead one alone had, and it ends."""

import unittest

from support import Client, Tier, each_in_a_thread, wait_until
from support.link import Fault

CLIENTS = ("81.2.69.160", "53.1.2.3")  # of two countries
PLAIN = [f"/item/{number}" for number in range(80)]
VARIED = [f"/varied/{number}" for number in range(10)]
KEYS = [
    *((path, client, "de") for path in PLAIN for client in CLIENTS),
    *((path, client, language) for path in VARIED for client in CLIENTS for language in ("de", "fr")),
]
BODY = b"x" * 60_000
THREADS = 4
# A fifth of it is to move, which takes some two seconds.
SLOWLY = ("--move-rate", 1)


class InMidMove(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        for path in PLAIN:
            self.source.on[path] = lambda turn: turn.reply(200, BODY)
        for path in VARIED:
            self.source.on[path] = lambda turn: turn.reply(200, BODY, vary="Accept-Language")
        self.replicas = self.caches(4, self.source, *SLOWLY)
        for replica in self.replicas:
            self.tell(replica, self.replicas)
        self.fronts = [self.sidecar(self.replicas) for _ in range(2)]
        self.ask_all()
        self.assertEqual(self.source.count(), len(KEYS))

    def tell(self, process, replicas, **elsewhere) -> None:
        """`elsewhere`: the addresses of some, as that process is to know them."""
        members = [
            {"name": one.name, "address": elsewhere.get(one.name.replace("-", "_"), one.address)}
            for one in replicas
        ]
        answer = process.administer("PUT", "/topology", {"scheme": "ring", "members": members})
        self.assertEqual(answer.status, 200, answer.text)

    def tell_all(self) -> None:
        for process in (*self.replicas, *self.fronts):
            self.tell(process, self.replicas)

    def ask_all(self) -> None:
        """Each key once, at one of the two sidecars."""

        def work(thread: int) -> list:
            with Client(self.fronts[thread % 2].address) as client:
                return [
                    client.get(path, ip, Accept_Language=language)
                    for path, ip, language in KEYS[thread::THREADS]
                ]

        for answers in each_in_a_thread(work, range(THREADS), THREADS):
            self.assertEqual({(one.status, one.body) for one in answers}, {(200, BODY)})

    def entries(self) -> int:
        return sum(int(one.metric("ringside_store_entries")) for one in self.replicas)

    def begin_to_move(self):
        """To the newcomer, which has some of it by then, and not all."""
        newcomer = self.cache("cache-4", self.source, *SLOWLY)
        self.replicas.append(newcomer)
        self.tell(newcomer, self.replicas)
        self.tell_all()
        wait_until(lambda: newcomer.metric("ringside_moved_responses_total") > 0, "a first batch")
        self.assertGreater(newcomer.metric("ringside_buckets_away"), 0)
        told = newcomer.json("/topology")["self"]
        self.assertGreater(min(told["moved_responses"], told["moved_bytes"]), 0)
        return newcomer

    def kill(self, replica) -> None:
        replica.kill()
        self.replicas.remove(replica)

    def lose(self, most: int) -> None:
        """Whoever was killed alone held so many at most."""
        self.ask_all()
        self.tell_all()
        self.ask_all()
        self.assertLessEqual(self.source.count(), len(KEYS) + most)
        self.wait_until_settled()

    def wait_until_settled(self) -> None:
        def is_settled() -> bool:
            away = sum(one.metric("ringside_buckets_away") for one in self.replicas)
            return away == 0 and self.entries() == len(KEYS)

        wait_until(is_settled, "everything to lie with its owners, once")
        asked = self.source.count()
        self.ask_all()
        self.assertEqual(self.source.count(), asked)

    def test_the_holder_is_killed(self):
        self.begin_to_move()
        holder = self.replicas[0]
        held = int(holder.metric("ringside_store_entries"))
        self.kill(holder)
        self.lose(held)
        self.assertGreater(self.source.count(), len(KEYS))

    def test_the_new_owner_is_killed(self):
        self.kill(self.begin_to_move())
        # What it has not said to have is there still.
        self.lose(len(KEYS) - self.entries())

    def test_the_network_between_the_two_is_cut_and_heals(self):
        newcomer = self.cache("cache-4", self.source, *SLOWLY)
        holder = self.replicas[0]
        self.replicas.append(newcomer)
        there, back = self.link(holder.address), self.link(newcomer.address)
        self.tell(newcomer, self.replicas, cache_0=there.address)
        self.tell(holder, self.replicas, cache_4=back.address)
        for process in (*self.replicas[1:4], *self.fronts):
            self.tell(process, self.replicas)
        wait_until(lambda: newcomer.metric("ringside_moved_responses_total") > 0, "a first batch")
        for link in (there, back):
            link.fault = Fault.blackhole
        self.ask_all()
        for link in (there, back):
            link.fault = Fault.none
        self.wait_until_settled()
        # What was to come from that one, at most.
        self.assertLessEqual(self.source.count(), len(KEYS) * 5 // 4)


if __name__ == "__main__":
    unittest.main()
