"""Requests between members over a link, and what happens where there is none."""

import concurrent.futures
import signal
import struct
import threading
import unittest

from support import Client, Tier, each_in_a_thread, wait_until
from support.peers import GB, Peers
from support.program import WITHOUT_LINK
from support.wire import Wire

CLIENTS = 40
SWITCH = (
    b"OPTIONS * HTTP/1.1\r\nHost: cache-0\r\nMax-Forwards: 0\r\n"
    b"Connection: Upgrade\r\nUpgrade: ringside-link/1\r\n\r\n"
)


def frame(kind: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack("<IBBH", len(payload), kind, 0, stream) + payload


def linked(front, links: int = 1):
    """Once the front has its links: the answers before that have told it of them."""

    def is_there() -> bool:
        front.get("/to-tell-of-links")
        return front.metric("ringside_links", role="sidecar") >= links

    wait_until(is_there, "the links to be there")
    return front


@unittest.skipIf(WITHOUT_LINK, "without links there is nothing to see")
class Linked(Tier):
    def test_many_clients_share_one_connection(self):
        origin = self.origin()
        replica = self.cache("cache-0", origin)
        front = linked(self.sidecar([replica], "--threads", 1))
        before = replica.metric("ringside_connections_total")

        def ask(_):
            with Client(front.address) as client:
                return [client.get(f"/{number}").status for number in range(20)]

        for statuses in each_in_a_thread(ask, range(CLIENTS)):
            self.assertEqual(statuses, [200] * 20)
        self.assertEqual(origin.count(), 20 + 1)
        self.assertEqual(replica.metric("ringside_links"), 1)
        # What took too long to be there whole went over a few others.
        self.assertLess(replica.metric("ringside_connections_total") - before, CLIENTS)

    def test_what_it_does_not_carry_is_fetched_once(self):
        origin = self.origin()
        replica = self.cache("cache-0", origin, "--threads", 3)
        front = linked(self.sidecar([replica], "--threads", 1))
        body = b"x" * 300_000
        origin.on["/large"] = lambda turn: turn.reply(body=body)
        origin.on["/passed"] = lambda turn: turn.reply(body=body, cache_control="no-store")
        for number in range(12):
            for target in (f"/large?{number}", f"/passed?{number}"):
                self.assertEqual(front.get(target).body, body)
                self.assertEqual(origin.count(target), 1, target)
        self.assertGreaterEqual(front.metric("ringside_link_tickets_total", role="sidecar"), 24)

    def test_a_body_that_is_long_in_coming_streams(self):
        origin, gate = self.origin(), threading.Event()
        self.addCleanup(gate.set)

        def in_two_pieces(turn):
            turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 10\r\n\r\nfirst")
            gate.wait()
            turn.send(b"after")

        origin.on["/streamed"] = in_two_pieces
        front = linked(self.sidecar([self.cache("cache-0", origin)], "--threads", 1))
        with Wire(front.address) as client:
            client.send(b"GET /streamed HTTP/1.1\r\nHost: a\r\n\r\n")
            client.read_to(b"\r\n\r\n")
            self.assertEqual(client.read(5), b"first")
            gate.set()
            self.assertEqual(client.read(5), b"after")
        self.assertEqual(origin.count("/streamed"), 1)

    def test_a_replica_without_links_is_spoken_to_in_http(self):
        origin = self.origin()
        replicas = [self.cache("cache-0", origin, "--without-link"), self.cache("cache-1", origin)]
        front = linked(self.sidecar(replicas, "--threads", 1))
        for turn in range(2):
            for number in range(30):
                self.assertEqual(front.get(f"/{number}").is_hit, turn == 1)
        self.assertEqual(replicas[0].metric("ringside_links"), 0)
        self.assertEqual(replicas[1].metric("ringside_links"), 1)

    def test_what_makes_no_sense_closes_one_link_and_no_other(self):
        origin = self.origin()
        replica = self.cache("cache-0", origin)
        front = linked(self.sidecar([replica], "--threads", 1))
        wrong = {
            "an unknown type": frame(99, 0),
            "too large": struct.pack("<IBBH", 1 << 30, 1, 0, 0),
            "no request": frame(1, 0, b"nothing"),
            "an answer": frame(2, 0),
        }
        for number, (name, sent) in enumerate(wrong.items(), 1):
            with self.subTest(name), Wire(replica.address) as member:
                member.send(SWITCH)
                self.assertIn(b" 101 ", member.read_to(b"\r\n\r\n"))
                member.send(sent)
                self.assertEqual(member.read_to_end(), b"")
                wait_until(
                    lambda n=number: replica.metric("ringside_link_faults_total") == n, "its count"
                )
        self.assertEqual(front.get("/a").status, 200)
        self.assertEqual(replica.metric("ringside_links"), 1)
        self.assertEqual(front.metric("ringside_link_faults_total"), 0)
        wait_until(lambda: "the link of somebody" in replica.err, "the reason in the log")


@unittest.skipIf(WITHOUT_LINK, "without links there is nothing to see")
class WithKeys(Peers):
    def test_what_is_in_hand_at_a_drain_is_answered_though_a_link_does_not_carry_it(self):
        origin, gate = self.source, threading.Event()
        body = b"x" * 300_000

        def late(turn):
            gate.wait()
            turn.reply(body=body, cache_control="no-store")

        origin.on["/late"] = late
        replica = self.replica("cache-0")
        front = linked(self.ready(self.front_of([replica], None, "--threads", 1)))
        targets = [f"/late?{number}" for number in range(4)]

        def says_close() -> bool:
            probe = replica.ask("OPTIONS", "*", fields={"Host": "a", "Max-Forwards": "0"})
            return probe.field("Connection") == "close"

        with concurrent.futures.ThreadPoolExecutor() as clients:
            answers = [clients.submit(front.get, target) for target in targets]
            try:
                for target in targets:
                    origin.wait_for(target)
                replica.signal(signal.SIGTERM)
                wait_until(says_close, "the drain to begin")
            finally:
                gate.set()
            for answer in answers:
                self.assertEqual((answer.result().status, answer.result().body), (200, body))
        for target in targets:
            self.assertEqual(origin.count(target), 1)
        self.assertEqual(replica.wait(), 0)

    def test_strangers_have_no_link(self):
        replica = self.replica("cache-0")
        front = self.ready(self.front_of([replica]))
        self.assertEqual(front.get("/a", GB).status, 200)
        with Wire(replica.address) as stranger:
            stranger.send(SWITCH)
            self.assertNotIn(b" 101 ", stranger.read_to(b"\r\n\r\n"))


if __name__ == "__main__":
    unittest.main()
