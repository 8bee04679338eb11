"""Connections whose every byte the test chooses and sees, as a client or as an origin."""

import re
import socket

from .client import Response
from .waiting import WAIT_S

PIECE_BYTES = 65536


class Wire:
    """One connection: to an address (`source`: from which), or one that was accepted."""

    def __init__(
        self, address: str, accepted: socket.socket | None = None, source: str = "127.0.0.1"
    ):
        if accepted is None:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)), WAIT_S, (source, 0))
        else:
            self.socket = accepted
        self.socket.settimeout(WAIT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self.socket.close()

    def send(self, raw: bytes) -> None:
        self.socket.sendall(raw)

    def end_sending(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def _more(self) -> bool:
        piece = self.socket.recv(PIECE_BYTES)
        self.buffer += piece
        return bool(piece)

    def read(self, count: int) -> bytes:
        """So many bytes, or fewer where the other side ends before."""
        pieces = [self.buffer]
        missing = count - len(self.buffer)
        while missing > 0 and (piece := self.socket.recv(min(missing, 1 << 20))):
            pieces.append(piece)
            missing -= len(piece)
        whole = b"".join(pieces)
        self.buffer = whole[count:]
        return whole[:count]

    def read_to(self, end: bytes) -> bytes:
        while end not in self.buffer:
            if not self._more():
                raise ConnectionAbortedError(f"closed after {self.buffer!r}")
        read, _, self.buffer = self.buffer.partition(end)
        return read + end

    def read_to_end(self) -> bytes:
        """All until the other side closes."""
        pieces = [self.buffer]
        while piece := self.socket.recv(PIECE_BYTES):
            pieces.append(piece)
        self.buffer = b""
        return b"".join(pieces)

    def head(self) -> Response:
        """The next head, of an interim response too; its body is left unread."""
        raw = self.read_to(b"\r\n\r\n").decode("latin-1")
        first, *lines = raw[:-4].split("\r\n")
        status = re.fullmatch(r"HTTP/1\.1 ([0-9]{3}) [^\r\n]*", first)
        if not status:
            raise AssertionError(f"no head: {raw!r}")
        return Response(int(status[1]), [tuple(line.split(": ", 1)) for line in lines], b"")

    def answer(self, method: str = "GET") -> Response:
        """The next head and its body, as its framing has it."""
        response = self.head()
        if method == "HEAD" or response.status < 200 or response.status in (204, 304):
            return response
        if response.field("Transfer-Encoding") == "chunked":
            while size := int(self.read_to(b"\r\n"), 16):
                response.body += self.read(size)
                self.read_to(b"\r\n")
            self.read_to(b"\r\n")
        elif response.field("Content-Length") is not None:
            response.body = self.read(int(response.field("Content-Length")))
        else:
            response.body = self.read_to_end()
        return response

    def ask(self, method: str, target: str, *lines: str, version: str = "1.1") -> Response:
        self.send(request(method, target, *lines, version=version))
        return self.answer(method)

    def is_closed(self) -> bool:
        """Waits for the other side's end; False where more bytes come first."""
        try:
            return self.buffer == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


class Stage:
    """An origin that the test plays itself, connection by connection."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(WAIT_S)
        self.address = "127.0.0.1:{}".format(self._listener.getsockname()[1])
        self.url = f"http://{self.address}"

    def accept(self) -> Wire:
        return Wire(self.address, self._listener.accept()[0])

    def stop(self) -> None:
        self._listener.close()


def request(method: str, target: str, *lines: str, version: str = "1.1") -> bytes:
    head = "".join(f"{line}\r\n" for line in ("Host: a.example", *lines))
    return f"{method} {target} HTTP/{version}\r\n{head}\r\n".encode()
