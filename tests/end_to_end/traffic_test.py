"""All of HTTP/1.1's traffic through both hops: what rarely comes, comes through whole."""

import re
import threading
import unittest

from support import WAIT_S, Client, Tier
from support.wire import Wire, request

CHUNKED_WITH_TRAILERS = (
    b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nTrailer: X-Sum\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nX-Sum: 1\r\nVia: evil\r\n\r\n"
)


class Traffic(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replica = self.cache("cache-0", self.source)
        self.front = self.sidecar([self.replica])
        self.doors = {"sidecar": self.front, "cache": self.replica}

    def wire(self, door: str = "sidecar") -> Wire:
        wire = Wire(self.doors[door].address)
        self.addCleanup(wire.close)
        return wire


class Requests(Traffic):
    def test_pipelined_requests_are_answered_in_order(self):
        for door in self.doors:
            with self.subTest(door):
                self.check_pipelining(door)

    def check_pipelining(self, door: str) -> None:
        gate = threading.Event()
        self.addCleanup(gate.set)

        def slow(turn):
            gate.wait(WAIT_S)
            turn.reply(body=b"slow")

        self.source.on[f"/{door}/slow"] = slow
        self.source.on["/echo"] = lambda turn: turn.reply(body=turn.request.body)
        wire = self.wire(door)
        wire.ask("GET", f"/{door}/stored")
        wire.send(
            request("GET", f"/{door}/slow")
            + request("GET", f"/{door}/stored")
            + request("HEAD", f"/{door}/stored")
            + request("POST", "/echo", "Content-Length: 5")
            + b"12345"
            + request("POST", "/echo", "Transfer-Encoding: chunked")
            + b"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"
            + request("GET", f"/{door}/last")
        )
        self.source.wait_for(f"/{door}/slow")
        wire.socket.settimeout(0.1)  # what is stored must not overtake what is not
        with self.assertRaises(TimeoutError):
            wire.head()
        wire.socket.settimeout(WAIT_S)
        gate.set()
        self.assertEqual(wire.answer().body, b"slow")
        stored = wire.answer()
        self.assertTrue(stored.is_hit)
        head = wire.answer("HEAD")
        self.assertEqual(head.field("Content-Length"), str(len(stored.body)))
        self.assertEqual(wire.answer().body, b"12345")
        self.assertEqual(wire.answer().body, b"abcdefg")
        self.assertIn(f"GET /{door}/last", wire.answer().text)

    def test_head_is_answered_without_a_body_however_the_origin_frames_it(self):
        heads = {
            "length": b"Content-Length: 7\r\n",
            "chunked": b"Transfer-Encoding: chunked\r\n",
            "neither": b"",
        }
        for name, line in heads.items():
            raw = b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n" + line + b"\r\n"
            self.source.on[f"/{name}"] = lambda turn, raw=raw: turn.send(raw)
        for door in self.doors:
            wire = self.wire(door)
            for name in heads:
                with self.subTest(door=door, framing=name):
                    answer = wire.ask("HEAD", f"/{name}")
                    self.assertEqual(answer.status, 200)
                    expected = "7" if name == "length" else None
                    self.assertEqual(answer.field("Content-Length"), expected)
                    # What follows is the next answer and no rest of this one.
                    self.assertEqual(wire.ask("GET", "/page").status, 200)

    def test_connect_and_trace_are_refused_and_go_no_further(self):
        for door in self.doors:
            with self.subTest(door):
                wire = self.wire(door)
                trace = wire.ask("TRACE", "/", "Cookie: secret")
                self.assertEqual(trace.status, 405)
                self.assertIn("GET", trace.field("Allow"))
                self.assertNotIn("TRACE", trace.field("Allow"))
                self.assertNotIn(b"secret", trace.body)
                self.assertEqual(self.wire(door).ask("CONNECT", "a:80").status, 501)
        self.assertEqual(self.source.count(), 0)

    def test_max_forwards_counts_the_hops_of_options(self):
        wire = self.wire()
        for target in ("*", "/page"):
            with self.subTest(target):
                before = self.source.count()
                for forwards in (0, 1):  # the sidecar itself, then the replica
                    answer = wire.ask("OPTIONS", target, f"Max-Forwards: {forwards}")
                    self.assertEqual(answer.status, 200)
                    self.assertIn("OPTIONS", answer.field("Allow"))
                    self.assertTrue(answer.field("Date"))
                    self.assertEqual(self.source.count(), before)
                self.assertEqual(wire.ask("OPTIONS", target, "Max-Forwards: 5").status, 200)
                self.assertEqual(self.source.last().field("Max-Forwards"), "3")
                self.assertEqual(wire.ask("OPTIONS", target).status, 200)
                self.assertIsNone(self.source.last().field("Max-Forwards"))
                self.assertEqual(self.source.last().method, "OPTIONS")
                self.assertEqual(self.source.last().target, target)

    def test_an_absolute_target_means_its_host_and_path(self):
        wire = self.wire()
        for target, seen in (
            ("http://b.example/x?y", ("b.example", "/x?y")),
            ("http://b.example:81/x", ("b.example:81", "/x")),
            ("http://b.example", ("b.example", "/")),
            ("http://b.example?q", ("b.example", "/?q")),
        ):
            with self.subTest(target):
                self.assertEqual(wire.ask("GET", target).status, 200)
                last = self.source.last()
                self.assertEqual((last.field("Host"), last.target), seen)

    def test_trailers_of_a_request_are_dropped(self):
        for door in self.doors:
            with self.subTest(door):
                wire = self.wire(door)
                wire.send(
                    request("POST", "/form", "Transfer-Encoding: chunked", "Trailer: X-Sum")
                    + b"3\r\nabc\r\n0\r\nX-Sum: 1\r\nTransfer-Encoding: gzip\r\n\r\n"
                )
                self.assertEqual(wire.answer().status, 200)
                self.assertEqual(self.source.last().body, b"abc")
                # Our origin reads no trailers: it would have taken them for the next request.
                self.assertEqual(wire.ask("GET", f"/after/{door}").status, 200)

    def test_fields_that_connection_names_go_no_further(self):
        self.source.on["/secret"] = lambda turn: turn.reply(
            Connection="x-secret, keep-alive", X_Secret="1", Keep_Alive="timeout=5",
            Proxy_Connection="keep-alive", X_End="2", cache_control="no-store",
        )  # fmt: skip
        for door in self.doors:
            with self.subTest(door):
                answer = self.wire(door).ask(
                    "GET", "/secret", "Connection: X-Hop, Via", "X-Hop: 1", "Via: 1.1 a",
                    "Keep-Alive: 5", "TE: trailers", "Proxy-Connection: close",
                )  # fmt: skip
                for name in ("X-Secret", "Keep-Alive", "Proxy-Connection", "Connection"):
                    self.assertIsNone(answer.field(name), name)
                self.assertEqual(answer.field("X-End"), "2")
                last = self.source.last()
                for name in ("X-Hop", "Keep-Alive", "TE", "Proxy-Connection"):
                    self.assertIsNone(last.field(name), name)


class Answers(Traffic):
    def test_trailers_of_an_answer_are_dropped(self):
        self.source.on["/trailers"] = lambda turn: turn.send(CHUNKED_WITH_TRAILERS)
        for door in self.doors:
            with self.subTest(door):
                wire = self.wire(door)
                wire.send(request("GET", "/trailers", "Connection: close", "TE: trailers"))
                raw = wire.read_to_end()
                self.assertTrue(raw.endswith(b"\r\n\r\n4\r\nbody\r\n0\r\n\r\n"), raw)
                self.assertNotIn(b"evil", raw)

    def test_date_is_added_where_the_origin_gives_none(self):
        date = "Sun, 06 Nov 1994 08:49:37 GMT"
        self.source.on["/dated"] = lambda turn: turn.reply(Date=date, cache_control="no-store")
        for cache_control in ("no-store", "max-age=60"):
            self.source.on[f"/{cache_control}"] = lambda turn, said=cache_control: turn.reply(
                cache_control=said
            )
        for door in self.doors:
            with self.subTest(door):
                wire = self.wire(door)
                self.assertEqual(wire.ask("GET", "/dated").field("Date"), date)
                added = wire.ask("GET", "/no-store").field("Date")
                self.assertRegex(added, r"^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} 20[0-9:\ ]+ GMT$")
                first = wire.ask("GET", "/max-age=60")
                again = wire.ask("GET", "/max-age=60")
                self.assertTrue(again.is_hit)
                self.assertEqual(again.field("Date"), first.field("Date"))
                self.assertNotIn(",", first.field("Date")[5:], "one line of it")

    def test_early_hints_reach_a_client_of_http_1_1_only(self):
        def hinting(turn):
            for link in ("</a.css>; rel=preload", "</b.css>; rel=preload"):
                turn.send(f"HTTP/1.1 103 Early Hints\r\nLink: {link}\r\n\r\n".encode())
            turn.reply(cache_control="no-store" if "no-store" in turn.request.target else "max-age=9")

        for door in self.doors:
            for kind in ("no-store", "stored"):
                with self.subTest(door=door, kind=kind):
                    self.source.on[f"/{kind}/{door}"] = hinting
                    wire = self.wire(door)
                    wire.send(request("GET", f"/{kind}/{door}"))
                    heads = [wire.head(), wire.head()]
                    self.assertEqual([head.status for head in heads], [103, 103])
                    self.assertEqual(heads[1].field("Link"), "</b.css>; rel=preload")
                    self.assertEqual(wire.answer().status, 200)
                    old = self.wire(door)
                    answer = old.ask("GET", f"/{kind}/{door}?old", version="1.0")
                    self.assertEqual(answer.status, 200)


class OldVersions(Traffic):
    def test_an_old_client_gets_no_chunks_and_the_end_of_the_connection(self):
        self.source.on["/chunked"] = lambda turn: turn.send(CHUNKED_WITH_TRAILERS)
        for door in self.doors:
            for keep_alive in ((), ("Connection: keep-alive",)):
                with self.subTest(door=door, asked=keep_alive):
                    answer = self.wire(door).ask("GET", "/chunked", *keep_alive, version="1.0")
                    self.assertIsNone(answer.field("Transfer-Encoding"))
                    self.assertIsNone(answer.field("Content-Length"))
                    self.assertEqual(answer.field("Connection"), "close")
                    self.assertEqual(answer.body, b"body")

    def test_an_old_client_is_told_nothing_of_continuing(self):
        for door in self.doors:
            with self.subTest(door):
                wire = self.wire(door)
                wire.send(
                    request(
                        "POST", "/form", "Expect: 100-continue", "Content-Length: 3", version="1.0"
                    )
                    + b"abc"
                )
                self.assertEqual(wire.answer().status, 200)
                self.assertEqual(self.source.last().body, b"abc")

    def test_an_old_origin_ends_its_answer_with_the_connection(self):
        def old(turn):
            turn.send(b"HTTP/1.0 200 OK\r\nCache-Control: max-age=60\r\n\r\n" + b"x" * 100_000)
            turn.close()

        for door in self.doors:
            self.source.on[f"/old/{door}"] = old
            wire = self.wire(door)
            for attempt in range(3):
                with self.subTest(door=door, attempt=attempt):
                    answer = wire.ask("GET", f"/old/{door}")
                    self.assertEqual((answer.status, answer.body), (200, b"x" * 100_000))
                    self.assertIsNone(answer.field("Connection"), "the client's goes on")


class Continue(Tier):
    """RFC 9110 §10.1.1"""

    LINES = ("Expect: 100-continue", "Content-Length: 3")
    ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    def conversations(self):
        """A client's connection and the origin's, which has read the head."""
        stage = self.stage()
        replica = self.cache("cache-0", stage)
        for process in (self.sidecar([replica]), replica):
            with self.subTest(process.address), Wire(process.address) as client:
                client.send(request("POST", "/", *self.LINES))
                with stage.accept() as origin:
                    head = origin.read_to(b"\r\n\r\n")
                    self.assertIn(b"\r\nExpect: 100-continue\r\n", head)
                    yield client, origin

    def test_the_body_comes_when_the_origin_asks_for_it(self):
        for client, origin in self.conversations():
            origin.send(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.assertEqual(client.head().status, 100)
            client.send(b"abc")
            self.assertEqual(origin.read(3), b"abc")
            origin.send(self.ANSWER)
            answer = client.answer()
            self.assertEqual((answer.status, answer.body), (200, b"ok"), "100 came twice?")

    def test_the_origin_refuses_and_the_body_is_never_sent(self):
        for client, origin in self.conversations():
            origin.send(b"HTTP/1.1 417 No\r\nContent-Length: 2\r\n\r\nno")
            answer = client.answer()
            self.assertEqual((answer.status, answer.body), (417, b"no"))
            self.assertEqual(answer.field("Connection"), "close", "a body might follow")
            self.assertTrue(client.is_closed())
            self.assertEqual(origin.read_to_end(), b"", "a body came")

    def test_an_origin_that_says_nothing_gets_the_body_after_a_while(self):
        for client, origin in self.conversations():
            self.assertEqual(client.head().status, 100)
            client.send(b"abc")
            self.assertEqual(origin.read(3), b"abc")
            # Late, for a body that has come: nobody is told a second time.
            origin.send(b"HTTP/1.1 100 Continue\r\n\r\n" + self.ANSWER)
            self.assertEqual(client.answer().status, 200)


class Loops(Tier):
    """Where the origin leads back, each request would be many: RFC 9110 §7.6.3."""

    def check(self, front, link) -> None:
        for method in ("GET", "POST"):
            with self.subTest(method), Client(front.address) as client:
                before = link.connections
                answer = client.ask(method, "/page", b"" if method == "POST" else None)
                self.assertEqual(answer.status, 508)
                self.assertIn("error=proxy_loop_detected", answer.field("Proxy-Status"))
                self.assertLessEqual(link.connections, before + 1, "it went round again")

    def test_an_origin_that_is_the_sidecar_is_508(self):
        link = self.link()
        front = self.sidecar([self.cache("cache-0", link)])
        link.target = front.address
        self.check(front, link)

    def test_an_origin_that_is_the_replica_itself_is_508(self):
        link = self.link()
        replica = self.cache("cache-0", link)
        link.target = replica.address
        self.check(self.sidecar([replica]), link)
        self.check(replica, link)

    def test_two_tiers_that_are_each_others_origins_are_508(self):
        link = self.link()
        far = self.sidecar([self.cache("far-0", link)])
        middle = self.link(far.address)
        front = self.sidecar([self.cache("near-0", middle)])
        link.target = front.address
        self.check(front, middle)


if __name__ == "__main__":
    unittest.main()
