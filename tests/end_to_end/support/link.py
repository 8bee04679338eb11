"""A TCP proxy between two hops that does to their bytes what networks and failing servers do."""

import contextlib
import ctypes
import enum
import socket
import threading

from .listener import Listener
from .waiting import WAIT_S

PIECE_BYTES = 65536
GARBAGE = b"\x16\x03\x01\x02\x00 this is not what was asked for\r\n\r\n"

libc = ctypes.CDLL(None)


class Fault(enum.Enum):
    none = "bytes pass as they come"
    delay = "each answer is late by `delay_s`"
    reset = "connections are reset once something was sent on them"
    half_close = "what is sent is taken; instead of an answer comes the end of the stream"
    garbage = "instead of an answer come bytes that are no HTTP"
    stop = "answers stop after `stop_after_bytes`; the connection stays open"
    cut = "answers end after `stop_after_bytes`, in order"
    cut_with_reset = "answers end after `stop_after_bytes` with a reset"
    blackhole = "connections are taken, and nothing more happens"


class Link:
    """Listens on `address`; connects to `target` (which may be set later)."""

    def __init__(self, target: str = ""):
        self.target = target
        self.delay_s = 0.0
        self.stop_after_bytes = 0
        self.connections = 0  # accepted, ever
        self._fault = Fault.none
        self._changed = threading.Event()  # replaced by each change: whom it interrupts sees it set
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = Listener(self._carry)
        self.port = self._listener.port
        self.address = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.address}"
        self.restore()

    # --- What is wrong with it.

    @property
    def fault(self) -> Fault:
        return self._fault

    @fault.setter
    def fault(self, fault: Fault) -> None:
        """From now on, also on connections that are open; whoever was held up is cut off."""
        with self._lock:
            self._fault = fault
            before, self._changed = self._changed, threading.Event()
        before.set()

    def refuse(self) -> None:
        """Down: what is open is reset, what is new refused; the port stays ours."""
        self.fault = Fault.none
        self._listener.refuse(self.cut_all)

    def restore(self) -> None:
        """Up again, and well."""
        self.fault = Fault.none
        self._listener.listen()

    def stop(self) -> None:
        self.fault = Fault.none
        self._listener.stop(self.cut_all)

    def cut_all(self) -> None:
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    # --- The connections.

    def _carry(self, near: socket.socket) -> None:
        with self._lock:
            self.connections += 1
        host, port = self.target.rsplit(":", 1)
        with near, socket.socket() as far, contextlib.suppress(OSError):
            with self._lock:
                self._open.update((near, far))
            try:
                self._hold_where(Fault.blackhole)
                far.connect((host, int(port)))
                far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                answers = threading.Thread(target=self._answers, args=(far, near), daemon=True)
                answers.start()
                self._requests(near, far)
                answers.join()
            finally:
                with self._lock:
                    self._open.difference_update((near, far))

    def _hold_where(self, fault: Fault) -> None:
        """As long as this is what is wrong; then the connection ends."""
        with self._lock:
            held, changed = self._fault is fault, self._changed
        if held:
            changed.wait(WAIT_S)
            raise ConnectionAbortedError

    def _requests(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := near.recv(PIECE_BYTES):
                self._hold_where(Fault.blackhole)
                if self._fault is Fault.reset:
                    abort(near)
                    break
                if self._fault is Fault.half_close:
                    near.shutdown(socket.SHUT_WR)
                    continue
                if self._fault is Fault.garbage:
                    near.sendall(GARBAGE)
                    continue
                far.sendall(piece)
        with contextlib.suppress(OSError):
            far.shutdown(socket.SHUT_WR)

    def _answers(self, far: socket.socket, near: socket.socket) -> None:
        passed = 0
        with contextlib.suppress(OSError):
            while piece := far.recv(PIECE_BYTES):
                fault = self._fault
                if fault is Fault.delay:
                    self._changed.wait(self.delay_s)
                if fault in (Fault.stop, Fault.cut, Fault.cut_with_reset):
                    left = max(self.stop_after_bytes - passed, 0)
                    near.sendall(piece[:left])
                    passed += min(left, len(piece))
                    if len(piece) <= left:
                        continue
                    self._hold_where(Fault.stop)
                    if fault is Fault.cut_with_reset:
                        abort(near)
                    break
                near.sendall(piece)
                passed += len(piece)
        for side in (near, far):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


def abort(connection: socket.socket) -> None:
    """A reset, at once, although another thread may wait on it: what Linux makes of connecting to
    AF_UNSPEC."""
    libc.connect(connection.fileno(), bytes(16), 16)
