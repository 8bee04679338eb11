"""Requests at a steady rate, each of which is timed: to see the moment at which one waits."""

import selectors
import socket
import threading
import time

CONNECTIONS = 32
EVERY_S = 0.001
END_OF_HEAD = b"\r\n\r\n"


def connect(port: int, source: str = "127.0.0.1") -> socket.socket:
    made = socket.socket()
    made.settimeout(10)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if source != "127.0.0.1":
        made.bind((source, 0))
    made.connect(("127.0.0.1", port))
    return made


def read_answer(connection: socket.socket) -> bool:
    """Of a small answer: whether it is a 200."""
    came = b""
    while END_OF_HEAD not in came:
        got = connection.recv(65536)
        if not got:
            return False
        came += got
    return came.startswith(b"HTTP/1.1 200")


class Prober:
    """A moment at which all connections are busy is not forgotten: what its request waits for one
    counts."""

    def __init__(self, port: int, targets: list[str]):
        self.requests = [f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
                         for target in targets]
        self.selector = selectors.DefaultSelector()
        self.idle = [connect(port) for _ in range(CONNECTIONS)]
        self.due: dict[socket.socket, float] = {}
        for each in self.idle:
            self.selector.register(each, selectors.EVENT_READ)
        self.worst_s = 0.0  # since it was set
        self.failed = 0
        self.asked = 0

    def ask(self, due: float) -> None:
        connection = self.idle.pop()
        self.due[connection] = due
        connection.send(self.requests[self.asked % len(self.requests)])
        self.asked += 1

    def take_answers(self, wait_s: float) -> None:
        for key, _ in self.selector.select(wait_s):
            if not read_answer(key.fileobj):
                self.failed += 1
            self.worst_s = max(self.worst_s, time.monotonic() - self.due.pop(key.fileobj))
            self.idle.append(key.fileobj)

    def run(self, done: threading.Event) -> None:
        due = time.monotonic()
        while not done.is_set() or self.due:
            while not done.is_set() and due <= time.monotonic() and self.idle:
                self.ask(due)
                due += EVERY_S
            self.take_answers(max(0.0, due - time.monotonic()) if self.idle else 1.0)
