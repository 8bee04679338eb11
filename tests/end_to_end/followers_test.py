"""Who follows a fetch: what it costs, how soon it is answered, and that nobody waits for the slowest.

Prints what it measures.
"""

import concurrent.futures
import hashlib
import random
import selectors
import socket
import threading
import time
import unittest

from support import WAIT_S, Tier, wait_until
from support.memory import MIB, Growth, is_sanitized
from support.program import raise_open_files
from support.wire import Wire, request

SANITIZED = is_sanitized()
RECEIVE_BYTES = 256 * 1024  # in a client's socket


def connect(address: str) -> Wire:
    """With a small window, so that who doesn't read is soon noticed."""
    host, port = address.rsplit(":", 1)
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
    client.connect((host, int(port)))
    return Wire(address, client)


class Followers(Tier):
    """`begin` sends requests for one path; the origin answers it once all of them are waiting."""

    def setUp(self):
        super().setUp()
        raise_open_files()
        self.source = self.origin()
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)

    def begin(self, door, replica, target: str, count: int) -> list[Wire]:
        """The first one leads."""
        clients = [connect(door.address) for _ in range(count)]
        for client in clients:
            self.addCleanup(client.close)
        clients[0].send(request("GET", target))
        self.source.wait_for(target)
        for client in clients[1:]:
            client.send(request("GET", target))
        wait_until(
            lambda: replica.metric("ringside_connections", role="cache") >= count, "all to arrive"
        )
        # A core takes what comes in order: when this is answered, the others have been taken.
        for number in range(3):
            self.assertEqual(door.get(f"{target}/behind/{number}").status, 200)
        return clients


class Drain:
    """Reads and drops what comes to many sockets, in one thread."""

    def __init__(self, clients: list[Wire]):
        self.first_byte_s = [0.0] * len(clients)  # of the body
        self.taken_bytes = [0] * len(clients)
        self._clients = clients

    def run(self, wanted_bytes: list[int]) -> None:
        """Until every client has had so many bytes of a body; then it leaves."""
        space = bytearray(4 * MIB)
        left = len(self._clients)
        with selectors.DefaultSelector() as selector:
            for number, client in enumerate(self._clients):
                client.socket.setblocking(False)
                selector.register(client.socket, selectors.EVENT_READ, number)
            while left > 0:
                ready = selector.select(WAIT_S)
                if not ready:
                    raise AssertionError(f"nothing comes any more; {left} have not all of it")
                for key, _ in ready:
                    number = key.data
                    count = self._take(self._clients[number], number, space)
                    self.taken_bytes[number] += max(count, 0)
                    if count < 0 or self.taken_bytes[number] >= wanted_bytes[number]:
                        selector.unregister(key.fileobj)
                        self._clients[number].close()
                        left -= 1

    def _take(self, client: Wire, number: int, space: bytearray) -> int:
        """Bytes of a body; -1 at the end."""
        if self.first_byte_s[number]:
            count = client.socket.recv_into(space, len(space), socket.MSG_TRUNC)  # dropped uncopied
            return count or -1
        piece = client.socket.recv(4096)
        client.buffer += piece
        head, end, body = client.buffer.partition(b"\r\n\r\n")
        if not piece or (end and not head.startswith(b"HTTP/1.1 200 ")):
            raise AssertionError(f"no answer: {client.buffer!r}")
        if body:
            self.first_byte_s[number] = time.monotonic()
        return len(body)


