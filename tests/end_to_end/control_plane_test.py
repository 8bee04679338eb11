"""The control plane stands apart: what hangs, crowds or floods does not reach probes or requests.

What it measures is printed and not judged: a busy machine may be slow.
"""

import fcntl
import os
import select
import signal
import time
import unittest

from support import Client, Process, Tier, ringside, wait_until
from support.program import raise_open_files
from support.wire import Wire, request

HALF_OPEN = 1000
PROBES = 10  # of each kind, while the purges hang: a hung replica is soon given up
PURGES = 16
PURGE = b'{"url": "http://a.example/page"}'
LOCAL = "Host: 127.0.0.1"


def admin_request(method: str, target: str, *lines: str, body: bytes = b"") -> bytes:
    if body:
        lines = (*lines, f"Content-Length: {len(body)}")
    return request(method, target, *lines).replace(b"Host: a.example", LOCAL.encode()) + body


class Probes(Tier):
    def setUp(self):
        super().setUp()
        raise_open_files()
        self.source = self.origin()
        self.replicas = self.caches(2, self.source)
        self.front = self.sidecar(self.replicas)

    def wire(self, address: str, sent: bytes, source: str = "127.0.0.1") -> Wire:
        wire = Wire(address, source=source)
        self.addCleanup(wire.close)
        wire.send(sent)
        return wire

    def took_ms(self, address: str, target: str, source: str) -> float:
        began = time.monotonic()
        with Wire(address, source=source) as wire:
            wire.send(admin_request("GET", target))
            self.assertEqual(wire.answer().status, 200)
        return (time.monotonic() - began) * 1000

    def hang(self) -> list[Wire]:
        """More purges than there are threads, of which none ends before a hung replica is given up."""
        self.replicas[1].freeze()
        purge = admin_request("POST", "/purge", body=PURGE)
        return [self.wire(self.front.admin, purge, "127.0.0.9") for _ in range(PURGES)]

    def test_they_are_answered_while_others_hang(self):
        half = [self.wire(self.front.admin, b"G") for _ in range(HALF_OPEN)]
        purges = self.hang()
        for source, who in (("127.0.0.1", "of the crowd's address"), ("127.0.0.2", "of another")):
            for target in ("/livez", "/readyz"):
                took = [self.took_ms(self.front.admin, target, source) for _ in range(PROBES)]
                print(f"{target} {who}: worst of {len(took)} {max(took):.1f} ms")
        answered = select.poll()
        for wire in purges:
            answered.register(wire.socket, select.POLLIN)
        self.assertLess(len(answered.poll(0)), PURGES)
        self.assertEqual(len(half), HALF_OPEN)
        self.assertEqual(self.front.get("/page").status, 200)


TOKEN = "0123456789abcdef-token"


class Changes(Tier):
    def setUp(self):
        super().setUp()
        self.token = self.file("token", TOKEN + "\n")

    def drain(self, process: Process, *lines: str, address: str = "") -> int:
        with Wire(address or process.admin) as wire:
            wire.send(admin_request("POST", "/drain", *lines))
            return wire.answer().status

    def test_they_need_the_token_where_there_is_one(self):
        tier = self.up(2, self.origin(), "--admin-token-file", self.token)
        self.assertEqual(self.drain(tier), 401)
        self.assertEqual(self.drain(tier, "Authorization: Bearer no-token-of-ours"), 401)
        self.assertEqual(tier.readyz().status, 200)

        told = ringside("scale", 3, "--admin", tier.admin, expect=2)
        self.assertIn("--admin-token-file", told.stderr)
        ringside("scale", 3, "--admin", tier.admin, "--admin-token-file", self.token)
        self.assertEqual(tier.json("/topology")["version"], 2)
        self.assertNotIn(TOKEN, tier.administer("GET", "/config").text)

        self.token.write_text("another-" + TOKEN)
        wait_until(
            lambda: self.drain(tier, f"Authorization: Bearer {TOKEN}") == 401, "the new token"
        )
        self.assertEqual(self.drain(tier, f"Authorization: Bearer another-{TOKEN}"), 200)

    def test_a_bad_token_is_wrong_usage(self):
        for text in ("", "short", "with blanks in the middle"):
            self.token.write_text(text)
            done = ringside("up", "--validate", "--admin-token-file", self.token, expect=2)
            self.assertIn("openssl rand", done.stderr)

    def test_a_page_whose_name_leads_here_reads_and_changes_nothing(self):
        replica = self.cache("cache-0", self.origin(), "--admin-host", "*.shop.svc")
        with Client(replica.admin) as client:
            for host, status in (
                ("evil.example", 421),
                ("localhost", 200),
                ("10.1.2.3:9090", 200),
                ("cache-0.shop.svc", 200),
            ):
                for method, target in (("GET", "/config"), ("POST", "/drain")):
                    with self.subTest(host=host, method=method):
                        answer = client.ask(method, target, fields={"Host": host})
                        self.assertEqual(answer.status, status, answer.text)


class Stderr(Tier):
    def test_a_pipe_that_nobody_reads_stops_nothing(self):
        # Full before the process begins: its first word has nowhere to go.
        source = self.origin()
        unread, full = os.pipe()
        self.addCleanup(os.close, unread)
        fcntl.fcntl(full, fcntl.F_SETFL, os.O_NONBLOCK)
        try:
            while True:
                os.write(full, b"." * 4096)
        except BlockingIOError:
            pass
        fcntl.fcntl(full, fcntl.F_SETFL, 0)
        replica = Process(
            "cache", "--name", "cache-0", "--origin", source.url, "--threads", 1,
            stderr=full,
        )  # fmt: skip
        os.close(full)
        self.addCleanup(replica.stop)
        for number in range(20):
            replica.signal(signal.SIGHUP)
            self.assertEqual(replica.get(f"/{number}").status, 200)
            self.assertEqual(replica.readyz().status, 200)
        replica.signal(signal.SIGTERM)
        self.assertEqual(replica.wait(), 0)


if __name__ == "__main__":
    unittest.main()
