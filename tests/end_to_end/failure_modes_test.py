"""What docs/failure-modes.md says of origins that fail, each shown under load from several clients.

Some clients ask for what is stored and fresh, others for what only the origin has. The first must
never notice. A faulty network (support/link.py) stands between the replicas and the origin.
"""

import itertools
import threading
import time
import unittest

from support import WAIT_S, Client, Tier, wait_until
from support.link import Fault
from support.wire import Wire, request

STORED = [f"/stored/{n}" for n in range(8)]
PAUSE_S = 0.003  # of a client after each answer, so that refusals at once don't take the machine
FIRST_BYTE_S = 2
# Long enough for a busy machine where nothing is wrong.
WAITS = (
    "--connect-timeout", "1s", "--first-byte-timeout", f"{FIRST_BYTE_S}s",
    "--request-deadline", "5s",
)  # fmt: skip


class Load:
    """Clients that ask and ask, and what they were told."""

    HIT_CLIENTS, MISS_CLIENTS = 2, 3

    def __init__(self, address: str):
        self._address = address
        self._ended = threading.Event()
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        # When each began, and its status or the exception that came instead.
        self.misses: list[tuple[float, object]] = []
        self.hits: list = []  # (status, whether it was a hit)
        self._tasks = [
            threading.Thread(target=self._run, args=(work,), daemon=True)
            for work in [self._hit] * self.HIT_CLIENTS + [self._miss] * self.MISS_CLIENTS
        ]

    def __enter__(self):
        for task in self._tasks:
            task.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for task in self._tasks:
            task.join(WAIT_S)

    def _run(self, work) -> None:
        while not self._ended.is_set():
            with Client(self._address) as client:
                try:
                    while not self._ended.is_set():
                        work(client)
                except Exception as failure:  # for the test to judge
                    with self._lock:
                        self.misses.append((time.monotonic(), type(failure).__name__))

    def _hit(self, client: Client) -> None:
        answer = client.get(STORED[next(self._numbers) % len(STORED)])
        self.hits.append((answer.status, answer.is_hit))
        self._ended.wait(PAUSE_S)

    def _miss(self, client: Client) -> None:
        began = time.monotonic()
        status = client.get(f"/missing/{next(self._numbers)}").status
        with self._lock:
            self.misses.append((began, status))
        self._ended.wait(PAUSE_S)

    def next_misses(self, count: int) -> list:
        """Outcomes of requests that begin from now on."""
        now = time.monotonic()
        seen = len(self.misses)

        def begun_since() -> list:
            return [outcome for began, outcome in self.misses[seen:] if began > now]

        return wait_until(
            lambda: len(some := begun_since()) >= count and some, f"{count} more misses"
        )

    def wait_for_health(self) -> None:
        wait_until(lambda: set(self.next_misses(5)) == {200}, "only answers of 200 again")


