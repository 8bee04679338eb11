"""When a part of the tier fails, requests that may be repeated go on, and nothing hangs."""

import itertools
import signal
import socket
import threading
import unittest

from support import WAIT_S, Client, Tier, each_in_a_thread, wait_until
from support.tier import members

# Only where the end of a wait is what is tested: elsewhere a busy machine may need long.
SOON = ("--connect-timeout", "1s", "--first-byte-timeout", "300ms")


class DeadReplica(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(4, self.source)
        self.front = self.sidecar(self.replicas)
        told = self.shard(
            [("10.0.0.1", f"/page/{n}") for n in range(60)],
            "--replicas", members(self.replicas),
        )  # fmt: skip
        self.owners = {answer["url"]: answer["owners"] for answer in told}

    def test_its_keys_are_answered_by_the_next_owner_and_no_get_fails(self):
        expected = {path: self.front.get(path).body for path in self.owners}
        victim = self.replicas[0]
        ended, wrong = threading.Event(), []
        asked = itertools.count()

        def load(_):
            with Client(self.front.address) as client:
                for path in itertools.cycle(self.owners):
                    answer = client.get(path)
                    next(asked)
                    if answer.status != 200 or answer.body != expected[path]:
                        wrong.append((path, answer))
                    if ended.is_set():
                        return

        def kill(_):
            seen = answered()
            victim.kill()
            wait_until(lambda: answered() > seen + 500, "traffic after the kill")
            ended.set()

        def answered():
            return self.front.metric("ringside_requests_total", role="sidecar")

        tasks = [threading.Thread(target=load, args=(n,)) for n in range(4)]
        for task in tasks:
            task.start()
        try:
            kill(None)
        finally:
            ended.set()
            for task in tasks:
                task.join(WAIT_S)
        self.assertEqual(wrong, [])
        for path, owners in self.owners.items():
            heir = next(name for name in owners if name != victim.name)
            self.assertEqual(self.front.get(path).replica, heir)
        self.assertEqual(
            self.front.metric("ringside_requests_total", role="sidecar", result="error"), 0
        )
        self.assertGreater(self.front.metric("ringside_retries_total"), 0)

    def test_without_any_replica_the_answer_is_503_and_says_why(self):
        for replica in self.replicas:
            replica.kill()
        answer = self.front.get("/page/1")
        self.assertEqual(answer.status, 503)
        self.assertRegex(
            answer.field("Proxy-Status"), "^ringside; error=destination_unavailable; details="
        )
        self.assertEqual(answer.field("Retry-After"), "1")
        self.assertEqual(answer.field("Cache-Control"), "no-store")

    def test_a_silent_replica_is_named_once_in_the_log_and_on_readyz(self):
        """Each core said it, of an address, and where all were silent nothing named them."""
        for replica in self.replicas:
            replica.kill()
        lines = [f"replica {one.name} at {one.address} does not answer" for one in self.replicas]

        def all_told():
            each_in_a_thread(lambda path: self.front.get(path), list(self.owners)[:20])
            return all(line in self.front.readyz().text for line in lines)

        wait_until(all_told, "/readyz to name them")
        wait_until(lambda: all(line in self.front.err for line in lines), "the log to name them")
        self.assertEqual([self.front.err.count(line) for line in lines], [1] * len(lines))
        victim = self.replicas[0]
        self.cache(victim.name, self.source, "--listen", victim.address)
        wait_until(lambda: lines[0] not in self.front.readyz().text, "its return to be seen")
        back = f"replica {victim.name} at {victim.address} answers again"
        wait_until(lambda: back in self.front.err, "the log to tell of its return")

    def test_it_is_not_ready_while_no_replica_answers(self):
        """Nobody took it out of service, and each request was a 503."""

        def status_after_requests() -> int:
            each_in_a_thread(lambda path: self.front.get(path), list(self.owners)[:20])
            return self.front.readyz().status

        for replica in self.replicas[1:]:
            replica.kill()
        first = self.replicas[0]
        line = f"replica {self.replicas[1].name} at "
        wait_until(lambda: status_after_requests() and line in self.front.readyz().text, "news")
        self.assertEqual(self.front.readyz().status, 200, "one of them answers")
        first.kill()
        wait_until(lambda: status_after_requests() == 503, "it not to be ready")
        page = self.front.readyz().text
        self.assertTrue(page.startswith("not ready: no replica answers\n"), page)
        self.assertIn(f"replica {first.name} at {first.address} does not answer", page)
        # Nobody sends it requests now, and it sees for itself.
        self.cache(first.name, self.source, "--listen", first.address)
        wait_until(lambda: self.front.readyz().status == 200, "it to be ready again")

    def test_without_any_replica_the_origin_is_asked_where_that_is_configured(self):
        front = self.sidecar(
            self.replicas, "--without-replica", "origin", "--origin", self.source.url
        )
        for replica in self.replicas:
            replica.kill()
        answer = front.get("/page/1", "81.2.69.1")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.text.split("\n")[0], "GET /page/1 for GB")
        self.assertEqual(answer.cache_status, "ringside; fwd=miss")
        self.assertEqual(front.ask("POST", "/form", b"x").status, 200)
        self.assertEqual(self.source.last().body, b"x")
        self.assertEqual(front.metric("ringside_origin_requests_total", role="sidecar"), 2)

    def test_a_replica_that_comes_back_is_used_again(self):
        victim = self.replicas[0]
        path = next(path for path, owners in self.owners.items() if owners[0] == victim.name)
        victim.kill()
        self.assertEqual(self.front.get(path).replica, self.owners[path][1])
        self.cache(victim.name, self.source, "--listen", victim.address)
        # A probe may have found it gone, and has to find it there again first.
        wait_until(lambda: self.front.get(path).replica == victim.name, "it to be used again")


