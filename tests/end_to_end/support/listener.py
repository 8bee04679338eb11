"""A port of a test's own that others connect to."""

import contextlib
import socket
import threading


class Listener:
    """Runs `serve(connection)` on a thread for each connection. The port stays ours while nobody
    listens on it: connections are then refused."""

    def __init__(self, serve):
        self._serve = serve
        self._socket = _bind(0)
        self.port = self._socket.getsockname()[1]

    def listen(self) -> None:
        self._socket.listen(1024)
        threading.Thread(target=self._accept, args=(self._socket,), daemon=True).start()

    def refuse(self) -> None:
        self.close()
        self._socket = _bind(self.port)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # it did not listen
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()


def _bind(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    return listener
