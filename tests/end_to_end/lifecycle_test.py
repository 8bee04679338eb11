"""How the processes end: told to by signals, or because a part of them fails."""

import contextlib
import http.client
import resource
import signal
import socket
import threading
import unittest

from support import WAIT_S, Client, Tier, wait_until


@contextlib.contextmanager
def scrape_without_reading(process):
    """More of /metrics than the sockets' buffers hold, asked for and not read."""
    host, port = process.admin.rsplit(":", 1)
    with socket.socket() as scraper:
        scraper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        scraper.connect((host, int(port)))
        scraper.sendall(b"GET /metrics HTTP/1.1\r\nHost: %s\r\n\r\n" % process.admin.encode() * 500)
        self_check = scraper.recv(1)
        assert self_check == b"H", self_check
        yield scraper


class Ending(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)

        def when_told(turn):
            self.gate.wait(WAIT_S)
            turn.reply(body=b"slow but whole")

        self.source.on["/slow"] = when_told

    def each_kind(self, *options):
        """Of each kind one, for which nothing but the origin is left to wait."""
        yield "cache", self.cache("cache-0", self.source, *options)
        yield "sidecar", self.sidecar([self.cache("cache-0", self.source)], *options)
        yield "up", self.up(2, self.source, *options)

    @contextlib.contextmanager
    def request_in_flight(self, process):
        """A GET that the origin has and does not answer; then the dict has its answer."""
        asked = self.source.count("/slow") + 1
        outcome = {}

        def ask():
            try:
                outcome["answer"] = process.get("/slow")
            except (OSError, http.client.HTTPException) as failure:
                outcome["failure"] = failure

        task = threading.Thread(target=ask)
        task.start()
        try:
            self.source.wait_for("/slow", asked)
            yield outcome
        finally:
            self.gate.set()
            task.join(WAIT_S)
            self.gate.clear()

    def test_sigterm_finishes_what_is_in_flight_and_exits_with_0(self):
        for kind, process in self.each_kind():
            with self.subTest(kind), Client(process.address) as idle:
                self.assertEqual(idle.get("/quick").status, 200)
                with self.request_in_flight(process) as outcome:
                    process.signal(signal.SIGTERM)
                    ready = wait_until(
                        lambda: (answer := process.readyz()).status == 503 and answer,
                        "it to be not ready",
                    )
                    self.assertTrue(ready.text.startswith("not ready: draining\n"), ready.text)
                    wait_until(process.refuses_connections, "the listeners to close")
                    self.assertIsNone(process.child.poll(), "it did not wait")
                answer = outcome["answer"]
                self.assertEqual((answer.status, answer.body), (200, b"slow but whole"))
                self.assertEqual(answer.field("Connection"), "close")
                self.assertEqual(process.wait(), 0)

    def test_sigint_is_the_same(self):
        process = self.up(1, self.source)
        process.signal(signal.SIGINT)
        self.assertEqual(process.wait(), 0)

    def test_a_second_sigterm_ends_it_at_once(self):
        for kind, process in self.each_kind():
            with self.subTest(kind), self.request_in_flight(process) as outcome:
                process.signal(signal.SIGTERM)
                wait_until(lambda: process.readyz().status == 503, "it to be not ready")
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(), 1)
                self.assertFalse(self.gate.is_set())
            self.assertIn("failure", outcome)
            self.assertIn("second signal: ending now", process.err)

    def test_a_second_sigterm_waits_for_no_administrator(self):
        """A slow reader of an admin page holds up an orderly end, not this one."""
        process = self.up(1, self.source)
        with self.request_in_flight(process), scrape_without_reading(process):
            process.signal(signal.SIGTERM)
            wait_until(lambda: "draining" in process.err, "it to drain")
            process.signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 1)

    def test_until_the_drain_delay_is_over_only_readyz_changes(self):
        for kind, process in self.each_kind("--drain-delay", "1h"):
            for order in ("POST /drain", "SIGTERM"):
                with self.subTest(kind=kind, order=order), Client(process.address) as kept:
                    self.assertEqual(kept.get("/before").status, 200)
                    if order == "SIGTERM":
                        process.signal(signal.SIGTERM)
                    else:
                        self.assertEqual(process.administer("POST", "/drain").status, 200)
                    wait_until(lambda: process.readyz().status == 503, "it to be not ready")
                    self.assertTrue(process.readyz().text.startswith("not ready: draining\n"))
                    with Client(process.address) as new:
                        for client in (kept, new, kept, new):
                            answer = client.get("/during")
                            self.assertEqual(answer.status, 200)
                            self.assertIsNone(answer.field("Connection"))
                    self.assertIsNone(process.child.poll())
            with self.subTest(kind=kind, order="a second SIGTERM"):
                # Two that are sent before one is taken are one.
                wait_until(lambda: "shutting down" in process.err, "the first to be taken")
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(), 1)

    def test_after_the_drain_delay_the_doors_close(self):
        for kind, process in self.each_kind("--drain-delay", "200ms"):
            with self.subTest(kind), self.request_in_flight(process) as outcome:
                process.signal(signal.SIGTERM)
                wait_until(lambda: process.readyz().status == 503, "it to be not ready")
                wait_until(process.refuses_connections, "the listeners to close")
                self.assertIsNone(process.child.poll(), "it did not wait")
            self.assertEqual(outcome["answer"].field("Connection"), "close")
            self.assertEqual(process.wait(), 0)

    def test_a_drain_by_hand_closes_the_doors_after_the_delay_too(self):
        for kind, process in self.each_kind("--drain-delay", "200ms"):
            with self.subTest(kind):
                self.assertEqual(process.administer("POST", "/drain").status, 200)
                self.assertEqual(process.readyz().status, 503)
                wait_until(process.refuses_connections, "the listeners to close")
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(), 0)

    def test_the_drain_deadline_ends_it_too(self):
        process = self.up(1, self.source, "--drain-deadline", "200ms")
        with self.request_in_flight(process):
            process.signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)
        self.assertIn("drain deadline", process.err)

    def test_a_drain_by_hand_waits_to_be_told_to_end(self):
        for kind, process in self.each_kind():
            with self.subTest(kind):
                self.assertEqual(process.administer("POST", "/drain").status, 200)
                self.assertEqual(process.readyz().status, 503)
                wait_until(process.refuses_connections, "the listeners to close")
                self.assertEqual(process.administer("GET", "/livez").status, 200)
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(), 0)