class AThousand(Followers):
    """One object that comes slowly, and a crowd that wants it."""

    CROWD = 100 if SANITIZED else 1000
    OBJECT_BYTES = (16 if SANITIZED else 100) * MIB
    # All 1,000 can be made to read all: then 100 GiB pass, in minutes.
    WHOLE, PART_BYTES = 200, 10 * MIB
    FIRST_BYTES = 16 * 1024
    PIECES, PIECE_PAUSE_S = 20, 0.15
    MOST_BEYOND_BYTES = 100 * MIB
    MOST_LAG_S = 2  # 50 ms where the machine has nothing else to do

    def slowly(self, turn) -> None:
        self.gate.wait(WAIT_S)
        turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n")
        turn.send(b"Content-Length: %d\r\n\r\n" % self.OBJECT_BYTES + bytes(self.FIRST_BYTES))
        left = self.OBJECT_BYTES - self.FIRST_BYTES
        piece = bytes(left // self.PIECES + 1)
        while left > 0:
            time.sleep(self.PIECE_PAUSE_S)  # this is what is slow; nothing is waited for
            turn.send(piece[:left])
            left -= len(piece)

    def test_share_one_fetch_its_bytes_and_its_first_byte(self):
        replica = self.cache("cache-0", self.source, "--memory", "1GiB")
        self.source.on["/large"] = self.slowly
        growth = Growth(replica)
        clients = self.begin(replica, replica, "/large", self.CROWD)
        drain = Drain(clients)
        self.gate.set()
        began = time.monotonic()
        wanted = [self.OBJECT_BYTES if n < self.WHOLE else self.PART_BYTES for n in range(self.CROWD)]
        drain.run(wanted)
        took_s = time.monotonic() - began
        self.assertEqual(drain.taken_bytes[: self.WHOLE], wanted[: self.WHOLE])
        self.assertTrue(all(had >= want for had, want in zip(drain.taken_bytes, wanted)))
        self.assertEqual(self.source.count("/large"), 1)
        lag_s = max(drain.first_byte_s) - drain.first_byte_s[0]
        spread_s = max(drain.first_byte_s) - min(drain.first_byte_s)
        beyond = growth.bytes()[0] - self.OBJECT_BYTES
        print(
            f"{self.CROWD} clients, {self.OBJECT_BYTES // MIB} MiB, {took_s:.1f} s:",
            f"grown by {beyond / MIB:.1f} MiB beyond the object;",
            f"the last first byte {lag_s * 1000:.1f} ms after the leader's,",
            f"{spread_s * 1000:.1f} ms after the first of all",
            flush=True,
        )
        self.assertLess(lag_s, self.MOST_LAG_S)
        if not SANITIZED:
            self.assertLess(beyond, self.MOST_BEYOND_BYTES)
        self.assertEqual(replica.metric("ringside_store_entries", shard="cache-0"), 1 + 3)


class OneIsSlow(Followers):
    FAST = 4
    BODY = random.Random(1).randbytes(20 * MIB)
    HASH = hashlib.sha256(BODY).hexdigest()
    TAKEN_FIRST_BYTES = 100 * 1024

    def serve(self, path: str, *lines: str) -> None:
        """The body, or the part of it that Range asks for."""

        def send(turn):
            if asked := turn.request.field("Range"):
                first, last = (int(n) for n in asked.removeprefix("bytes=").split("-"))
                part = self.BODY[first : last + 1]
                status = "206 Partial Content"
                more = (f"Content-Range: bytes {first}-{last}/{len(self.BODY)}",)
            else:
                self.gate.wait(WAIT_S)
                part, status, more = self.BODY, "200 OK", ()
            fields = (f"Content-Length: {len(part)}", "Cache-Control: max-age=60", *lines, *more)
            turn.send((f"HTTP/1.1 {status}\r\n" + "\r\n".join(fields) + "\r\n\r\n").encode())
            turn.send(part)

        self.source.on[path] = send

    def doors(self, *options) -> dict:
        replica = self.cache("cache-0", self.source, *options)
        return {"cache": replica, "sidecar": self.sidecar([replica], "--threads", 1)}

    def read(self, client: Wire) -> str:
        self.assertEqual(client.head().status, 200)
        return hashlib.sha256(client.read(len(self.BODY))).hexdigest()

    def all_but_one(self, doors: dict, door: str, path: str, slow_leads: bool):
        """The slow one's connection and what it has read, when the others have had everything."""
        self.gate.clear()
        clients = self.begin(doors[door], doors["cache"], path, self.FAST + 1)
        slow = clients.pop(0 if slow_leads else -1)
        self.gate.set()
        self.assertEqual(slow.head().status, 200)
        taken = slow.read(self.TAKEN_FIRST_BYTES)
        # From here on the slow one takes nothing until the others are done.
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.FAST) as pool:
            fast = [pool.submit(self.read, client) for client in clients]
            self.assertEqual({one.result(WAIT_S) for one in fast}, {self.HASH})
        print(
            f"{path}: {self.FAST} fast ones have {len(self.BODY) // MIB} MiB each after",
            f"{time.monotonic() - began:.2f} s, while one stands still",
            flush=True,
        )
        return slow, taken

    @staticmethod
    def each(doors: dict) -> list[tuple[str, bool]]:
        return [(door, slow_leads) for door in doors for slow_leads in (False, True)]

    def path(self, door: str, slow_leads: bool, *lines: str) -> str:
        path = f"/{door}-{'leader' if slow_leads else 'follower'}-{len(self.source.on)}"
        self.serve(path, *lines)
        return path

    def check_rest(self, slow: Wire, taken: bytes) -> None:
        whole = taken + slow.read(len(self.BODY) - len(taken))
        self.assertEqual(hashlib.sha256(whole).hexdigest(), self.HASH)

    def test_too_large_to_store_and_it_gets_the_rest_by_itself(self):
        doors = self.doors("--memory", "64MiB")
        for door, slow_leads in self.each(doors):
            with self.subTest(door=door, slow_leads=slow_leads):
                path = self.path(door, slow_leads, 'ETag: "one"')
                slow, taken = self.all_but_one(doors, door, path, slow_leads)
                self.check_rest(slow, taken)
                asked = [
                    (one.field("Range"), one.field("If-Range"))
                    for one in self.source.seen()
                    if one.target == path
                ]
                print(f"  the rest: {asked[1:]} of {len(self.BODY)}", flush=True)
                self.assertEqual(len(asked), 2, asked)
                self.assertEqual(asked[0], (None, None))
                self.assertRegex(asked[1][0], rf"^bytes=[1-9][0-9]*-{len(self.BODY) - 1}$")
                self.assertEqual(asked[1][1], '"one"')

    def test_too_large_to_store_and_without_a_strong_tag_it_is_cut_off(self):
        doors = self.doors("--memory", "64MiB")
        for lines in ((), ('ETag: W/"one"',), ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",)):
            for door, slow_leads in self.each(doors):
                with self.subTest(door=door, slow_leads=slow_leads, lines=lines):
                    path = self.path(door, slow_leads, *lines)
                    slow, _ = self.all_but_one(doors, door, path, slow_leads)
                    with self.assertRaises(ConnectionResetError):
                        slow.read(len(self.BODY))
                    self.assertEqual(self.source.count(path), 1)

    def test_stored_and_it_gets_all_from_the_store(self):
        doors = self.doors("--memory", "1GiB")
        for door, slow_leads in self.each(doors):
            with self.subTest(door=door, slow_leads=slow_leads):
                path = self.path(door, slow_leads, 'ETag: "one"')
                slow, taken = self.all_but_one(doors, door, path, slow_leads)
                self.check_rest(slow, taken)
                with Wire(doors[door].address) as again:
                    self.assertTrue(again.ask("GET", path).is_hit)
                self.assertEqual(self.source.count(path), 1)


class NotForSharing(Followers):
    FOLLOWERS = 50
    HOLD_S = 0.3
    FIRST, REST = b"a" * 10_000, b"b" * 10_000

    def test_followers_of_an_uncacheable_answer_go_their_ways_at_once(self):
        """They wait for the leader's head, not for its body, nor for each other."""
        replica = self.cache("cache-0", self.source)
        doors = {"cache": replica, "sidecar": self.sidecar([replica], "--threads", 1)}
        for door, process in doors.items():
            with self.subTest(door=door):
                self.check(door, process, replica)

    def check(self, door: str, process, replica) -> None:
        path = f"/mine/{door}"
        self.gate.clear()
        others_are_answered, is_led = threading.Event(), threading.Event()
        self.addCleanup(others_are_answered.set)

        def slowly(turn):
            leads = not is_led.is_set()
            is_led.set()
            if leads:
                self.gate.wait(WAIT_S)
            turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 20000\r\n\r\n")
            turn.send(self.FIRST)
            if leads:
                others_are_answered.wait(WAIT_S)
            else:
                time.sleep(self.HOLD_S)  # this is what is slow; nothing is waited for
            turn.send(self.REST)

        self.source.on[path] = slowly
        leader, *followers = self.begin(process, replica, path, 1 + self.FOLLOWERS)
        self.assertEqual(self.source.count(path), 1)
        began = time.monotonic()
        self.gate.set()
        answers = [follower.answer() for follower in followers]
        took_s = time.monotonic() - began
        print(
            f"{door}: {self.FOLLOWERS} followers released; all answered after {took_s:.2f} s,",
            f"each held for {self.HOLD_S} s by the origin",
            flush=True,
        )
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual({answer.body for answer in answers}, {self.FIRST + self.REST})
        self.assertEqual(self.source.count(path), 1 + self.FOLLOWERS)
        self.assertLess(took_s, self.FOLLOWERS * self.HOLD_S / 3)
        others_are_answered.set()
        self.assertEqual(leader.answer().body, self.FIRST + self.REST)


if __name__ == "__main__":
    unittest.main()
