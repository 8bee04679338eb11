"""What two readers may read in two ways is refused, and what follows it is never a request."""

import re
import unittest

from support import Client, Tier, converse, wait_until

GET = b"GET /victim HTTP/1.1\r\nHost: a\r\n"
POST = b"POST /victim HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
HIDDEN = b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"

# (what is wrong, status, the bytes before the hidden request)
AMBIGUOUS = [
    # RFC 9112 §6: the length of a body.
    ("length and coding", 400, POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("coding and length", 400, POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    ("lengths that differ", 400, POST + b"Content-Length: 0\r\nContent-Length: 37\r\n\r\n"),
    ("the same length twice", 400, POST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
    ("a list of lengths", 400, POST + b"Content-Length: 0, 0\r\n\r\n"),
    ("a signed length", 400, POST + b"Content-Length: +0\r\n\r\n"),
    ("a negative length", 400, POST + b"Content-Length: -1\r\n\r\n"),
    ("a hexadecimal length", 400, POST + b"Content-Length: 0x0\r\n\r\n"),
    ("an empty length", 400, POST + b"Content-Length: \r\n\r\n"),
    ("a length that overflows", 400, POST + b"Content-Length: 18446744073709551616\r\n\r\n"),
    ("a length with a blank", 400, POST + b"Content-Length: 3 7\r\n\r\n"),
    ("a length in quotes", 400, POST + b'Content-Length: "0"\r\n\r\n'),
    ("a length with a fraction", 400, POST + b"Content-Length: 0.0\r\n\r\n"),
    ("an unknown coding", 400, POST + b"Transfer-Encoding: xchunked\r\n\r\n"),
    ("a coding before chunked", 501, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    ("chunked is not the last", 400, POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    ("chunked twice", 400, POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"),
    ("chunked in two lines", 400, POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("an empty coding", 400, POST + b"Transfer-Encoding: \r\n\r\n"),
    ("an empty member beside chunked", 400, POST + b"Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n"),
    ("chunked in quotes", 400, POST + b'Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n'),
    ("chunked with parameters", 400, POST + b"Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n"),
    ("chunked behind a fold", 400, POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
    ("a coding in HTTP/1.0", 400, POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("a coding after a vertical tab", 400, POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"),
    # RFC 9112 §5, §2.2: field lines.
    ("obs-fold", 400, GET + b"X: a\r\n b\r\n\r\n"),
    ("obs-fold with a tab", 400, GET + b"X: a\r\n\tb\r\n\r\n"),
    ("a fold before the first field", 400, b"GET /victim HTTP/1.1\r\n Host: a\r\n\r\n"),
    ("bare LF ends a line", 400, GET + b"X: a\n\r\n"),
    ("bare LF ends the head", 400, b"GET /victim HTTP/1.1\nHost: a\n\n"),
    ("bare CR in a value", 400, GET + b"X: a\rb\r\n\r\n"),
    ("bare CR ends a line", 400, GET + b"X: a\rY: b\r\n\r\n"),
    ("CR CR LF ends a line", 400, GET + b"X: a\r\r\n\r\n"),
    ("a tab before the colon", 400, POST + b"Content-Length\t: 37\r\n\r\n"),
    ("a blank before the colon", 400, POST + b"Content-Length : 37\r\n\r\n"),
    ("NUL in a value", 400, GET + b"X: a\0b\r\n\r\n"),
    ("a control byte in a value", 400, GET + b"X: a\x01b\r\n\r\n"),
    ("NUL in a name", 400, GET + b"X\0Y: a\r\n\r\n"),
    ("an empty name", 400, GET + b": a\r\n\r\n"),
    ("a line without a colon", 400, GET + b"junk\r\n\r\n"),
    # RFC 9112 §3: the request line and Host.
    ("two Hosts", 400, GET + b"Host: b\r\n\r\n"),
    ("no Host", 400, b"GET /victim HTTP/1.1\r\n\r\n"),
    ("an invalid Host", 400, b"GET /victim HTTP/1.1\r\nHost: a b\r\n\r\n"),
    ("an empty Host", 400, b"GET /victim HTTP/1.1\r\nHost:\r\n\r\n"),
    ("a Host with a user", 400, b"GET /victim HTTP/1.1\r\nHost: u@a\r\n\r\n"),
    ("two Hosts in one", 400, b"GET /victim HTTP/1.1\r\nHost: a, b\r\n\r\n"),
    ("a Host with a port that is none", 400, b"GET /victim HTTP/1.1\r\nHost: a:b\r\n\r\n"),
    ("an invalid host in the target", 400, b"GET http://u@a/victim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a Host with a path", 400, b"GET /victim HTTP/1.1\r\nHost: a/b\r\n\r\n"),
    ("two blanks in the request line", 400, b"GET  /victim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a tab in the request line", 400, b"GET\t/victim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a control byte in the target", 400, b"GET /vic\x01tim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("NUL in the target", 400, b"GET /vic\0tim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a fragment in the target", 400, b"GET /victim#a HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a blank before the method", 400, b" GET /victim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("two empty lines before it", 400, b"\r\n\r\n" + GET + b"\r\n"),
    ("bare LF before it", 400, b"\n" + GET + b"\r\n"),
    ("a blank in the target", 400, b"GET /vic tim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("a blank at the line's end", 400, b"GET /victim HTTP/1.1 \r\nHost: a\r\n\r\n"),
    ("no version", 400, b"GET /victim\r\nHost: a\r\n\r\n"),
    ("a version in small letters", 400, b"GET /victim http/1.1\r\nHost: a\r\n\r\n"),
    ("HTTP/2.0", 505, b"GET /victim HTTP/2.0\r\nHost: a\r\n\r\n"),
    ("a version of three digits", 400, b"GET /victim HTTP/1.10\r\nHost: a\r\n\r\n"),
    ("HTTP/0.9", 505, b"GET /victim HTTP/0.9\r\nHost: a\r\n\r\n"),
    ("HTTP/1.2", 505, b"GET /victim HTTP/1.2\r\nHost: a\r\n\r\n"),
    ("a target without a slash", 400, b"GET victim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("the target *", 400, b"GET * HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("TRACE", 405, b"TRACE /victim HTTP/1.1\r\nHost: a\r\n\r\n"),
    ("CONNECT", 501, b"CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"),
]  # fmt: skip

# After a good head, so the origin may have seen the request begin.
BAD_CHUNKS = [
    ("a size with a sign", b"+0\r\n\r\n"),
    ("a size with 0x", b"0x0\r\n\r\n"),
    ("a size that overflows", b"10000000000000000\r\n\r\n"),
    ("no size", b"\r\n\r\n"),
    ("a blank before the size", b" 0\r\n\r\n"),
    ("bare LF after the size", b"0\n\r\n"),
    ("bare CR after the size", b"0\rX\r\n\r\n"),
    ("a chunk longer than its size", b"1\r\nab\r\n0\r\n\r\n"),
    ("a control byte in an extension", b"0;a=\x01\r\n\r\n"),
    ("bare LF in an extension", b"0;a\n\r\n\r\n"),
    ("a blank after the size", b"0 \r\n\r\n"),
    ("a chunk shorter than its size", b"3\r\nab\r\n0\r\n\r\n"),
    ("bare LF after a chunk", b"2\r\nab\n0\r\n\r\n"),
    ("an extension without a name", b"0;\r\n\r\n"),
    ("an extension without its value", b"0;a=\r\n\r\n"),
    ("an extension with an open quote", b'0;a="\r\n\r\n'),
    ("an extension behind a quote", b'0;a="b"c\r\n\r\n'),
    ("bare LF at the end", b"0\r\n\n"),
    ("bare CR at the end", b"0\r\n\rX"),
    ("no end", b"0\r\n"),
    ("a trailer without a colon", b"0\r\nX\r\n\r\n"),
    ("a blank before a trailer's colon", b"0\r\nX : a\r\n\r\n"),
    ("a fold in the trailers", b"0\r\nX: a\r\n b\r\n\r\n"),
    ("bare LF in the trailers", b"0\r\nX: a\n\r\n"),
]


class Malformed(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        caches = self.caches(1, self.source)
        self.doors = {"sidecar": self.sidecar(caches), "cache": caches[0]}

    def check_refused(self, door: str, raw: bytes, *statuses: int) -> None:
        received, closed = converse(self.doors[door].address, raw + HIDDEN)
        self.assertTrue(closed, "the connection stays open")
        answers = re.findall(rb"HTTP/1\.1 ([0-9]{3})", received)
        self.assertEqual(len(answers), 1, received)
        self.assertIn(int(answers[0]), statuses, received)
        self.assertRegex(received, rb"(?i)\r\nconnection: close\r\n")
        self.assertEqual(self.source.count("/smuggled"), 0)

    def test_an_ambiguous_head_is_refused_and_nothing_is_smuggled(self):
        for door in self.doors:
            for what, status, raw in AMBIGUOUS:
                with self.subTest(door=door, what=what):
                    self.check_refused(door, raw, status)
        self.assertEqual(self.source.count(), 0, "the origin was asked")

    def test_a_bad_chunk_is_refused_and_nothing_is_smuggled(self):
        for door in self.doors:
            for what, chunks in BAD_CHUNKS:
                with self.subTest(door=door, what=what):
                    self.check_refused(door, CHUNKED + chunks, 400)

    def test_the_tier_goes_on_after_them(self):
        for _, _, raw in AMBIGUOUS:
            converse(self.doors["sidecar"].address, raw + HIDDEN)
        self.assertEqual(self.doors["sidecar"].get("/fine").status, 200)
        wait_until(
            lambda: self.doors["sidecar"].metric(
                "ringside_requests_total", role="sidecar", result="error"
            )
            == len(AMBIGUOUS),
            "each to be counted as an error, once",
        )


class Limits(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.front = self.sidecar(self.caches(1, self.source))

    def status(self, raw: bytes) -> int:
        received, closed = converse(self.front.address, raw)
        self.assertTrue(closed)
        self.assertEqual(received.count(b"HTTP/1.1 "), 1, received)
        self.assertEqual(self.source.count(), 0, "the origin was asked")
        return int(received[9:12])

    def test_a_head_too_large_is_431(self):
        self.assertEqual(self.status(GET + b"X: " + b"a" * 40_000 + b"\r\n\r\n"), 431)

    def test_too_many_fields_are_431(self):
        self.assertEqual(self.status(GET + b"X: a\r\n" * 101 + b"\r\n"), 431)

    def test_a_head_without_end_is_431(self):
        self.assertEqual(self.status(GET + b"X: " + b"a" * 40_000), 431)

    def test_a_request_line_too_long_is_414(self):
        target = b"/" + b"a" * 8_192
        self.assertEqual(self.status(b"GET " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n"), 414)

    def test_a_body_too_large_is_413_before_it_is_sent(self):
        length = 4 * 1024**3 + 1
        self.assertEqual(self.status(POST + b"Content-Length: %d\r\n\r\n" % length), 413)


class WellFormed(Tier):
    """What is allowed, though rare."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.front = self.sidecar(self.caches(1, self.source))

    def answers(self, raw: bytes) -> list[bytes]:
        received, _ = converse(self.front.address, raw)
        return re.findall(rb"HTTP/1\.1 ([0-9]{3})", received)

    def test_pipelined_requests_are_answered_in_order(self):
        raw = b"".join(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % n for n in range(5))
        raw += b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        received, _ = converse(self.front.address, raw)
        bodies = [b"GET /%d for" % n for n in range(5)] + [b"GET /last for"]
        places = [received.find(body) for body in bodies]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))

    def test_http_1_0_is_closed_unless_it_asks_otherwise(self):
        self.assertEqual(self.answers(b"GET /a HTTP/1.0\r\nHost: a\r\n\r\n"), [b"200"])
        kept = b"GET /a HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"
        self.assertEqual(self.answers(kept + b"GET /b HTTP/1.0\r\nHost: a\r\n\r\n"), [b"200"] * 2)

    def test_an_absolute_target_means_its_host(self):
        raw = b"GET http://b.example/a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        self.assertEqual(self.answers(raw), [b"200"])
        self.assertEqual(self.source.last().field("Host"), "b.example")
        self.assertEqual(self.source.last().target, "/a")

    def test_an_expected_continue_is_told(self):
        raw = POST + b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc"
        self.assertEqual(self.answers(raw), [b"100", b"200"])
        self.assertEqual(self.source.last().body, b"abc")

    def test_fields_that_connection_names_go_no_further(self):
        with Client(self.front.address) as client:
            client.get("/a", Connection="keep-alive, X-Hop", X_Hop="1", X_End="2")
        self.assertIsNone(self.source.last().field("X-Hop"))
        self.assertEqual(self.source.last().field("X-End"), "2")


if __name__ == "__main__":
    unittest.main()