class Parts(Tier):
    def test_a_slow_scrape_slows_no_request(self):
        tier = self.up(2, self.origin())
        with contextlib.ExitStack() as scrapers:
            # As many as there are threads for administrators.
            for _ in range(2):
                scrapers.enter_context(scrape_without_reading(tier))
            with Client(tier.address) as client:
                for number in range(500):
                    self.assertEqual(client.get(f"/{number % 50}").status, 200)
            self.assertEqual(tier.get("/on-a-new-connection").status, 200)

    def test_a_part_that_fails_ends_the_whole(self):
        """Memory that is refused to some thread of `up`: all ends, with a line that says why."""
        source = self.origin()
        source.on["/large"] = lambda turn: turn.reply(body=bytes(4 << 20))
        tier = self.up(2, source, "--memory", "1GiB")
        self.assertEqual(tier.get("/large").status, 200)
        with open(f"/proc/{tier.child.pid}/statm", encoding="ascii") as statm:
            size_bytes = int(statm.read().split()[0]) * resource.getpagesize()
        if size_bytes > 1 << 40:
            self.skipTest("a sanitizer keeps its own account of memory")
        limit = size_bytes + (32 << 20)
        resource.prlimit(tier.child.pid, resource.RLIMIT_AS, (limit, limit))

        def ask():
            for number in range(200):
                try:
                    tier.get("/large", "81.2.69.1", Host=f"h{number}.example.com")
                except (OSError, http.client.HTTPException):
                    return

        ask()
        self.assertEqual(tier.wait(), -signal.SIGABRT)
        self.assertRegex(tier.err, r"(?m)^ringside: \S+ ended by an exception, .*: std::bad_alloc$")


if __name__ == "__main__":
    unittest.main()
