"""What docs/failure-modes.md says of clients that vanish, and of descriptors that run out."""

import os
import pathlib
import re
import resource
import socket
import struct
import threading
import unittest

from support import WAIT_S, Client, Tier, wait_until
from support.memory import is_sanitized
from support.wire import Wire, request

LARGE = bytes(64 * 1024 * 1024)


def vanish(wire: Wire, with_reset: bool) -> None:
    if with_reset:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.close()


class VanishingClient(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replica = self.cache("cache-0", self.source)
        self.front = self.sidecar([self.replica])
        self.ended = threading.Event()
        self.steady = [threading.Thread(target=self.load, args=(n,)) for n in range(2)]
        self.wrong: list = []
        for task in self.steady:
            task.start()
        self.addCleanup(self.end_load)

    def load(self, client_number: int) -> None:
        """Others, who are not to notice."""
        numbers = iter(range(1_000_000))
        with Client(self.front.address) as client:
            while not self.ended.wait(0.005):
                try:
                    status = client.get(f"/steady/{client_number}/{next(numbers) % 50}").status
                except Exception as failure:  # for the test to judge
                    status = failure
                if status != 200:
                    self.wrong.append(status)

    def end_load(self) -> None:
        self.ended.set()
        for task in self.steady:
            task.join(WAIT_S)

    def check_over(self, errors: int) -> None:
        """Everything that was held for the vanished is let go of, and they are counted."""
        wait_until(
            lambda: self.front.metric("ringside_errors_total", source="client") >= errors,
            f"{errors} errors of clients to be counted",
        )
        self.end_load()
        wait_until(lambda: self.front.metric("ringside_connections") == 0, "none to be left")
        wait_until(
            lambda: self.replica.metric("ringside_origin_requests_in_flight") == 0, "an idle origin"
        )
        self.assertEqual(self.replica.metric("ringside_store_flights"), 0)
        self.assertEqual(self.wrong, [])

    def each_way(self):
        for number, with_reset in enumerate([False, True] * 4):
            with self.subTest(number=number, with_reset=with_reset):
                yield number, with_reset

    def test_within_a_head(self):
        for _, with_reset in self.each_way():
            wire = Wire(self.front.address)
            wire.send(b"GET /half HTTP/1.1\r\nHost: a.ex")
            vanish(wire, with_reset)
        self.check_over(errors=0)  # no request came to be
        self.assertEqual(self.source.count("/half"), 0)

    def test_within_a_body(self):
        pages = 100
        wait_until(
            lambda: self.replica.metric("ringside_store_entries") >= pages,
            "the others to need the origin no more",
        )
        for number, with_reset in self.each_way():
            line = "Transfer-Encoding: chunked" if number % 4 < 2 else "Content-Length: 200000"
            wire = Wire(self.front.address)
            wire.send(request("POST", "/half", line) + b"186A0\r\n" + bytes(50_000))
            wait_until(
                lambda: self.replica.metric("ringside_origin_requests_in_flight") == 1,
                "the body to be on its way",
            )
            vanish(wire, with_reset)
            wait_until(
                lambda: self.replica.metric("ringside_origin_requests_in_flight") == 0,
                "the origin to be left alone",
            )
        self.check_over(errors=8)
        self.assertEqual(self.source.count("/half"), 0, "a part of a body was taken for the whole")

    def test_within_an_answer_that_is_not_stored(self):
        pushed = []

        def large(turn):
            try:
                turn.reply(body=LARGE, cache_control="no-store")
                pushed.append("all")
            finally:
                pushed.append("ended")

        self.source.on["/large"] = large
        for _, with_reset in self.each_way():
            wire = Wire(self.front.address)
            wire.send(request("GET", "/large"))
            self.assertEqual(wire.head().status, 200)
            vanish(wire, with_reset)
        self.check_over(errors=8)
        wait_until(lambda: len(pushed) == 8, "the origin to be told")
        self.assertNotIn("all", pushed, "fetched for nobody")

    def test_within_an_answer_that_others_wait_for_too(self):
        body = LARGE[: 4 * 1024 * 1024]  # that may be stored
        gate = threading.Event()
        self.addCleanup(gate.set)

        def in_two_parts(turn):
            turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n")
            turn.send(b"Content-Length: %d\r\n\r\n" % len(body) + body[:1000])
            gate.wait(WAIT_S)
            turn.send(body[1000:])

        self.source.on["/shared"] = in_two_parts
        first, second = Wire(self.front.address), Wire(self.front.address)
        self.addCleanup(second.close)
        for wire in (first, second):
            wire.send(request("GET", "/shared"))
            self.assertEqual(wire.head().status, 200)
        vanish(first, with_reset=True)
        gate.set()
        self.assertEqual(len(second.read(len(body))), len(body))
        self.assertEqual(self.source.count("/shared"), 1)
        second.close()
        with Wire(self.front.address) as third:
            self.assertTrue(third.ask("GET", "/shared").is_hit)
        self.check_over(errors=0)

    def test_while_the_origin_thinks(self):
        gate = threading.Event()
        self.addCleanup(gate.set)

        def slow(turn):
            gate.wait(WAIT_S)
            turn.reply()

        self.source.on["/slow"] = slow
        for number, with_reset in self.each_way():
            wire = Wire(self.front.address)
            wire.send(request("GET", "/slow", "Cache-Control: no-store"))
            self.source.wait_for("/slow", number + 1)
            vanish(wire, with_reset)
        gate.set()
        self.check_over(errors=0)


# UndefinedBehaviorSanitizer looks at memory through pipes, and takes what it can't look at for wrong.
# Under it tests/fault has this case.
@unittest.skipIf(is_sanitized(), "the sanitizer needs descriptors of its own")
class OutOfDescriptors(Tier):
    """EMFILE at accept: who is there is served, who comes waits in the kernel's queue."""

    MORE = 12  # descriptors than are in use

    def test_it_backs_off_serves_who_is_there_and_recovers(self):
        source = self.origin()
        front = self.sidecar([self.cache("cache-0", source)], "--threads", 1)
        there = Client(front.address)
        self.addCleanup(there.close)
        self.assertEqual(there.get("/page").status, 200)  # and a connection to the replica
        front.metric("ringside_connections")  # and what the admin server needs
        admin = Client(front.admin)
        self.addCleanup(admin.close)
        self.assertEqual(admin.ask("GET", "/livez").status, 200)

        pid = front.child.pid
        files = len(os.listdir(f"/proc/{pid}/fd"))
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (files + self.MORE,) * 2)
        crowd = [Wire(front.address) for _ in range(5 * self.MORE)]
        for wire in crowd:
            self.addCleanup(wire.close)
        late = Wire(front.address)
        self.addCleanup(late.close)
        late.send(request("GET", "/late"))
        wait_until(lambda: "accept failed: " in front.err, "descriptors to run out")
        cpu_before = cpu_ticks(pid)
        for number in range(50):
            self.assertEqual(there.get(f"/page/{number}").status, 200)
        wait_until(lambda: front.err.count("accept failed: ") >= 6, "it to try again")
        pauses = [int(ms) for ms in re.findall(r"trying again in (\d+) ms", front.err)]
        self.assertEqual(pauses[:4], [5, 10, 20, 40])
        print(f"{len(pauses)} attempts, CPU ticks meanwhile: {cpu_ticks(pid) - cpu_before}")
        self.assertEqual(admin.ask("GET", "/livez").status, 200)
        self.assertEqual(source.count("/late"), 0)

        for _ in range(50):  # on connections of their own: descriptors are kept for them
            self.assertEqual(front.administer("GET", "/livez").status, 200)

        for wire in crowd:
            wire.close()
        self.assertEqual(late.answer().status, 200, "who waited is served")
        self.assertEqual(front.get("/after").status, 200)
        self.assertIsNone(front.child.poll())


def cpu_ticks(pid: int) -> int:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


if __name__ == "__main__":
    unittest.main()
