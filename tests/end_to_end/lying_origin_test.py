"""An origin that lies: the client gets what HTTP says, nothing broken is stored, a counter says why.

Ambiguous heads and bad chunks are malformed_response_test.py's; here is what an origin says that is
not so.
"""

import email.utils
import re
import threading
import time
import unittest

from support import WAIT_S, Tier, converse, wait_until
from support.wire import request

OK = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
PART = b'HTTP/1.1 206 Partial Content\r\nCache-Control: max-age=60\r\nETag: "a"\r\n'
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
LARGE = b"x" * 300_000
RANGE = "Range: bytes=0-4"

# What each origin says before it closes; (what, lines of the request, its bytes, kind of the error).
BROKEN = [
    ("fewer bytes than its length", (), OK + b"Content-Length: 9\r\n\r\nshort", "disconnected"),
    ("far fewer", (), OK + b"Content-Length: 400000\r\n\r\n" + LARGE, "disconnected"),
    ("the head of an answer to HEAD", (), OK + b"Content-Length: 9\r\n\r\n", "disconnected"),
    ("no last chunk", (), OK + CHUNKED + b"5\r\nshort\r\n", "disconnected"),
    ("a part of a chunk", (), OK + CHUNKED + b"5\r\nsho", "disconnected"),
    ("a part of the last chunk", (), OK + CHUNKED + b"5\r\nshort\r\n0\r\n", "disconnected"),
    ("a part of its head", (), OK + b"Content-Le", "disconnected"),
    ("a part of its status line", (), b"HTTP/1.1 20", "disconnected"),
    ("an interim answer only", (), b"HTTP/1.1 103 Early Hints\r\n\r\n", "disconnected"),
    ("a bad chunk", (), OK + CHUNKED + b"5\r\nshort\r\nx\r\n0\r\n\r\n", "malformed"),
    ("a bad chunk far in", (), OK + CHUNKED + b"493e0\r\n" + LARGE + b"\r\n-1\r\n", "malformed"),
    ("several lengths", (), OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\nshort", "malformed"),
    ("a list of lengths", (), OK + b"Content-Length: 5, 2\r\n\r\nshort", "malformed"),
    ("bytes that are no HTTP", (), b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "malformed"),
    (
        "a part shorter than its range", (RANGE,),
        PART + b"Content-Range: bytes 0-4/10\r\n" + CHUNKED + b"3\r\nsho\r\n0\r\n\r\n", "malformed",
    ),
]  # fmt: skip

# Odd, but an answer: it is passed on as it is, and not kept. (what, lines, head, body)
ODD = [
    ("206 unasked", (), PART + b"Content-Range: bytes 0-4/10\r\n", b"short"),
    ("206 unasked without Content-Range", (), PART, b"short"),
    ("another range", (RANGE,), PART + b"Content-Range: bytes 5-9/10\r\n", b"short"),
    ("a longer range", (RANGE,), PART + b"Content-Range: bytes 0-8/10\r\n", b"shortened"),
    ("a range beyond its length", (RANGE,), PART + b"Content-Range: bytes 0-4/3\r\n", b"short"),
    ("a range without an end", (RANGE,), PART + b"Content-Range: bytes 0-/10\r\n", b"short"),
    ("a range that ends first", (RANGE,), PART + b"Content-Range: bytes 4-0/10\r\n", b"short"),
    ("a range of another unit", (RANGE,), PART + b"Content-Range: lines 0-4/10\r\n", b"short"),
    ("206 without Content-Range", (RANGE,), PART, b"short"),
    ("a length that isn't its range's", (RANGE,), PART + b"Content-Range: bytes 0-4/10\r\n", b"sho"),
    (
        "two ranges for one", (RANGE,),
        PART + b"Content-Range: bytes 0-4/10\r\nContent-Range: bytes 5-9/10\r\n", b"short",
    ),
    (
        "416 unasked", (),
        b"HTTP/1.1 416 No\r\nCache-Control: max-age=60\r\nContent-Range: bytes */10\r\n", b"short",
    ),
    ("an Age of centuries", (), OK + b"Age: 99999999999999999999\r\n", b"short"),
    ("an Age of 2^31", (), OK + b"Age: 2147483648\r\n", b"short"),
    ("a Date long ago", (), OK + b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n", b"short"),
]  # fmt: skip


def http_date(from_now_s: float) -> str:
    return email.utils.formatdate(time.time() + from_now_s, usegmt=True)


class LyingOrigin(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replica = self.cache("cache-0", self.source, "--first-byte-timeout", "2s")
        self.doors = {"cache": self.replica, "sidecar": self.sidecar([self.replica])}

    def each(self, cases):
        for door in self.doors:
            for number, case in enumerate(cases):
                yield door, f"/{door}/{number}", *case

    def get(self, door: str, path: str, *lines: str) -> bytes:
        """All that comes until the connection is closed."""
        raw = request("GET", path, "Connection: close", *lines)
        received, closed = converse(self.doors[door].address, raw)
        self.assertTrue(closed)
        return received

    def errors(self) -> dict:
        """How many of each kind the replica has blamed on the origin."""
        text = self.replica.administer("GET", "/metrics").text
        name = r'ringside_errors_total\{role="cache",source="origin",kind="(\w+)"\} (\d+)'
        return {kind: int(count) for kind, count in re.findall(name, text) if count != "0"}

    def counted(self, before: dict) -> dict:
        return {
            kind: count - before.get(kind, 0)
            for kind, count in self.errors().items()
            if count != before.get(kind, 0)
        }

    def check_not_whole(self, received: bytes) -> None:
        """502 or 504, or an answer that is seen to be cut. Nothing at all: a reset overtook it."""
        while re.match(rb"HTTP/1\.1 1[0-9][0-9] ", received):
            received = received.partition(b"\r\n\r\n")[2]
        if received == b"" or re.match(rb"HTTP/1\.1 50[24] ", received):
            return
        head, end, body = received.partition(b"\r\n\r\n")
        self.assertTrue(end, received)
        if length := re.search(rb"\r\nContent-Length: (\d+)", head):
            self.assertLess(len(body), int(length[1]))
        else:
            self.assertIn(b"\r\nTransfer-Encoding: chunked", head)
            self.assertFalse(body.endswith(b"0\r\n\r\n"), received[-100:])

    def check_asked_anew(self, door: str, path: str, *lines: str) -> None:
        """Nothing of it was kept: the next answer is the origin's, and right, and may be kept."""
        del self.source.on[path]
        asked = self.source.count(path)
        for _ in range(2):  # the second from the store
            head, _, body = self.get(door, path, *lines).partition(b"\r\n\r\n")
            if head.startswith(b"HTTP/1.1 206 "):
                self.assertEqual(body, f"GET {path} for".encode()[:5])
            else:
                self.assertTrue(head.startswith(b"HTTP/1.1 200 "), head)
                self.assertTrue(body.startswith(f"GET {path} for".encode()), body)
        self.assertEqual(self.source.count(path), asked + 1)

    def test_what_is_broken_is_never_taken_for_the_whole(self):
        def play(raw):
            def lie(turn):
                turn.send(raw)
                turn.close()

            return lie

        for door, path, what, lines, raw, kind in self.each(BROKEN):
            with self.subTest(door=door, what=what):
                before = self.errors()
                self.source.on[path] = play(raw)
                self.check_not_whole(self.get(door, path, *lines))
                self.assertEqual(self.counted(before), {kind: 1})
                self.check_asked_anew(door, path, *lines)
        self.assertEqual(self.replica.metric("ringside_origin_circuits_opened_total"), 0)

    def test_a_reset_is_not_the_end_of_a_body_without_a_length(self):
        """RFC 9112 §8: such a body ends where the connection does, in order."""

        def lie(turn):
            turn.send(OK + b"\r\n" + LARGE)
            turn.reset()

        for door, path in ((door, f"/{door}/reset") for door in self.doors):
            with self.subTest(door=door):
                before = self.errors()
                self.source.on[path] = lie
                self.check_not_whole(self.get(door, path))
                self.assertEqual(self.counted(before), {"disconnected": 1})
                self.check_asked_anew(door, path)

    def test_what_is_only_odd_is_passed_on_and_not_kept(self):
        for door, path, what, lines, head, body in self.each(ODD):
            with self.subTest(door=door, what=what):
                before = self.errors()
                raw = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
                self.source.on[path] = lambda turn, raw=raw: turn.send(raw)
                received = self.get(door, path, *lines)
                self.assertEqual(received[:12], head[:12])
                self.assertEqual(received.partition(b"\r\n\r\n")[2], body)
                self.assertEqual(self.counted(before), {})
                self.check_asked_anew(door, path, *lines)

    def test_more_bytes_than_its_length_are_not_of_the_body(self):
        for door, path in ((door, f"/{door}/more") for door in self.doors):
            with self.subTest(door=door):
                raw = OK + b"Content-Length: %d\r\n\r\n" % len(LARGE) + LARGE + LARGE
                self.source.on[path] = lambda turn, raw=raw: turn.send(raw)
                for _ in range(2):  # the second from the store
                    head, _, body = self.get(door, path).partition(b"\r\n\r\n")
                    self.assertTrue(head.startswith(b"HTTP/1.1 200 "), head)
                    self.assertEqual(body, LARGE)
                self.assertEqual(self.source.count(path), 1)
                self.assertIn(b" 200 Reason\r\n", self.get(door, f"/{door}/after-more"))

    def test_more_bytes_than_its_range_are_not_of_the_part(self):
        for door, path in ((door, f"/{door}/longer") for door in self.doors):
            with self.subTest(door=door):
                before = self.errors()
                self.source.on[path] = lambda turn: turn.send(
                    PART + b"Content-Range: bytes 0-4/10\r\n" + CHUNKED + b"7\r\nshorter\r\n0\r\n\r\n"
                )
                received = self.get(door, path, RANGE)
                if b"\r\nContent-Length: 5\r\n" not in received or received[-5:] != b"short":
                    self.check_not_whole(received)
                wait_until(lambda seen=before: self.counted(seen), "the rest to be noticed")
                self.assertEqual(self.counted(before), {"malformed": 1})
                self.check_asked_anew(door, path, RANGE)

    def test_304_to_a_request_without_conditions_is_passed_on_and_not_kept(self):
        for door, path in ((door, f"/{door}/304") for door in self.doors):
            with self.subTest(door=door):
                self.source.on[path] = lambda turn: turn.send(
                    b'HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: "a"\r\n\r\n'
                )
                received = self.get(door, path)
                self.assertTrue(received.startswith(b"HTTP/1.1 304 "), received)
                self.assertTrue(received.endswith(b"\r\n\r\n"), received)
                self.check_asked_anew(door, path)

    def test_no_date_makes_an_answer_fresh_for_longer_than_it_says(self):
        """RFC 9111 §4.2: a lifetime is of max-age, or from Date to Expires; never from our now to a
        time that the origin's clock is wrong about."""
        ten_years_s = 10 * 365 * 86_400
        for what, fields in {
            "Date ahead": {"date": http_date(ten_years_s)},
            "Date and Expires ahead": {
                "date": http_date(ten_years_s),
                "expires": http_date(ten_years_s + 60),
                "cache_control": "public",
            },
            "Age below nothing": {"age": "-1000000"},
            "two Ages": {"age": "0, -1000000"},
        }.items():
            for door in self.doors:
                with self.subTest(what=what, door=door):
                    path = f"/{door}/{what.replace(' ', '-')}"
                    fields = {"cache_control": "max-age=60"} | fields
                    self.source.on[path] = lambda turn, fields=fields: turn.reply(**fields)
                    answers = [self.doors[door].get(path) for _ in range(2)]
                    self.assertEqual({answer.status for answer in answers}, {200})
                    self.assertEqual(answers[0].body, answers[1].body)
                    for answer in answers:
                        self.assertRegex(answer.field("Age") or "0", r"^[0-9]$")
                    told = re.search(r"hit; *ttl=(-?[0-9]+)", answers[1].cache_status)
                    if told:  # or it was not kept at all
                        self.assertLessEqual(int(told[1]), 60)
                    print(f"{what}, by way of the {door}: {answers[1].cache_status}")

    def check_endless(self, begin: bytes, more: bytes, door: str, path: str, pause_s: float) -> dict:
        """Sends without end; returns which errors were counted once the door has answered."""
        sent, is_over = [0], threading.Event()

        def lie(turn):
            try:
                turn.send(begin)
                while not is_over.wait(pause_s):
                    turn.send(more)
                    sent[0] += len(more)
            finally:
                is_over.set()

        before = self.errors()
        self.source.on[path] = lie
        self.check_not_whole(self.get(door, path))
        # The origin finds its connection closed; nothing reads on to the end of what has none.
        self.assertTrue(is_over.wait(WAIT_S))
        self.assertLess(sent[0], 64 * 1024 * 1024)
        self.check_asked_anew(door, path)
        return self.counted(before)

    def test_what_has_no_end_is_ended(self):
        for what, begin, more, pause_s, kind in (
            ("lines of a head", OK, b"X: a\r\n" * 1000, 0, "head_too_large"),
            ("a line of a head", OK + b"X: ", b"a" * 10_000, 0, "head_too_large"),
            ("a status line", b"HTTP/1.1 200 ", b"a" * 10_000, 0, "head_too_large"),
            ("interim answers", b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10, 0, "malformed"),
            ("an extension", OK + CHUNKED + b"2;a=", b"b" * 10_000, 0, "malformed"),
            ("a chunk's size", OK + CHUNKED, b"0" * 10_000, 0, "malformed"),
            ("trailers", OK + CHUNKED + b"2\r\nok\r\n0\r\n", b"X: a\r\n" * 1000, 0, "malformed"),
            ("a head by the byte", OK + b"X: ", b"a", 0.05, "timeout"),
        ):
            for door in self.doors:
                with self.subTest(what=what, door=door):
                    path = f"/{door}/{what.replace(' ', '-')}"
                    counted = self.check_endless(begin, more, door, path, pause_s)
                    self.assertEqual(counted, {kind: 1})


if __name__ == "__main__":
    unittest.main()
