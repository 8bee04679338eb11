"""The control plane stands apart: what hangs, crowds or floods does not reach probes or requests.

What it measures is printed and not judged: a busy machine may be slow.
"""

import select
import time
import unittest

from support import Tier
from support.program import raise_open_files
from support.wire import Wire, request

HALF_OPEN = 1000
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
                took = [self.took_ms(self.front.admin, target, source) for _ in range(50)]
                print(f"{target} {who}: worst of {len(took)} {max(took):.1f} ms")
        answered = select.poll()
        for wire in purges:
            answered.register(wire.socket, select.POLLIN)
        self.assertLess(len(answered.poll(0)), PURGES)
        self.assertEqual(len(half), HALF_OPEN)
        self.assertEqual(self.front.get("/page").status, 200)


if __name__ == "__main__":
    unittest.main()
