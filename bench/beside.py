"""Clients that are not wrk: a thousand followers of one miss, and what goes on beside hits."""

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator

from load import Told, body_of
from processes import BenchError
from slow_origin import DELAY_S

FOLLOWED_BYTES = 1024
PATIENCE_S = 20
LARGE_BYTES = 1 << 30
LARGE_PACE_BYTES_S = 100 * 1024 * 1024
ECHO_PAUSE_S = 0.01


def request(target: str, *fields: str) -> bytes:
    lines = [f"GET {target} HTTP/1.1", "Host: 127.0.0.1", *fields, "", ""]
    return "\r\n".join(lines).encode()


class Follower:
    """A connection that asks for what many others ask for in the same moment."""

    def __init__(self, port: int):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.came = b""

    def ask(self, target: str) -> None:
        self.came = b""
        self.socket.sendall(request(target))

    def read(self) -> bool | None:
        """Whether the answer is right, None while it is not all there."""
        got = self.socket.recv(65536)
        self.came += got
        head, found, body = self.came.partition(b"\r\n\r\n")
        if not got:
            return False
        if not found or len(body) < FOLLOWED_BYTES:
            return None
        return head.startswith(b"HTTP/1.1 200") and body == body_of(FOLLOWED_BYTES)


def ask_all(followers: list[Follower], target: str) -> tuple[list[float], int]:
    """(how long after the origin's delay each right answer was there in us, wrong ones)"""
    times: list[float] = []
    wrong = 0
    with selectors.DefaultSelector() as selector:
        began = time.monotonic()
        for follower in followers:
            follower.ask(target)
            selector.register(follower.socket, selectors.EVENT_READ, follower)
        while selector.get_map() and time.monotonic() < began + PATIENCE_S:
            for key, _ in selector.select(1):
                right = key.data.read()
                if right is None:
                    continue
                selector.unregister(key.data.socket)
                wrong += not right
                if right:
                    times.append((time.monotonic() - began - DELAY_S) * 1e6)
        wrong += len(selector.get_map())
    return times, wrong


def share(values: list[float], part: float) -> float | None:
    """The smallest value that this part of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else None


def follow(port: int, count: int, salt: str, seconds: int) -> tuple[Told, int]:
    """One miss after the other, each of all followers. Also tells how many there were."""
    times: list[float] = []
    wrong = misses = 0
    followers = []
    try:
        followers = [Follower(port) for _ in range(count)]
        began = time.monotonic()
        while time.monotonic() < began + seconds and not wrong:
            misses += 1
            right, failed = ask_all(followers, f"/slow/{salt}-{misses}")
            times += right
            wrong += failed
    except OSError as error:
        raise BenchError(f"a follower: {error}") from error
    finally:
        for follower in followers:
            follower.socket.close()
    told = Told(len(times), (time.monotonic() - began) * 1e6, share(times, 0.5), share(times, 0.99),
                share(times, 0.999), wrong)
    return told, misses


class Beside(threading.Thread):
    """Something that goes through the servers until it is told to stop."""

    def __init__(self, port: int):
        super().__init__()
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
        self.over = threading.Event()
        self.failed = ""
        self.times: list[float] = []
        self.bytes = 0

    def run(self) -> None:
        try:
            while not self.over.is_set():
                self.step()
        except OSError as error:
            self.failed = str(error)
        finally:
            self.socket.close()

    def step(self) -> None:
        raise NotImplementedError


class Echo(Beside):
    """A WebSocket that says something a hundred times a second and waits for the same to come."""

    FRAME = b"\x82\x88" + bytes(4) + b"ringside"  # binary, 8 bytes, masked with zeros

    def __init__(self, port: int, _: int):
        super().__init__(port)
        self.socket.sendall(request("/echo", "Connection: Upgrade", "Upgrade: websocket",
                                    "Sec-WebSocket-Version: 13",
                                    "Sec-WebSocket-Key: cmluZ3NpZGUgYmVuY2hlcw=="))
        head = b""
        while b"\r\n\r\n" not in head and (got := self.socket.recv(4096)):
            head += got
        if not head.startswith(b"HTTP/1.1 101"):
            raise BenchError(f"no WebSocket: {head[:100]!r}")

    def step(self) -> None:
        began = time.monotonic()
        self.socket.sendall(self.FRAME)
        missing = len(self.FRAME)
        while missing:
            got = len(self.socket.recv(missing))
            if not got:
                raise OSError("the WebSocket was closed")
            missing -= got
        self.times.append((time.monotonic() - began) * 1e6)
        self.over.wait(ECHO_PAUSE_S)


class Large(Beside):
    """Reads a body of 1 GiB, in twice the time of a round or more, so that it lasts."""

    def __init__(self, port: int, seconds: int):
        super().__init__(port)
        self.pace = min(LARGE_PACE_BYTES_S, LARGE_BYTES / 2 / seconds)
        self.socket.sendall(request("/large"))
        self.began = time.monotonic()

    def step(self) -> None:
        got = len(self.socket.recv(1 << 18))
        if not got:
            raise OSError(f"the large body ended after {self.bytes} bytes")
        self.bytes += got
        early = self.began + self.bytes / self.pace - time.monotonic()
        if early > 0:
            self.over.wait(early)


@contextlib.contextmanager
def beside(what: str, port: int, seconds: int) -> Iterator[Beside | None]:
    if not what:
        yield None
        return
    try:
        running = {"websocket": Echo, "large": Large}[what](port, seconds)
    except OSError as error:
        raise BenchError(f"{what}: {error}") from error
    running.start()
    try:
        yield running
    finally:
        running.over.set()
        running.join()


def told_beside(what: str, running: Beside | None) -> str:
    if running is None:
        return ""
    if running.failed:
        return f"{what}: {running.failed}"
    if what == "websocket" and running.times:
        p50, p99 = share(running.times, 0.5), share(running.times, 0.99)
        return f"websocket: {len(running.times)} echoes, p50 {p50:.0f} us, p99 {p99:.0f} us"
    return f"{what}: {running.bytes / 2**20:.0f} MiB read"
