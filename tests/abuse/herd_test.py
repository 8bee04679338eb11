"""A herd that asks for one large object and reads nothing of it: it costs little and stops nobody.

Prints what it measures. HERD_READERS: how many there are (4,000 on a machine with room for them).
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time
import unittest

from abuse import Abuse
from support import WAIT_S, Tier, wait_until
from support.memory import MIB, cpu_s, is_sanitized, peak_resident_bytes
from support.program import die_with_parent, raise_open_files
from support.wire import Wire, request

READERS = int(os.environ.get("HERD_READERS", "300"))
AT_A_TIER = 300
OBJECT_BYTES = 60 * MIB
HONEST = 3  # who take it whole, among them
PIECES, PIECE_PAUSE_S = 60, 0.05
WATCHED_S = float(os.environ.get("HERD_WATCHED_S", "6"))
HITS = pathlib.Path(__file__).parent / "hits.py"
HITS_PAUSE_S = 0.005


class SlowObject(Tier):
    """/large of self.source, whose body comes slowly, once the gate is open."""

    def setUp(self):
        super().setUp()
        raise_open_files()
        self.object = random.Random(1).randbytes(OBJECT_BYTES)
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)
        self.source = self.origin()
        self.source.on["/large"] = self.slowly

    def slowly(self, turn) -> None:
        self.gate.wait(WAIT_S)
        turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n")
        turn.send(b"Content-Length: %d\r\n\r\n" % OBJECT_BYTES)
        piece = len(self.object) // PIECES
        for number in range(PIECES):
            time.sleep(PIECE_PAUSE_S)  # this is what is slow; nothing is waited for
            turn.send(self.object[number * piece : (number + 1) * piece])


class Herd(SlowObject):
    def setUp(self):
        super().setUp()
        self.replica = self.cache("cache-0", self.source)

    def crowd(self) -> list[socket.socket]:
        host, port = self.replica.address.rsplit(":", 1)
        crowd = []
        for _ in range(READERS):
            one = socket.create_connection((host, int(port)), WAIT_S)
            self.addCleanup(one.close)
            one.send(request("GET", "/large"))
            crowd.append(one)
        wait_until(
            lambda: self.replica.metric("ringside_connections", role="cache") >= READERS,
            "all to be accepted",
        )
        return crowd

    def begin_hits(self, target: str) -> subprocess.Popen:
        hits = subprocess.Popen(
            [sys.executable, HITS, self.replica.address, target, str(HITS_PAUSE_S)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        self.addCleanup(hits.wait)
        self.addCleanup(hits.kill)
        return hits

    def take_whole(self, client: Wire) -> bool:
        return client.head().status == 200 and client.read(OBJECT_BYTES) == self.object

    def test_non_readers_of_one_object_cost_little_and_delay_no_hit(self):
        body = self.replica.get("/hit").body
        honest = [Wire(self.replica.address) for _ in range(HONEST)]
        for one in honest:
            self.addCleanup(one.close)
            one.send(request("GET", "/large"))
        self.source.wait_for("/large")
        crowd = self.crowd()
        hits = self.begin_hits("/hit")
        before_s = cpu_s(self.replica)
        with concurrent.futures.ThreadPoolExecutor(HONEST) as pool:
            taken = [pool.submit(self.take_whole, one) for one in honest]
            began = time.monotonic()
            self.gate.set()
            self.assertEqual([one.result(WAIT_S) for one in taken], [True] * HONEST)
            whole_s = time.monotonic() - began
        time.sleep(max(0.0, WATCHED_S - whole_s))  # so long it is looked at; nothing is waited for
        for one in crowd:
            one.close()
        wait_until(
            lambda: self.replica.metric("ringside_connections", role="cache") < READERS / 100 + 5,
            "all to be gone",
        )
        figures = json.loads(hits.communicate("", timeout=WAIT_S)[0])
        print(
            f"{READERS} non-readers of one object of {OBJECT_BYTES // MIB} MiB:",
            f"{cpu_s(self.replica) - before_s:.2f} s of CPU,",
            f"{HONEST} others have it whole after {whole_s:.1f} s;",
            f"{figures['count']} hits beside it, median {figures['median_ms']:.1f} ms,",
            f"p99 {figures['p99_ms']:.1f} ms, worst {figures['worst_ms']:.0f} ms",
            f"after {figures['worst_at_s']:.1f} s;",
            f"resident at most {peak_resident_bytes(self.replica) / MIB:.0f} MiB",
            flush=True,
        )
        self.assertEqual(figures["seen"], [[200, hashlib.sha256(body).hexdigest()]])
        self.assertEqual(self.source.count("/large"), 1)
        self.assertEqual(self.replica.get("/after").status, 200)


class HerdAtATier(SlowObject, Abuse):
    def test_non_readers_of_one_object_leave_honest_clients_alone(self):
        front = self.tier()
        honest = self.honest(front)
        crowd = [self.wire(front.address, request("GET", "/large")) for _ in range(AT_A_TIER)]
        self.source.wait_for("/large")
        self.gate.set()
        self.watch()
        self.judge(honest, f"{len(crowd)} non-readers of one object of {OBJECT_BYTES // MIB} MiB")
        self.assertIn(self.source.count("/large"), self.fetches_allowed(front))

    @staticmethod
    def fetches_allowed(front) -> range:
        """One; under a sanitizer a busy replica may be taken for dead, and the other one fetches."""
        return range(1, 3 if is_sanitized() and front.has_passed_over() else 2)


if __name__ == "__main__":
    unittest.main()
