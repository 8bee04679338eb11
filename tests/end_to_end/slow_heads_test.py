"""Clients that send next to nothing: they cost little, stop nobody, and go.

Prints what it measures.
"""

import resource
import selectors
import socket
import threading
import time
import unittest

from support import WAIT_S, Client, Tier, each_in_a_thread, wait_until
from support.memory import MIB, Growth, is_sanitized
from support.peers import a_key
from support.program import raise_open_files
from support.wire import Wire, request

CONNECTIONS = 10_000
MOST_GROWTH_BYTES = 64 * MIB
NEEDED_FILES = CONNECTIONS + 500
PART_OF_A_HEAD = b"GET /slow HTTP/1.1\r\nHost: a.example\r\nX-Slow: "


def open_files_allowed() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


@unittest.skipIf(
    open_files_allowed() < NEEDED_FILES,
    f"needs {NEEDED_FILES} open files, and the hard limit is {open_files_allowed()}",
)
class SlowHeads(Tier):
    def setUp(self):
        super().setUp()
        raise_open_files()
        self.source = self.origin()
        self.front = self.sidecar([self.cache("cache-0", self.source)])

    def crowd(self) -> list[socket.socket]:
        host, port = self.front.address.rsplit(":", 1)
        crowd = []
        for _ in range(CONNECTIONS):
            one = socket.create_connection((host, int(port)), WAIT_S)
            self.addCleanup(one.close)
            one.setblocking(False)
            crowd.append(one)
        return crowd

    def farewells(self, crowd: list[socket.socket]) -> list[bytes]:
        """What each was told before it was closed."""
        told = {one: b"" for one in crowd}
        until = time.monotonic() + WAIT_S
        with selectors.DefaultSelector() as selector:
            for one in crowd:
                selector.register(one, selectors.EVENT_READ)
            while selector.get_map():
                self.assertLess(time.monotonic(), until, f"{len(selector.get_map())} are left")
                for key, _ in selector.select(1):
                    try:
                        piece = key.fileobj.recv(4096)
                    except ConnectionResetError:
                        piece = b""
                    told[key.fileobj] += piece
                    if not piece:
                        selector.unregister(key.fileobj)
        return list(told.values())

    def test_ten_thousand_stop_nobody_cost_little_and_are_told_408(self):
        self.assertEqual(self.front.get("/page").status, 200)
        growth = Growth(self.front)
        crowd = self.crowd()
        wait_until(
            lambda: self.front.metric("ringside_connections") >= CONNECTIONS, "all to be accepted"
        )
        # Their time begins with the first byte, so all of them are there at once.
        for one in crowd:
            one.send(PART_OF_A_HEAD)
        for one in crowd[::2]:
            one.send(b"and a little more")

        def ask(number):
            with Client(self.front.address) as client:
                return [client.get(f"/{number}/{n}").status for n in range(20)]

        began = time.monotonic()
        for statuses in each_in_a_thread(ask, range(20)):
            self.assertEqual(set(statuses), {200})
        print(f"400 requests among {CONNECTIONS} slow heads: {time.monotonic() - began:.1f} s")
        self.assertEqual(self.source.count("/slow"), 0)
        told = self.farewells(crowd)
        grown = growth.bytes()[0]
        print(f"{CONNECTIONS} slow heads: grown by {grown / MIB:.1f} MiB", flush=True)
        if not is_sanitized():
            self.assertLess(grown, MOST_GROWTH_BYTES)
        refused = sum(one.startswith(b"HTTP/1.1 408 ") for one in told)
        print(f"told 408: {refused}", flush=True)
        self.assertEqual({one[:13] for one in told}, {b"HTTP/1.1 408 "})
        wait_until(lambda: self.front.metric("ringside_connections") == 0, "them to be gone")
        self.assertEqual(self.front.get("/page").status, 200)


class OneAddress(Tier):
    """Only so many connections from one address, so that one client can't take all there are."""

    MOST = 20

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replica = self.cache("cache-0", self.source)

    def front(self, *options):
        return self.sidecar(
            [self.replica], "--threads", 1, "--connections-per-address", self.MOST, *options
        )

    def test_at_a_replicas_own_port_strangers_are_counted_and_members_are_not(self):
        """One address could take all connections of a replica."""
        key = self.file("peer.key", a_key())
        key.chmod(0o600)
        limit = ("--peer-key-file", key, "--connections-per-address", self.MOST)
        replica = self.cache("cache-0", self.source, *limit)
        front = self.sidecar([replica], "--peer-key-file", key)
        strangers = [self.let_in(replica, "127.0.0.1") for _ in range(self.MOST // 2)]
        # Each has a connection of its own to the replica, from the strangers' address.
        clients = self.connections(front, "127.0.0.3", 2 * self.MOST)
        all_there = threading.Event()
        self.source.on["/slow"] = lambda turn: (all_there.wait(WAIT_S), turn.reply())
        for number, wire in enumerate(clients, 1):
            wire.send(request("POST", "/slow", "Content-Length: 0"))
            wait_until(lambda number=number: self.source.count("/slow") == number, "its request")
        all_there.set()
        for wire in clients:
            self.assertEqual(wire.answer().status, 200)
        while len(strangers) < self.MOST:
            strangers.append(self.let_in(replica, "127.0.0.1"))
        for wire in strangers:
            self.assertEqual(wire.ask("GET", "/page").status, 200)
        refused = self.connections(replica, "127.0.0.1", 1)[0]
        self.assertEqual(refused.answer().status, 503)
        self.assertEqual(front.get("/page").status, 200)

    def connections(self, front, source: str, count: int) -> list[Wire]:
        """Each of which has been accepted, or refused."""
        wires = []
        for _ in range(count):
            wire = Wire(front.address, source=source)
            self.addCleanup(wire.close)
            wires.append(wire)
        return wires

    def let_in(self, server, source: str) -> Wire:
        """One that is answered. The sidecar's probes have proved nothing for a moment, and count
        for that long."""

        def tried() -> Wire | None:
            (wire,) = self.connections(server, source, 1)
            try:
                if wire.ask("GET", "/page").status == 200:
                    return wire
            except ConnectionError:  # refused, and closed before it was asked
                pass
            wire.close()
            return None

        return wait_until(tried, "a place")

    def test_who_has_too_many_is_told_503_and_others_are_served(self):
        front = self.front("--trust", "127.0.0.1")
        many = self.connections(front, "127.0.0.2", self.MOST)
        for wire in many:
            self.assertEqual(wire.ask("GET", "/page").status, 200)
        refused = self.connections(front, "127.0.0.2", 1)[0]
        answer = refused.answer()
        self.assertEqual(answer.status, 503)
        self.assertTrue(answer.field("Retry-After"))
        self.assertTrue(refused.is_closed())
        self.assertEqual(many[0].ask("GET", "/page").status, 200, "who was there goes on")
        other = self.connections(front, "127.0.0.3", 1)[0]
        self.assertEqual(other.ask("GET", "/page").status, 200)
        many.pop().close()

        def is_served() -> bool:
            with Wire(front.address, source="127.0.0.2") as wire:
                try:
                    return wire.ask("GET", "/page").status == 200
                except ConnectionError:  # refused, and closed before it was asked
                    return False

        wait_until(is_served, "room for another")

    def test_who_is_believed_about_others_is_not_counted(self):
        front = self.front("--trust", "127.0.0.2")
        for wire in self.connections(front, "127.0.0.2", 2 * self.MOST):
            self.assertEqual(wire.ask("GET", "/page").status, 200)


if __name__ == "__main__":
    unittest.main()
