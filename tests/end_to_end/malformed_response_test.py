"""An origin's answer that two readers may read in two ways is 502, and neither kept nor followed."""

import threading
import types
import unittest

from support import Client, Tier, converse

OK = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
LENGTH = b"Content-Length: 2\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
# Read as an answer of its own, it would be the next request's.
HIDDEN = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 8\r\n\r\nsmuggled"

BAD_HEADS = [
    # RFC 9112 §6: the length of a body.
    ("length and coding", OK + LENGTH + CHUNKED + b"\r\n0\r\n\r\n"),
    ("coding and length", OK + CHUNKED + LENGTH + b"\r\n0\r\n\r\n"),
    ("lengths that differ", OK + LENGTH + b"Content-Length: 3\r\n\r\nok"),
    ("the same length twice", OK + LENGTH + LENGTH + b"\r\nok"),
    ("a list of lengths", OK + b"Content-Length: 2, 2\r\n\r\nok"),
    ("a signed length", OK + b"Content-Length: +2\r\n\r\nok"),
    ("a negative length", OK + b"Content-Length: -2\r\n\r\nok"),
    ("a hexadecimal length", OK + b"Content-Length: 0x2\r\n\r\nok"),
    ("an empty length", OK + b"Content-Length:\r\n\r\nok"),
    ("a length that overflows", OK + b"Content-Length: 18446744073709551618\r\n\r\nok"),
    ("a length with a blank", OK + b"Content-Length: 2 2\r\n\r\nok"),
    ("an unknown coding", OK + b"Transfer-Encoding: xchunked\r\n\r\nok"),
    ("a coding before chunked", OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ("chunked is not the last", OK + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
    ("chunked twice", OK + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n"),
    ("an empty coding", OK + b"Transfer-Encoding:\r\n\r\n0\r\n\r\n"),
    ("chunked in quotes", OK + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n'),
    ("chunked with parameters", OK + b"Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n"),
    ("chunked in HTTP/1.0", OK.replace(b"1.1", b"1.0") + CHUNKED + b"\r\n0\r\n\r\n"),
    ("an interim answer with a body", b"HTTP/1.1 103 Early Hints\r\n" + LENGTH + b"\r\nok"),
    ("an answer that switches protocols", b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n"),
    # RFC 9112 §5, §2.2: field lines.
    ("obs-fold", OK + b"X: a\r\n b\r\n" + LENGTH + b"\r\nok"),
    ("obs-fold with a tab", OK + b"X: a\r\n\tb\r\n" + LENGTH + b"\r\nok"),
    ("a fold before the first field", b"HTTP/1.1 200 OK\r\n X: a\r\n" + LENGTH + b"\r\nok"),
    ("bare LF ends a line", OK + b"X: a\n" + LENGTH + b"\r\nok"),
    ("bare LF ends the head", OK + LENGTH + b"\nok"),
    ("bare LF everywhere", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
    ("bare CR in a value", OK + b"X: a\rb\r\n" + LENGTH + b"\r\nok"),
    ("a blank before the colon", OK + b"Content-Length : 2\r\n\r\nok"),
    ("NUL in a value", OK + b"X: a\0\r\n" + LENGTH + b"\r\nok"),
    ("a control byte in a value", OK + b"X: \x01\r\n" + LENGTH + b"\r\nok"),
    ("NUL in a name", OK + b"X\0: a\r\n" + LENGTH + b"\r\nok"),
    ("an empty name", OK + b": a\r\n" + LENGTH + b"\r\nok"),
    ("a line without a colon", OK + b"junk\r\n" + LENGTH + b"\r\nok"),
    # RFC 9112 §4: the status line.
    ("an empty line before it", b"\r\n" + OK + LENGTH + b"\r\nok"),
    ("no version", b"200 OK\r\n" + LENGTH + b"\r\nok"),
    ("another protocol", b"ICY 200 OK\r\n" + LENGTH + b"\r\nok"),
    ("a version in small letters", b"http/1.1 200 OK\r\n" + LENGTH + b"\r\nok"),
    ("HTTP/2.0", b"HTTP/2.0 200 OK\r\n" + LENGTH + b"\r\nok"),
    ("HTTP/1.2", b"HTTP/1.2 200 OK\r\n" + LENGTH + b"\r\nok"),
    ("HTTP/0.9", b"ok"),
    ("two blanks", b"HTTP/1.1  200 OK\r\n" + LENGTH + b"\r\nok"),
    ("a tab", b"HTTP/1.1\t200 OK\r\n" + LENGTH + b"\r\nok"),
    ("a status of two digits", b"HTTP/1.1 20 OK\r\n" + LENGTH + b"\r\nok"),
    ("a status of four digits", b"HTTP/1.1 2000 OK\r\n" + LENGTH + b"\r\nok"),
    ("a status that is none", b"HTTP/1.1 999 OK\r\n" + LENGTH + b"\r\nok"),
    ("a control byte in the reason", b"HTTP/1.1 200 O\x01K\r\n" + LENGTH + b"\r\nok"),
    ("bare CR in the reason", b"HTTP/1.1 200 O\rK\r\n" + LENGTH + b"\r\nok"),
    # More than one hop of ours takes from another, which is more than from an origin.
    ("a head too large", OK + b"X: " + b"a" * 150_000 + b"\r\n" + LENGTH + b"\r\nok"),
    ("too many fields", OK + b"X: a\r\n" * 229 + LENGTH + b"\r\nok"),
]  # fmt: skip

# After a good head, which may have been passed on: what is passed on then has no end.
BAD_BODIES = [
    ("a size with a sign", b"+2\r\nok\r\n0\r\n\r\n"),
    ("a size with 0x", b"0x2\r\nok\r\n0\r\n\r\n"),
    ("a size that overflows", b"10000000000000002\r\nok\r\n0\r\n\r\n"),
    ("no size", b"\r\nok\r\n0\r\n\r\n"),
    ("a blank before the size", b" 2\r\nok\r\n0\r\n\r\n"),
    ("a blank after the size", b"2 \r\nok\r\n0\r\n\r\n"),
    ("bare LF after the size", b"2\nok\r\n0\r\n\r\n"),
    ("bare CR after the size", b"2\rok\r\n0\r\n\r\n"),
    ("bare LF after a chunk", b"2\r\nok\n0\r\n\r\n"),
    ("a chunk longer than its size", b"2\r\nokay\r\n0\r\n\r\n"),
    ("a chunk shorter than its size", b"3\r\nok\r\n0\r\n\r\n"),
    ("an extension without a name", b"2;\r\nok\r\n0\r\n\r\n"),
    ("an extension with an open quote", b'2;a="\r\nok\r\n0\r\n\r\n'),
    ("bare LF in an extension", b"2;a\n\r\nok\r\n0\r\n\r\n"),
    ("bare LF at the end", b"2\r\nok\r\n0\r\n\n"),
    ("bare LF in the trailers", b"2\r\nok\r\n0\r\nX: a\n\r\n"),
    ("a fold in the trailers", b"2\r\nok\r\n0\r\nX: a\r\n b\r\n\r\n"),
    ("NUL in the trailers", b"2\r\nok\r\n0\r\nX: \0\r\n\r\n"),
]

# A right answer and then more than was asked for. (what, method, the answer)
EXCESS = [
    ("behind a length", "GET", OK + LENGTH + b"\r\nok"),
    ("behind the last chunk", "GET", OK + CHUNKED + b"\r\n2\r\nok\r\n0\r\n\r\n"),
    ("behind no content", "GET", b"HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n"),
    ("a body for HEAD", "HEAD", OK + b"Content-Length: 100\r\n\r\n"),
    ("behind a request with a body", "POST", OK + LENGTH + b"\r\nok"),
]


class MalformedResponse(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        caches = self.caches(1, self.source)
        # The wire at each place where an answer is read.
        self.doors = {
            "cache": caches[0],
            "sidecar and cache": self.sidecar(caches),
            "sidecar": self.sidecar([types.SimpleNamespace(name="cache-0", address=self.source.address)]),
        }

    def answer(self, path: str, raw: bytes) -> None:
        """The origin answers so, and then waits for the other side to close."""

        def send(turn):
            turn.send(raw)
            turn.silence()

        self.source.on[path] = send

    def get(self, door: str, path: str) -> bytes:
        raw = f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        received, closed = converse(self.doors[door].address, raw.encode())
        self.assertTrue(closed)
        return received

    def each(self, cases):
        for door in self.doors:
            for number, (what, raw) in enumerate(cases):
                yield door, f"/{door.replace(' ', '-')}/{number}", what, raw

    def check_asked_anew(self, door: str, path: str) -> None:
        """What was refused is not kept: the next answer is the origin's."""
        del self.source.on[path]
        asked = self.source.count(path)
        self.assertIn(b" 200 Reason\r\n", self.get(door, path))
        self.assertEqual(self.source.count(path), asked + 1)

    def test_an_ambiguous_head_is_502(self):
        for door, path, what, raw in self.each(BAD_HEADS):
            with self.subTest(door=door, what=what):
                self.answer(path, raw + HIDDEN)
                received = self.get(door, path)
                self.assertTrue(received.startswith(b"HTTP/1.1 502 "), received)
                self.assertEqual(received.count(b"HTTP/1.1 "), 1, received)
                self.assertNotIn(b"smuggled", received)
                self.check_asked_anew(door, path)

    def test_a_bad_chunk_leaves_the_answer_without_end(self):
        for door, path, what, chunks in self.each(BAD_BODIES):
            with self.subTest(door=door, what=what):
                self.answer(path, OK + CHUNKED + b"\r\n" + chunks + HIDDEN)
                received = self.get(door, path)
                refused = received.startswith(b"HTTP/1.1 502 ")
                is_chunked = b"\r\nTransfer-Encoding: chunked\r\n" in received
                cut_short = is_chunked and not received.endswith(b"0\r\n\r\n")
                # Nothing at all: the reset overtook what had been sent.
                self.assertTrue(refused or cut_short or received == b"", received)
                self.assertNotIn(b"smuggled", received)
                self.check_asked_anew(door, path)


class Excess(Tier):
    """RFC 9112 §9.2: bytes that no request asked for are not the answer to the next one."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        caches = self.caches(1, self.source)
        self.doors = {"cache": caches[0], "sidecar": self.sidecar(caches)}

    def ask(self, client: Client, method: str, path: str):
        return client.ask(method, path, b"body" if method == "POST" else None)

    def test_what_comes_with_an_answer_is_not_the_next_answer(self):
        for door, process in self.doors.items():
            for number, (what, method, raw) in enumerate(EXCESS):
                with self.subTest(door=door, what=what), Client(process.address) as client:
                    self.source.on[f"/{door}/{number}"] = lambda turn, raw=raw: turn.send(raw + HIDDEN)
                    self.assertLess(self.ask(client, method, f"/{door}/{number}").status, 300)
                    self.check_next(client, f"/{door}/{number}/next")

    def test_what_comes_while_nothing_is_asked_is_not_the_next_answer(self):
        for door, process in self.doors.items():
            for number, (what, method, raw) in enumerate(EXCESS):
                with self.subTest(door=door, what=what), Client(process.address) as client:
                    may_go_on, is_sent = threading.Event(), threading.Event()

                    def late(turn, raw=raw, may_go_on=may_go_on, is_sent=is_sent):
                        turn.send(raw)
                        may_go_on.wait()
                        turn.send(HIDDEN)
                        is_sent.set()

                    self.source.on[f"/{door}/late/{number}"] = late
                    self.assertLess(self.ask(client, method, f"/{door}/late/{number}").status, 300)
                    may_go_on.set()
                    is_sent.wait()
                    self.check_next(client, f"/{door}/late/{number}/next")

    def check_next(self, client: Client, path: str) -> None:
        """Twice, so that what the first stored is seen too."""
        for _ in range(2):
            answer = client.get(path)
            self.assertIn(f"GET {path} for", answer.text)


if __name__ == "__main__":
    unittest.main()
