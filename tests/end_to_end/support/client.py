"""Clients: one that speaks HTTP well, and one that sends whatever it is given."""

import concurrent.futures
import dataclasses
import http.client
import re
import socket

from .waiting import WAIT_S


@dataclasses.dataclass
class Response:
    status: int
    fields: list[tuple[str, str]]
    body: bytes

    def field(self, name: str):
        """All lines of that name, joined; None where there is none."""
        values = [value for field, value in self.fields if field.lower() == name.lower()]
        return ", ".join(values) if values else None

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def cache_status(self) -> str:
        return self.field("Cache-Status") or ""

    @property
    def replica(self) -> str:
        """The cache that stands first, nearest to the origin (RFC 9211 §2)."""
        return re.split("[;,]", self.cache_status)[0].strip()

    @property
    def is_hit(self) -> bool:
        return "hit" in re.split("; *", self.cache_status.split(",")[0])


class Client:
    """One connection, kept alive and opened anew where the other side closes it."""

    def __init__(self, address: str):
        host, port = address.rsplit(":", 1)
        self._connection = http.client.HTTPConnection(host, int(port), timeout=WAIT_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        self._connection.close()

    def ask(self, method: str, target: str, body=None, fields=None) -> Response:
        self._connection.putrequest(
            method, target, skip_host="Host" in (fields or {}), skip_accept_encoding=True
        )
        for name, value in (fields or {}).items():
            self._connection.putheader(name, value)
        if body is not None:
            self._connection.putheader("Content-Length", str(len(body)))
        self._connection.endheaders(body)
        answer = self._connection.getresponse()
        return Response(answer.status, answer.getheaders(), answer.read())

    def get(self, target: str, client: str | None = None, **fields: str) -> Response:
        """`client`: for whom we speak, in X-Forwarded-For."""
        said = {name.replace("_", "-"): value for name, value in fields.items()}
        if client:
            said["X-Forwarded-For"] = client
        return self.ask("GET", target, fields=said)


def converse(address: str, *pieces: bytes) -> tuple[bytes, bool]:
    """Sends bytes and reads until the other side closes: what came, and whether it did close."""
    host, port = address.rsplit(":", 1)
    received = b""
    with socket.create_connection((host, int(port)), timeout=WAIT_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                connection.sendall(piece)
            while piece := connection.recv(65536):
                received += piece
        except (BrokenPipeError, ConnectionResetError):
            pass  # closed with bytes of ours unread
        except TimeoutError:
            return received, False
    return received, True


def each_in_a_thread(work, arguments, threads: int = 8) -> list:
    """The results of work(argument), in order; the first exception is raised."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, arguments))
