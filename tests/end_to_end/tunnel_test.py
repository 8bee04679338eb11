"""WebSocket through both hops: after 101 a connection is a tunnel, each way for itself."""

import base64
import contextlib
import hashlib
import os
import signal
import threading
import unittest

from support import WAIT_S, Tier, wait_until
from support.wire import Wire, request

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455 §1.3
PIECE_BYTES = 65536
LARGE_BYTES = 16 * 1024 * 1024


def accept_key(key: str) -> str:
    return base64.b64encode(hashlib.sha1(key.encode() + MAGIC).digest()).decode()


def frame(text: bytes, masked: bool) -> bytes:
    """A text frame of fewer than 126 bytes (RFC 6455 §5.2)."""
    if not masked:
        return bytes([0x81, len(text)]) + text
    mask = os.urandom(4)
    return bytes([0x81, 0x80 | len(text)]) + mask + unmasked(text, mask)


def unmasked(text: bytes, mask: bytes) -> bytes:
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(text))


def asking(target: str, key: str = "dGhlIHNhbXBsZSBub25jZQ==", *lines: str) -> bytes:
    return request(
        "GET", target, "Connection: keep-alive, Upgrade", "Upgrade: websocket",
        f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *lines,
    )  # fmt: skip


class Tunnel(Tier):
    def setUp(self):
        super().setUp()
        self.stage_ = self.stage()
        self.replica = self.cache("cache-0", self.stage_)

    def front(self, *options):
        return self.sidecar([self.replica], *options)

    @contextlib.contextmanager
    def open(self, front):
        """Both ends of a tunnel."""
        with Wire(front.address) as client:
            client.send(asking("/ws"))
            with self.stage_.accept() as server:
                self.switch(server)
                self.assertEqual(client.head().status, 101)
                yield client, server

    @staticmethod
    def switch(server: Wire) -> bytes:
        head = server.read_to(b"\r\n\r\n")
        key = next(
            line[19:] for line in head.decode().split("\r\n") if line.startswith("Sec-WebSocket-Key")
        )
        server.send(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept_key(key).encode()
        )
        return head

    def test_frames_pass_both_ways(self):
        key = base64.b64encode(os.urandom(16)).decode()
        with Wire(self.front().address) as client:
            client.send(asking("/chat?room=1", key, "Sec-WebSocket-Protocol: chat"))
            with self.stage_.accept() as server:
                head = self.switch(server)
                self.assertTrue(head.startswith(b"GET /chat?room=1 HTTP/1.1\r\n"))
                for line in (b"Upgrade: websocket", b"Sec-WebSocket-Protocol: chat"):
                    self.assertIn(b"\r\n" + line + b"\r\n", head)
                self.assertRegex(head, rb"(?i)\r\nconnection: upgrade\r\n")
                told = client.head()
                self.assertEqual(told.status, 101)
                self.assertEqual(told.field("Sec-WebSocket-Accept"), accept_key(key))
                self.assertEqual(told.field("Upgrade"), "websocket")
                self.assertEqual(told.field("Connection").lower(), "upgrade")
                for n in range(20):
                    said = b"hello %d" % n
                    client.send(frame(said, masked=True))
                    raw = server.read(6 + len(said))
                    self.assertEqual(unmasked(raw[6:], raw[2:6]), said)
                    server.send(frame(said.upper(), masked=False))
                    self.assertEqual(client.read(2 + len(said))[2:], said.upper())

    def test_what_is_sent_along_with_the_heads_is_not_lost(self):
        with Wire(self.front().address) as client:
            client.send(asking("/ws") + b"early")
            with self.stage_.accept() as server:
                server.read_to(b"\r\n\r\n")
                server.send(
                    b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly too"
                )
                self.assertEqual(client.head().status, 101)
                self.assertEqual(client.read(9), b"early too")
                self.assertEqual(server.read(5), b"early")

    def test_large_amounts_pass_both_ways_at_once(self):
        sent = os.urandom(PIECE_BYTES) * (LARGE_BYTES // PIECE_BYTES)
        with self.open(self.front()) as (client, server):
            senders = [
                threading.Thread(target=wire.send, args=(sent,)) for wire in (client, server)
            ]
            received = {}

            def receive(wire):
                received[wire] = wire.read(LARGE_BYTES)

            receivers = [threading.Thread(target=receive, args=(w,)) for w in (client, server)]
            for task in senders + receivers:
                task.start()
            for task in senders + receivers:
                task.join(WAIT_S)
            self.assertTrue(received[client] == sent and received[server] == sent)

    def test_each_side_may_end_before_the_other(self):
        front = self.front()
        for first_is_client in (True, False):
            with self.subTest(first_is_client=first_is_client), self.open(front) as ends:
                first, second = ends if first_is_client else reversed(ends)
                first.send(b"last words")
                first.end_sending()
                self.assertEqual(second.read_to_end(), b"last words")
                second.send(b"x" * 1_000_000)
                second.end_sending()
                self.assertEqual(len(first.read_to_end()), 1_000_000)

    def test_a_reset_of_one_side_ends_the_other(self):
        front = self.front()
        for first_is_client in (True, False):
            with self.subTest(first_is_client=first_is_client), self.open(front) as ends:
                first, second = ends if first_is_client else reversed(ends)
                second.send(b"unread")
                first.read(1)
                first.close()  # with bytes unread: a reset
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    second.send(b"x" * PIECE_BYTES)
                    self.assertEqual(second.read_to_end(), b"")
        wait_until(lambda: front.metric("ringside_connections") == 0, "the tunnels to end")
        wait_until(lambda: self.replica.connections() == 0, "there too")

    def test_a_refusal_is_an_answer_like_any_other(self):
        with Wire(self.front().address) as client:
            client.send(asking("/ws"))
            with self.stage_.accept() as server:
                for status in (403, 200):
                    server.read_to(b"\r\n\r\n")
                    server.send(b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\nno" % status)
                    answer = client.answer()
                    self.assertEqual((answer.status, answer.body), (status, b"no"))
                    self.assertIsNone(answer.field("Upgrade"))
                    client.send(asking("/ws"))  # the connections are HTTP's still

    def test_other_protocols_and_101_unasked_are_not_passed_on(self):
        with Wire(self.front().address) as client:
            client.send(
                request(
                    "GET", "/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
                    "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
                )
            )  # fmt: skip
            with self.stage_.accept() as server:
                head = server.read_to(b"\r\n\r\n")
                self.assertNotRegex(head, rb"(?i)\r\n(upgrade|http2-settings):")
                self.assertNotRegex(head, rb"(?i)\r\nconnection:.*upgrade")
                server.send(
                    b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nHTTP/1.1 200"
                )
                self.assertEqual(client.answer().status, 502)

    def test_a_body_or_another_method_does_not_become_a_tunnel(self):
        with Wire(self.front().address) as client:
            client.send(asking("/ws").replace(b"GET", b"POST", 1).replace(
                b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\nabc"))  # fmt: skip
            with self.stage_.accept() as server:
                self.assertNotIn(b"Upgrade: websocket", server.read_to(b"\r\n\r\n"))
                server.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                self.assertEqual(client.answer().status, 200)

    def test_a_drain_waits_for_a_tunnel_as_for_an_answer(self):
        front = self.front()
        with self.open(front) as (client, server):
            front.signal(signal.SIGTERM)
            wait_until(front.refuses_connections, "the listeners to close")
            client.send(b"still here")
            self.assertEqual(server.read(10), b"still here")
            server.send(b"me too")
            self.assertEqual(client.read(6), b"me too")
            self.assertIsNone(front.child.poll(), "it did not wait")
            client.end_sending()
            server.end_sending()
            self.assertEqual(client.read_to_end(), b"")
        self.assertEqual(front.wait(), 0)

    def test_the_drain_deadline_ends_a_tunnel(self):
        front = self.front("--drain-deadline", "300ms")
        with self.open(front) as (client, server):
            front.signal(signal.SIGTERM)
            self.assertEqual(front.wait(), 0)
            for wire in (client, server):
                self.assertTrue(wire.is_closed())


if __name__ == "__main__":
    unittest.main()
