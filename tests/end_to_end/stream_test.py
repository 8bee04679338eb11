"""Bodies of any size pass through both hops in bounded memory, at the pace of who takes them.

Prints what it measures.
"""

import contextlib
import os
import socket
import threading
import time
import unittest

from support import WAIT_S, Tier, each_in_a_thread, wait_until
from support.memory import MIB, Growth, is_sanitized
from support.wire import Wire, request

SANITIZED = is_sanitized()
HUGE_BYTES = 128 * MIB if SANITIZED else 2048 * MIB
LARGE_BYTES = 64 * MIB if SANITIZED else 128 * MIB
CHUNK_BYTES = 16 * MIB
SENT_AT_ONCE_BYTES = 256 * 1024
MOST_GROWTH_BYTES = 64 * MIB
# What may be under way to one who takes nothing: the sockets of three connections, both ends, as
# large as kernels let them grow by themselves, and our own buffers.
MOST_UNDER_WAY_BYTES = 64 * MIB

BEHAVIOURS = {"not storable": "no-store", "storable but too large": "max-age=60"}


class Zeros:
    """Sends zeros at the kernel's speed, and counts them."""

    def __init__(self):
        self.sent_bytes = 0
        self._file = os.memfd_create("zeros")
        os.ftruncate(self._file, CHUNK_BYTES)

    def close(self) -> None:
        os.close(self._file)

    def send(self, connection: socket.socket, count: int) -> None:
        connection.setblocking(True)  # a descriptor with a timeout is a non-blocking one
        while count > 0:
            sent = os.sendfile(connection.fileno(), self._file, 0, min(count, SENT_AT_ONCE_BYTES))
            count -= sent
            self.sent_bytes += sent

    def send_body(self, connection: socket.socket, count: int, chunked: bool) -> None:
        if not chunked:
            self.send(connection, count)
            return
        for _ in range(count // CHUNK_BYTES):
            connection.sendall(b"%x\r\n" % CHUNK_BYTES)
            self.send(connection, CHUNK_BYTES)
            connection.sendall(b"\r\n")
        connection.sendall(b"0\r\n\r\n")


def framing(count: int, chunked: bool) -> str:
    return "Transfer-Encoding: chunked" if chunked else f"Content-Length: {count}"


def skip(wire: Wire, count: int) -> int:
    """Takes so many bytes without looking at them; returns how many came."""
    kept = min(count, len(wire.buffer))
    wire.buffer = wire.buffer[kept:]
    taken = kept
    space = bytearray(4 * MIB)
    wire.socket.setblocking(True)
    while taken < count:
        most = min(count - taken, len(space))
        received = wire.socket.recv_into(space, most, socket.MSG_TRUNC)  # dropped uncopied
        if received == 0:
            break
        taken += received
    return taken


def skip_body(wire: Wire, count: int, chunked: bool) -> int:
    """The body's size, from its framing."""
    if not chunked:
        return skip(wire, count)
    taken = 0
    while size := int(wire.read_to(b"\r\n"), 16):
        taken += skip(wire, size)
        wire.read_to(b"\r\n")
    wire.read_to(b"\r\n")
    return taken


class Streams(Tier):
    def setUp(self):
        super().setUp()
        self.zeros = self.some_zeros()
        self.stage_ = self.stage()
        self.replica = self.cache("cache-0", self.stage_)
        self.front = self.sidecar([self.replica])
        self.growth = Growth(self.front, self.replica)

    def some_zeros(self) -> Zeros:
        zeros = Zeros()
        self.addCleanup(zeros.close)
        return zeros

    def play_origin(self, play) -> threading.Thread:
        """The next connection is handed to play(wire, head); a failure is one of the test."""

        def run():
            with self.stage_.accept() as wire, contextlib.suppress(OSError):
                play(wire, wire.read_to(b"\r\n\r\n"))

        task = threading.Thread(target=run, daemon=True)
        task.start()
        return task

    @staticmethod
    def answering(zeros: Zeros, count: int, chunked: bool, cache_control: str):
        def play(wire, _):
            wire.send(
                f"HTTP/1.1 200 OK\r\nCache-Control: {cache_control}\r\nConnection: close\r\n"
                f"{framing(count, chunked)}\r\n\r\n".encode()
            )
            zeros.send_body(wire.socket, count, chunked)

        return play

    def download(self, count: int, chunked: bool, cache_control: str) -> None:
        origin = self.play_origin(self.answering(self.zeros, count, chunked, cache_control))
        with Wire(self.front.address) as client:
            client.send(request("GET", f"/{count}"))
            head = client.head()
            self.assertEqual(head.status, 200)
            self.assertEqual(skip_body(client, count, chunked), count)
        origin.join(WAIT_S)

    def upload(self, count: int, chunked: bool) -> None:
        received = []

        def play(wire, _):
            received.append(skip_body(wire, count, chunked))
            wire.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

        origin = self.play_origin(play)
        with Wire(self.front.address) as client:
            client.send(request("POST", "/", framing(count, chunked)))
            self.zeros.send_body(client.socket, count, chunked)
            self.assertEqual(client.answer().status, 200)
        origin.join(WAIT_S)
        self.assertEqual(received, [count])

    def tell(self, what: str, began: float) -> None:
        grown = self.growth.bytes()
        print(
            f"{what}: {time.monotonic() - began:.1f} s, grown by",
            *(f"{bytes_ / MIB:.1f} MiB" for bytes_ in grown),
            "(sidecar, replica)",
            flush=True,
        )
        if not SANITIZED:  # these keep what was freed
            self.assertLess(max(grown), MOST_GROWTH_BYTES)


class Sizes(Streams):
    def test_answers_of_any_size_cost_no_memory(self):
        for what, cache_control in BEHAVIOURS.items():
            for chunked in (False, True):
                # One huge body of each behaviour, each in another framing.
                count = HUGE_BYTES if chunked == (what != "not storable") else LARGE_BYTES
                with self.subTest(what=what, chunked=chunked):
                    began = time.monotonic()
                    self.download(count, chunked, cache_control)
                    coding = "chunked" if chunked else "with a length"
                    self.tell(f"answer of {count // MIB} MiB, {coding}, {what}", began)
        self.assertEqual(self.replica.metric("ringside_store_entries"), 0)

    def test_uploads_of_any_size_cost_no_memory(self):
        for chunked, count in ((False, HUGE_BYTES), (True, LARGE_BYTES)):
            with self.subTest(chunked=chunked):
                began = time.monotonic()
                self.upload(count, chunked)
                coding = "chunked" if chunked else "with a length"
                self.tell(f"upload of {count // MIB} MiB, {coding}", began)


class Backpressure(Streams):
    """One who takes 10 KiB a second: the rest of a body stays with who sends it. That he is served
    for as long as it takes is a matter of the simulation."""

    SECONDS = 8
    MOST_GROWTH_BYTES = 16 * MIB  # three bodies; one of them is held until it is seen to be too large

    def is_cut(self, wire: Wire) -> bool:
        """Takes 10 KiB a second; whether that came to an end."""
        try:
            for _ in range(self.SECONDS * 10):
                if skip(wire, 1024) < 1024:
                    return True
                time.sleep(0.1)  # this is what is slow; nothing is waited for
        except ConnectionResetError:
            return True
        return False

    def begin_download(self, zeros: Zeros, cache_control: str) -> tuple[Wire, threading.Thread]:
        origin = self.play_origin(self.answering(zeros, HUGE_BYTES, False, cache_control))
        client = Wire(self.front.address)
        self.addCleanup(client.close)
        client.send(request("GET", f"/{cache_control}"))
        self.assertEqual(client.head().status, 200)
        return client, origin

    def begin_upload(self, zeros: Zeros) -> tuple[Wire, threading.Thread]:
        client = Wire(self.front.address)
        self.addCleanup(client.close)
        client.send(request("POST", "/", framing(HUGE_BYTES, False)))
        origin = self.stage_.accept()
        self.addCleanup(origin.close)
        origin.read_to(b"\r\n\r\n")

        def send():
            with contextlib.suppress(OSError):
                zeros.send(client.socket, HUGE_BYTES)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        return origin, sender

    def test_a_slow_receiver_costs_a_fixed_buffer(self):
        zeros = {what: self.some_zeros() for what in (*BEHAVIOURS, "upload")}
        streams = [
            self.begin_download(zeros[what], said) for what, said in BEHAVIOURS.items()
        ] + [self.begin_upload(zeros["upload"])]
        cut = each_in_a_thread(self.is_cut, [receiver for receiver, _ in streams])
        self.assertEqual(dict(zip(zeros, cut)), dict.fromkeys(zeros, False), "who was cut")
        for what, sent in zeros.items():
            print(f"{what}: {sent.sent_bytes / MIB:.1f} MiB under way to who takes 10 KiB/s")
            self.assertLess(sent.sent_bytes, MOST_UNDER_WAY_BYTES)
        grown = self.growth.bytes()
        print("grown by", *(f"{bytes_ / MIB:.1f} MiB" for bytes_ in grown), "(sidecar, replica)")
        if not SANITIZED:
            self.assertLess(max(grown), self.MOST_GROWTH_BYTES)
        for receiver, _ in streams:
            receiver.close()
        for _, sender in streams:  # who sends is told, and nothing is fetched to the end for nobody
            sender.join(WAIT_S)
            self.assertFalse(sender.is_alive())
        for sent in zeros.values():
            self.assertLess(sent.sent_bytes, HUGE_BYTES)
        for process in (self.front, self.replica):
            wait_until(lambda p=process: p.connections() == 0, "it to be over")


if __name__ == "__main__":
    unittest.main()