class StoppedReplica(Tier):
    """It accepts connections (the kernel does) and says nothing."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(2, self.source)
        self.front = self.sidecar(self.replicas, *SOON)
        self.victim, self.other = self.replicas
        told = self.shard(
            [("10.0.0.1", f"/page/{n}") for n in range(40)],
            "--replicas", members(self.replicas),
        )  # fmt: skip
        self.paths = [
            answer["url"] for answer in told if answer["owners"][0] == self.victim.name
        ]

    def test_the_next_owner_answers_within_the_deadline(self):
        before = self.front.get(self.paths[0])  # also for a connection in the pool
        self.assertEqual(before.replica, self.victim.name)
        self.victim.freeze()
        for path in self.paths[:3]:
            answer = self.front.get(path)
            self.assertEqual((answer.status, answer.replica), (200, self.other.name))
        self.victim.signal(signal.SIGCONT)
        wait_until(
            lambda: self.front.get(self.paths[0]).replica == self.victim.name, "its return"
        )

    def test_what_may_not_be_repeated_is_not(self):
        self.victim.freeze()
        answer = self.front.ask("POST", self.paths[0], b"order")
        self.assertEqual(answer.status, 504)
        self.assertIn("error=http_response_timeout", answer.field("Proxy-Status"))
        self.assertEqual(self.source.count(), 0)


class FailingOrigin(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.front = self.sidecar(self.caches(2, self.source))

    def test_down_is_502_and_fresh_hits_are_still_given(self):
        stored = self.front.get("/stored")
        self.source.go_down()
        refused = self.front.get("/missing")
        self.assertEqual(refused.status, 502)
        self.assertRegex(
            refused.field("Proxy-Status"), "^cache-[01]; error=connection_refused; details="
        )
        self.assertRegex(refused.cache_status, "^cache-[01]; fwd=uri-miss$")
        again = self.front.get("/stored")
        self.assertTrue(again.is_hit)
        self.assertEqual(again.body, stored.body)
        self.source.listen()
        self.assertEqual(self.front.get("/missing").status, 200)

    def test_malformed_is_502_and_nothing_is_stored(self):
        for number, (what, raw) in enumerate(MALFORMED_ANSWERS):
            with self.subTest(what):
                path = f"/bad/{number}"

                def answer(turn, raw=raw):
                    turn.send(raw)
                    turn.close()

                self.source.on[path] = answer
                refused = self.front.get(path)
                self.assertEqual(refused.status, 502)
                self.assertRegex(refused.field("Proxy-Status"), "^cache-[01]; error=[a-z_]+")
                del self.source.on[path]
                fetched = self.front.get(path)
                self.assertEqual(fetched.status, 200)
                self.assertFalse(fetched.is_hit)

    def test_a_body_cut_short_is_seen_to_be_and_is_not_stored(self):
        for what, head in (
            ("length", b"Content-Length: 100\r\n\r\n" + b"x" * 50),
            ("chunked", b"Transfer-Encoding: chunked\r\n\r\n32\r\n" + b"x" * 50),
        ):
            for end in ("close", "reset"):
                with self.subTest(what=what, end=end):
                    path = f"/{what}/{end}"

                    def cut(turn, head=head, end=end):
                        turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n" + head)
                        getattr(turn, end)()

                    self.source.on[path] = cut
                    self.assertFalse(is_whole(self.front.address, path))
                    del self.source.on[path]
                    whole = self.front.get(path)
                    self.assertEqual(whole.status, 200)
                    self.assertFalse(whole.is_hit)

    def test_errors_of_the_origin_itself_pass_through(self):
        self.source.on["/err"] = lambda turn: turn.reply(500, b"mine", cache_control="no-store")
        answer = self.front.get("/err")
        self.assertEqual((answer.status, answer.body), (500, b"mine"))
        self.assertIsNone(answer.field("Proxy-Status"))

    def test_a_pooled_connection_that_the_origin_closed_is_no_failure(self):
        def and_close(turn):
            turn.reply()
            turn.close()

        self.source.on["/once"] = and_close
        for n in range(20):
            self.assertEqual(self.front.get(f"/once?{n}").status, 200)

    def test_many_at_once_get_an_answer_from_an_origin_that_is_down(self):
        self.source.go_down()
        answers = each_in_a_thread(lambda n: self.front.get(f"/{n}").status, range(100), 20)
        # 503 once the circuit is open: the origin is spared, and nobody waits for it.
        self.assertEqual(set(answers), {502, 503})


class SilentOrigin(Tier):
    """With the same timeouts everywhere, as one file for a whole tier gives them."""

    def check(self, front, source) -> None:
        source.on["/silent"] = lambda turn: turn.silence()
        answer = front.get("/silent")
        self.assertEqual(answer.status, 504)
        self.assertRegex(
            answer.field("Proxy-Status"), "^cache-[0-3]; error=http_response_timeout; details="
        )
        # The sidecar's wait, begun earlier, ran out first: one replica after the other was taken
        # for silent and asked the origin in vain, and the answer was 503.
        self.assertEqual(source.count("/silent"), 1, "a slow origin is no failed replica")
        self.assertEqual(front.get("/other").status, 200)

    def test_is_504_from_replicas_of_their_own(self):
        source = self.origin()
        self.check(self.sidecar(self.caches(4, source, *SOON), *SOON), source)

    def test_is_504_in_up(self):
        source = self.origin()
        self.check(self.up(4, source, *SOON), source)


HEAD = b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
MALFORMED_ANSWERS = [
    ("garbage", b"\x16\x03\x01 this is no HTTP\r\n\r\n"),
    ("nothing", b""),
    ("half a head", b"HTTP/1.1 200 OK\r\nCache-Con"),
    ("another version", b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("no status", b"HTTP/1.1 OK\r\nContent-Length: 0\r\n\r\n"),
    ("lengths that differ", HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
    ("a signed length", HEAD + b"Content-Length: +1\r\n\r\na"),
    ("length and coding", HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ("an unknown coding", HEAD + b"Transfer-Encoding: gzip\r\n\r\n"),
    ("obs-fold", HEAD + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n"),
    ("bare LF", HEAD + b"X: a\nContent-Length: 0\r\n\r\n"),
    ("a blank before the colon", HEAD + b"Content-Length : 0\r\n\r\n"),
    ("NUL", HEAD + b"X: a\0b\r\nContent-Length: 0\r\n\r\n"),
    ("a head too large", HEAD + b"X: " + b"a" * 40_000 + b"\r\nContent-Length: 0\r\n\r\n"),
]  # fmt: skip


def is_whole(address: str, path: str) -> bool:
    """Whether a client would take what it got for a complete answer of 200."""
    host, port = address.rsplit(":", 1)
    raw = f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    received = b""
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as connection:
        connection.sendall(raw.encode())
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            return False
    head, _, body = received.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200 "):
        return False
    if b"Transfer-Encoding: chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    return b"Content-Length: %d\r\n" % len(body) in head + b"\r\n"


if __name__ == "__main__":
    unittest.main()
