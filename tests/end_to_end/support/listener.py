"""A port of a test's own that others connect to."""

import contextlib
import socket
import threading

from .waiting import wait_until


class Listener:
    """Runs `serve(connection)` on a thread for each connection. The port stays ours while nobody
    listens on it: connections are then refused."""

    def __init__(self, serve):
        self._serve = serve
        self._lock = threading.Lock()  # of the threads: who accepts adds to them
        self._threads: list[threading.Thread] = []
        self._socket = _bind(0)
        self.port = self._socket.getsockname()[1]

    def listen(self) -> None:
        self._socket.listen(1024)
        self._start(self._accept, self._socket)

    def refuse(self, end_connections) -> None:
        """As stop(), but the port stays ours. A connection that was just being accepted ends too."""
        self._close()
        self._socket = _bind(self.port)
        self._join(end_connections)

    def stop(self, end_connections) -> None:
        """Closes it and waits for all of its threads: an interpreter that ends while a thread runs
        crashes now and then (CPython's issue 110052). `end_connections()` ends those that are
        served; it is called again for those that were just being accepted."""
        self._close()
        self._join(end_connections)

    def _close(self) -> None:
        with contextlib.suppress(OSError):  # it did not listen
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._socket.close()

    def _join(self, end_connections) -> None:
        def ended() -> bool:
            end_connections()
            with self._lock:
                return not any(thread.is_alive() for thread in self._threads)

        wait_until(ended, "the threads of a listener to end")

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._serve, connection)

    def _start(self, run, connection: socket.socket) -> None:
        thread = threading.Thread(target=run, args=(connection,), daemon=True)
        thread.start()
        with self._lock:
            self._threads = [one for one in self._threads if one.is_alive()] + [thread]


def _bind(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    return listener
