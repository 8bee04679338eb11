"""An HTTP server of the tests' own: it counts, remembers, and misbehaves where it is told to."""

import collections
import dataclasses
import socket
import ssl
import struct
import threading
import zlib

from .listener import Listener
from .waiting import WAIT_S


@dataclasses.dataclass
class Request:
    method: str
    target: str
    fields: list[tuple[str, str]]
    body: bytes
    raw: bytes  # the head as it came

    def field(self, name: str):
        """All lines of that name, joined; None where there is none."""
        values = [value for field, value in self.fields if field.lower() == name.lower()]
        return ", ".join(values) if values else None


class Turn:
    """One request and the connection to answer it on."""

    def __init__(self, origin: "Origin", connection: socket.socket, request: Request):
        self.origin, self.connection, self.request = origin, connection, request

    def send(self, raw: bytes) -> None:
        self.connection.sendall(raw)

    def reply(self, status: int = 200, body: bytes | None = None, **fields: str) -> None:
        body = page(self.request) if body is None else body
        fields = {"cache_control": "max-age=3600"} | fields
        lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        head = f"HTTP/1.1 {status} Reason\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
        self.send(head.encode() + (b"" if self.request.method == "HEAD" else body))

    def close(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        # A socket that is closed with this option answers whatever comes with a reset; the file
        # that reads from it must end first.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise ConnectionAbortedError

    def silence(self) -> None:
        """Until the other side gives up or the origin ends."""
        self.connection.settimeout(WAIT_S)
        self.connection.recv(1)


def page(request: Request) -> bytes:
    """What the origin says of a target to a country: the same at every time."""
    said = f"{request.method} {request.target} for {request.field('X-Country')}\n"
    lines = 1 + zlib.crc32(said.encode()) % 40
    return said.encode() * lines


def page_for(country: str, target: str) -> bytes:
    """That, for a GET, whoever asks it."""
    return page(Request("GET", target, [("X-Country", country)], b"", b""))


class Origin:
    """Answers as `page` with max-age=3600, but where `on[path]` is a function of a Turn."""

    def __init__(self, tls: ssl.SSLContext | None = None):
        self.on = {}
        self.requests: list[Request] = []
        self.connections = 0  # accepted, ever
        self._tls = tls
        self._changed = threading.Condition()
        self._connections: set[socket.socket] = set()
        self._listener = Listener(self._serve)
        self.port = self._listener.port
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"https://localhost:{self.port}" if tls else f"http://{self.address}"
        self.listen()

    def listen(self) -> None:
        """Begins to answer, or again after go_down()."""
        self._listener.listen()

    def go_down(self) -> None:
        """From now on connections are refused; the port stays ours."""
        self._listener.refuse(self._end_connections)

    def stop(self) -> None:
        self._listener.stop(self._end_connections)

    def _end_connections(self) -> None:
        with self._changed:
            connections = list(self._connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed already

    def count(self, target: str | None = None, country: str | None = None) -> int:
        """Requests for the target, told that country; without one, for all of them."""
        return sum(
            1
            for request in self.seen()
            if target in (None, request.target)
            and country in (None, request.field("X-Country"))
        )

    def counts(self) -> collections.Counter:
        """Requests by target and country."""
        return collections.Counter((r.target, r.field("X-Country")) for r in self.seen())

    def seen(self) -> list[Request]:
        with self._changed:
            return list(self.requests)

    def last(self) -> Request:
        return self.seen()[-1]

    def wait_for(self, target: str, count: int = 1) -> None:
        def arrived():
            return sum(1 for request in self.requests if request.target == target) >= count

        with self._changed:
            if not self._changed.wait_for(arrived, WAIT_S):
                raise AssertionError(f"the origin was not asked for {target} {count} times")

    def _serve(self, connection: socket.socket) -> None:
        with self._changed:
            self.connections += 1
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with self._changed:
                self._connections.add(connection)
            with connection, connection.makefile("rb") as stream:
                while request := read_request(stream):
                    with self._changed:
                        self.requests.append(request)
                        self._changed.notify_all()
                    path = request.target.partition("?")[0]
                    turn = Turn(self, connection, request)
                    self.on.get(path, Turn.reply)(turn)
        except (OSError, ValueError):
            pass  # the other side went away, or we are stopping
        finally:
            with self._changed:
                self._connections.discard(connection)


def read_request(stream) -> Request | None:
    """The next request; None at the end, also where it comes in the middle of one."""
    raw = b""
    while not raw.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        raw += line
    first, *lines = raw.decode("latin-1")[:-4].split("\r\n")
    method, target, _ = first.split(" ")
    fields = [tuple(line.split(": ", 1)) for line in lines]
    request = Request(method, target, fields, b"", raw)
    if request.field("Transfer-Encoding"):
        while size := int(stream.readline() or b"0", 16):
            request.body += stream.read(size)
            stream.readline()
        if stream.readline() != b"\r\n":
            return None
    elif length := int(request.field("Content-Length") or 0):
        request.body = stream.read(length)
        if len(request.body) < length:
            return None
    return request
