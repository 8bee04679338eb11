"""Heads that are as large as may be, or larger, and many of them: they cost what they cost alone.

Prints what it measures.
"""

import unittest

from abuse import Abuse
from support.wire import request

FLOODING = 8
HALF_HEADS = 300
KIB = 1024


def fields(count: int, size_bytes: int) -> list[str]:
    return [f"X-{number}: {'x' * size_bytes}" for number in range(count)]


LARGE = request("GET", "/large", *fields(90, 340))
UNFINISHED = request("GET", "/half", *fields(90, 340))[:-2]
MESSAGES = {
    LARGE: 200,
    request("GET", "/0", *fields(1, 33 * KIB)): 431,
    request("GET", "/0", *fields(110, 10)): 431,
    request("GET", "/0?" + "x" * 9 * KIB): 414,
    request("GET", "/0", "Connection: " + ",".join(["a"] * 10_000)): 400,
    request("GET", "/0", "Via: " + ",".join(["1.1 a"] * 40)): 508,
    request("GET", "/0", "Cookie: " + "; ".join(f"a{n}=b" for n in range(3_000))): 200,
    request("GET", "/0", "Accept-Language: " + ",".join(["de;q=0.1"] * 3_000)): 200,
    request("GET", "/0", "Forwarded: " + ",".join(["for=192.0.2.1"] * 2_000)): 200,
    request("GET", "/0", "Range: bytes=" + ",".join(f"{n}-{n}" for n in range(3_000))): 200,
}


class HeaderFloods(Abuse):
    def test_stop_nobody(self):
        front = self.tier()
        honest = self.honest(front)
        halves = [self.wire(front.address, UNFINISHED) for _ in range(HALF_HEADS)]
        flood = self.storm(front.address, list(MESSAGES), FLOODING)
        self.watch()
        statuses = self.end(flood)
        count = sum(one.total() for one in statuses)
        self.judge(honest, f"{count} large heads beside {len(halves)} unfinished ones")
        for seen, (message, expected) in zip(statuses, MESSAGES.items(), strict=True):
            self.assertEqual(set(seen), {expected}, message[:60])


if __name__ == "__main__":
    unittest.main()