class FailingOrigin(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.network = self.link(self.source.address)
        self.replicas = self.caches(2, self.network, *WAITS)
        self.front = self.sidecar(self.replicas, *WAITS)
        for path in STORED:
            self.assertEqual(self.front.get(path).status, 200)

    def of_replicas(self, family: str, **labels: str) -> float:
        return sum(replica.metric(family, **labels) for replica in self.replicas)

    def check_hits(self, load: Load) -> None:
        self.assertEqual(set(load.hits), {(200, True)})

    def check(self, begin, allowed: set, count: int = 30) -> None:
        """Under load: `begin()`, then `count` requests for what is not stored; then all is well."""
        with Load(self.front.address) as load:
            load.wait_for_health()
            failed = self.of_replicas("ringside_origin_requests_total", answer="failed")
            begin()
            during = load.next_misses(count)
            self.assertLessEqual(set(during), allowed)
            self.assertNotEqual(set(during), {200}, "nothing failed")
            self.assertGreater(
                self.of_replicas("ringside_origin_requests_total", answer="failed"), failed
            )
            self.assertGreater(self.of_replicas("ringside_errors_total", source="origin"), 0)
            self.network.fault = Fault.none
            load.wait_for_health()
            # Each replica has a circuit of its own. Only a request that it gets closes it.
            wait_until(
                lambda: self.of_replicas("ringside_origin_circuits_open") == 0, "closed circuits"
            )
        self.check_hits(load)
        wait_until(
            lambda: self.of_replicas("ringside_origin_requests_in_flight") == 0, "an idle origin"
        )
        self.assertEqual(self.front.metric("ringside_replicas_ejected"), 0, "they are well")

    def fault(self, fault: Fault, **values):
        def begin():
            for name, value in values.items():
                setattr(self.network, name, value)
            self.network.fault = fault

        return begin

    # 503: the circuit is open.

    def test_resetting(self):
        self.check(self.fault(Fault.reset), {502, 503})

    def test_half_closing(self):
        self.check(self.fault(Fault.half_close), {502, 503})

    def test_garbage(self):
        self.check(self.fault(Fault.garbage), {502, 503})

    def test_silent(self):
        self.check(self.fault(Fault.blackhole), {503, 504}, count=9)

    def test_cut_within_its_heads(self):
        self.check(self.fault(Fault.cut, stop_after_bytes=20), {502, 503})

    def test_slow_within_the_wait_is_only_slow(self):
        self.network.delay_s = 0.2
        with Load(self.front.address) as load:
            load.wait_for_health()
            self.network.fault = Fault.delay
            self.assertEqual(set(load.next_misses(15)), {200})
            self.network.fault = Fault.none
        self.check_hits(load)
        self.assertEqual(self.of_replicas("ringside_origin_requests_total", answer="failed"), 0)

    def test_down_and_back(self):
        """For long is a matter of the simulation."""
        with Load(self.front.address) as load:
            load.wait_for_health()
            self.network.refuse()
            during = load.next_misses(30)
            wait_until(lambda: 503 in load.next_misses(5), "a circuit to open")
            self.assertLessEqual(set(during), {502, 503})
            self.assertGreater(self.of_replicas("ringside_origin_circuits_opened_total"), 0)
            self.assertGreater(self.of_replicas("ringside_origin_refused_total"), 0)
            told = f"origin {self.network.url} does not answer: "
            page = f"origin {self.network.url} "  # does, or did not answer
            asked = next(one for one in self.replicas if page in one.readyz().text)
            wait_until(lambda: told in asked.err, "its log to tell")
            self.network.restore()
            load.wait_for_health()
            wait_until(lambda: f"origin {self.network.url} answers again" in asked.err, "the end")
            self.assertEqual(asked.err.count(told), 1)
        self.check_hits(load)


class CutBodies(Tier):
    """A client can always tell a part from the whole, and no part is stored."""

    BODY = b"x" * 200_000

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.network = self.link(self.source.address)
        self.replica = self.cache("cache-0", self.network)
        self.front = self.sidecar([self.replica])

        def chunked(turn):
            turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n")
            turn.send(b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(self.BODY))
            turn.send(self.BODY + b"\r\n0\r\n\r\n")

        self.source.on["/chunked"] = chunked
        self.source.on["/length"] = lambda turn: turn.reply(body=self.BODY)
        self.source.on["/no-store"] = lambda turn: turn.reply(
            body=self.BODY, cache_control="no-store"
        )

    def check(self, fault: Fault) -> None:
        self.network.stop_after_bytes = 100_000
        self.network.fault = fault
        for path in ("/chunked", "/length", "/no-store"):
            with self.subTest(fault=fault, path=path), Wire(self.front.address) as wire:
                wire.send(request("GET", path))
                self.assertEqual(wire.head().status, 200)
                with self.assertRaises(ConnectionResetError):
                    wire.read(10 * len(self.BODY))
        self.assertEqual(self.replica.metric("ringside_store_entries"), 0)
        self.assertGreaterEqual(self.front.metric("ringside_errors_total", source="peer"), 3)
        self.network.fault = Fault.none
        for path in ("/chunked", "/length", "/no-store"):
            whole = self.front.get(path)
            self.assertEqual((whole.status, whole.body, whole.is_hit), (200, self.BODY, False))

    def test_closed_in_mid_body(self):
        self.check(Fault.cut)

    def test_reset_in_mid_body(self):
        self.check(Fault.cut_with_reset)


class FailingHop(Tier):
    """The same network between a sidecar and one of its replicas."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(3, self.source, *WAITS)
        self.network = self.link(self.replicas[0].address)
        self.replicas[0].address = self.network.address  # as the sidecar knows it
        self.front = self.sidecar(self.replicas, *WAITS)

    def check(self, fault: Fault, allowed: set) -> None:
        for path in STORED:
            self.front.get(path)
        with Load(self.front.address) as load:
            load.wait_for_health()
            self.network.fault = fault
            during = load.next_misses(200)
            self.network.fault = Fault.none
            load.wait_for_health()
        self.assertLessEqual(set(during), allowed)
        self.assertLessEqual({status for status, _ in load.hits}, allowed)
        self.assertGreater(self.front.metric("ringside_errors_total", source="peer"), 0)
        if allowed == {200}:
            self.assertGreater(self.front.metric("ringside_retries_total"), 0)
            self.assertGreater(self.front.metric("ringside_replica_ejections_total"), 0)
        wait_until(lambda: self.front.metric("ringside_replicas_ejected") == 0, "its return")

    def test_resetting_goes_unnoticed(self):
        self.check(Fault.reset, {200})

    def test_half_closing_goes_unnoticed(self):
        self.check(Fault.half_close, {200})

    def test_silent_goes_unnoticed(self):
        self.check(Fault.blackhole, {200})

    def test_slow_goes_unnoticed(self):
        self.network.delay_s = FIRST_BYTE_S / 2  # more than a probe is waited for
        self.check(Fault.delay, {200})

    def test_garbage_is_502(self):
        """Bytes came: they might have been an answer to what may not be asked twice."""
        self.check(Fault.garbage, {200, 502})


if __name__ == "__main__":
    unittest.main()
