"""Clients that begin large bodies, which are evicted meanwhile, and take next to nothing of them.

Prints what it measures. TAKERS: how many there are (100 on a quiet machine); TAKERS_PAGES: how many
other objects go through the store meanwhile.
"""

import os
import random
import select
import socket
import unittest

from abuse import GREEDY, Abuse
from support import Client, Tier, wait_until
from support.memory import MIB, peak_resident_bytes, resident_bytes
from support.program import raise_open_files
from support.wire import request

TAKERS = int(os.environ.get("TAKERS", "40"))
PAGES = int(os.environ.get("TAKERS_PAGES", "400"))
MEMORY_MIB = 32
LARGE_BYTES = 3900 * 1024  # the store takes them: they are a little less than an eighth of it
PAGE_BYTES = 150_000
AT_A_TIER = 150  # together more than a quarter of what two replicas hold
PURGE_EVERY_S = 0.5
RECEIVE_BYTES = 4096
BYTES = random.Random(1).randbytes(LARGE_BYTES + 5000)


def content(target: str, size: int) -> bytes:
    first = sum(target.encode()) % 5000
    return BYTES[first : first + size]


def large(turn) -> None:
    turn.reply(body=content(turn.request.target, LARGE_BYTES), etag='"one"')


def slow_taker(address: str, number: int, source: str = "127.0.0.1") -> socket.socket:
    host, port = address.rsplit(":", 1)
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    one.bind((source, 0))
    one.connect((host, int(port)))
    one.sendall(request("GET", f"/large/{number}"))
    return one


class SlowTakers(Tier):
    def setUp(self):
        super().setUp()
        raise_open_files()
        self.source = self.origin()
        for number in range(TAKERS):
            self.source.on[f"/large/{number}"] = large
        for number in range(PAGES):
            self.source.on[f"/page/{number}"] = lambda turn: turn.reply(
                body=content(turn.request.target, PAGE_BYTES)
            )
        self.replica = self.cache("cache-0", self.source, "--memory", f"{MEMORY_MIB}MiB")

    def taker(self, number: int) -> socket.socket:
        one = slow_taker(self.replica.address, number)
        self.addCleanup(one.close)
        return one

    def ask_pages(self, client: Client, numbers) -> int:
        """How many of the answers are wrong."""
        wrong = 0
        for number in numbers:
            target = f"/page/{number}"
            answer = client.get(target)
            wrong += answer.status != 200 or answer.body != content(target, PAGE_BYTES)
        return wrong

    def check(self, takers_of) -> None:
        idle = resident_bytes(self.replica)
        with Client(self.replica.address) as client:
            takers = []
            wrong = 0
            for number in range(TAKERS):
                takers += takers_of(number)
                wrong += self.ask_pages(client, range(number, number + 2))
            wrong += self.ask_pages(client, range(PAGES))
            cut = sum(map(self.is_cut, takers))
            peak = peak_resident_bytes(self.replica)
            print(
                f"{len(takers)} slow takers, --memory {MEMORY_MIB}MiB: resident {idle / MIB:.0f} MiB",
                f"before, at most {peak / MIB:.0f} MiB; {cut} were cut;",
                f"the store uses {self.replica.metric('ringside_store_bytes') / MIB:.1f} MiB",
                flush=True,
            )
            for one in takers:
                one.close()
            self.assertEqual(wrong, 0)
            # What is asked for again comes from the store: it stores as before.
            wait_until(lambda: self.is_stored_again(client), "the store to store again")

    @staticmethod
    def is_cut(one: socket.socket) -> bool:
        """A reset has come; what came before it is left unread."""
        poll = select.poll()
        poll.register(one, 0)
        return bool(poll.poll(0))

    def is_stored_again(self, client: Client) -> bool:
        self.ask_pages(client, [0])
        return client.get("/page/0").is_hit

    def test_of_bodies_that_are_being_stored_stay_within_the_budget(self):
        self.check(lambda number: [self.taker(number)])

    def test_of_stored_bodies_that_are_evicted_stay_within_the_budget(self):
        def stored_first(number: int) -> list[socket.socket]:
            answer = self.replica.get(f"/large/{number}")
            self.assertEqual(answer.body, content(f"/large/{number}", LARGE_BYTES))
            return [self.taker(number)]

        self.check(stored_first)


class SlowTakersAtATier(Abuse):
    def test_of_bodies_that_are_purged_leave_honest_clients_alone(self):
        for number in range(AT_A_TIER):
            self.source.on[f"/large/{number}"] = large
        front = self.tier()
        honest = self.honest(front)
        for number in range(AT_A_TIER):
            self.addCleanup(slow_taker(front.address, number, GREEDY).close)
            self.source.wait_for(f"/large/{number}")
        self.watch(lambda: front.administer("POST", "/purge", {"all": True}), PURGE_EVERY_S)
        self.judge(honest, f"{AT_A_TIER} slow takers of bodies that are purged")


if __name__ == "__main__":
    unittest.main()
