"""A replica is killed, or stopped, under load: no GET fails, nobody waits for long, and it returns.

What it measures is printed and not judged: a busy machine may be slow.
"""

import itertools
import signal
import threading
import time
import unittest

from support import WAIT_S, Client, Tier, wait_until
from support.tier import members

CLIENTS = 8
REPLICAS = 4
PAGES = 240


class Load:
    """Clients that ask for page after page until it is ended, and remember each answer."""

    def __init__(self, address: str, paths: list[str]):
        self._address = address
        self._paths = paths
        self._ended = threading.Event()
        self.answers = []  # (when it was there, how long it took, path, status, replica)
        self._tasks = [threading.Thread(target=self._ask, args=(n,)) for n in range(CLIENTS)]

    def _ask(self, number: int) -> None:
        turn = len(self._paths) * number // CLIENTS
        with Client(self._address) as client:
            for path in itertools.chain(self._paths[turn:], itertools.cycle(self._paths)):
                began = time.monotonic()
                answer = client.get(path)
                now = time.monotonic()
                self.answers.append((now, now - began, path, answer.status, answer.replica))
                if self._ended.is_set():
                    return

    def __enter__(self):
        for task in self._tasks:
            task.start()
        self.go_on()
        return self

    def __exit__(self, *_):
        self._ended.set()
        for task in self._tasks:
            task.join(WAIT_S)

    def go_on(self, answers: int = PAGES * 4) -> None:
        """Until there are so many more."""
        wanted = len(self.answers) + answers
        wait_until(lambda: len(self.answers) >= wanted, "answers under load")

    def worst_ms(self, since: float) -> float:
        return max(took for when, took, *_ in list(self.answers) if when >= since) * 1000

    def failed(self) -> list:
        return [answer for answer in list(self.answers) if answer[3] != 200]


class FailingReplica(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(REPLICAS, self.source)
        self.front = self.sidecar(self.replicas)
        self.victim = self.replicas[0]
        told = self.shard(
            [("10.0.0.1", f"/page/{n}") for n in range(PAGES)],
            "--replicas", members(self.replicas),
        )  # fmt: skip
        self.owners = {answer["url"]: answer["owners"] for answer in told}
        self.lost = [path for path, owners in self.owners.items() if owners[0] == self.victim.name]

    def ejected(self) -> float:
        return self.front.metric("ringside_replicas_ejected")

    def is_out(self) -> None:
        wait_until(lambda: self.ejected() == 1, "the replica to be ejected")
        self.assertGreater(
            self.front.metric("ringside_replica_ejections_total", shard=self.victim.name), 0
        )

    def all_by(self, load: Load, replica, paths: list[str]) -> float:
        """When the last of these pages came to be answered by that replica alone."""
        seen = len(load.answers)

        def look():
            by_path = {}
            for when, _, path, _, answered in list(load.answers)[seen:]:
                before = by_path.get(path)
                if answered != replica(path):
                    by_path[path] = None
                elif before is None:
                    by_path[path] = when
            if len(by_path) == len(self.owners) and all(by_path[path] for path in paths):
                return max(by_path[path] for path in paths)
            return None

        return wait_until(look, "all keys to be with their replica")

    def report(self, what: str, **figures: float) -> None:
        print(what + ": " + ", ".join(f"{name} {value:.0f} ms" for name, value in figures.items()))

    def check_return(self, load: Load, what: str, worst_ms: float, returned: float) -> None:
        back = self.all_by(load, lambda path: self.owners[path][0], self.lost)
        wait_until(lambda: self.ejected() == 0, "none to be ejected")
        first = min(
            when
            for when, _, path, _, answered in load.answers
            if when > returned and answered == self.victim.name
        )
        self.report(
            what,
            worst_latency=worst_ms,
            first_answer_after_return=(first - returned) * 1000,
            all_keys_after_return=(back - returned) * 1000,
            worst_latency_after_return=load.worst_ms(returned),
        )
        self.assertEqual(load.failed(), [])
        self.assertEqual(
            self.front.metric("ringside_requests_total", role="sidecar", result="error"), 0
        )

    def test_killed_and_started_again_under_load(self):
        with Load(self.front.address, list(self.owners)) as load:
            killed = time.monotonic()
            self.victim.kill()
            self.is_out()
            load.go_on()
            worst_ms = load.worst_ms(killed)
            self.cache(self.victim.name, self.source, "--listen", self.victim.address)
            self.check_return(load, "SIGKILL", worst_ms, time.monotonic())

    def test_stopped_and_continued_under_load(self):
        with Load(self.front.address, list(self.owners)) as load:
            stopped = time.monotonic()
            self.victim.freeze()
            self.is_out()
            load.go_on()
            worst_ms = load.worst_ms(stopped)
            continued = time.monotonic()
            self.victim.signal(signal.SIGCONT)
            self.check_return(load, "SIGSTOP", worst_ms, continued)

    def test_an_ejected_replica_is_not_asked_and_its_keys_stay_with_their_heirs(self):
        for path in self.owners:
            self.assertEqual(self.front.get(path).status, 200)
        self.victim.kill()
        # Each core finds out for itself; a request goes to one or the other.
        for path in itertools.islice(itertools.cycle(self.lost), 60):
            self.assertEqual(self.front.get(path).replica, self.owners[path][1])
        retries = self.front.metric("ringside_retries_total", role="sidecar")
        for path in itertools.islice(itertools.cycle(self.lost), 60):
            self.assertEqual(self.front.get(path).replica, self.owners[path][1])
        self.assertEqual(self.front.metric("ringside_retries_total", role="sidecar"), retries)

    def test_a_slow_origin_does_not_cost_its_replica_the_service(self):
        go_on = threading.Event()

        def slow(turn):
            go_on.wait(WAIT_S)
            turn.reply(200, b"late", cache_control="no-store")

        self.source.on["/slow"] = slow
        answers = []
        asking = threading.Thread(target=lambda: answers.append(self.front.get("/slow")))
        asking.start()
        try:
            wait_until(
                lambda: self.front.metric("ringside_replica_probes_total", result="answered") >= 3,
                "probes of the replica that waits",
            )
        finally:
            go_on.set()
            asking.join(WAIT_S)
        self.assertEqual([(answer.status, answer.body) for answer in answers], [(200, b"late")])
        self.assertEqual(self.source.count("/slow"), 1)
        self.assertEqual(self.front.metric("ringside_replica_ejections_total"), 0)
        self.assertEqual(self.front.metric("ringside_replica_probes_total", result="failed"), 0)


class FailingReplicaOfTwo(Tier):
    def test_when_all_have_failed_the_first_to_return_is_found_at_once(self):
        source = self.origin()
        replicas = self.caches(2, source)
        front = self.sidecar(replicas)
        for replica in replicas:
            replica.kill()
        for number in range(40):
            self.assertEqual(front.get(f"/{number}").status, 503)
        revived = self.cache(replicas[1].name, source, "--listen", replicas[1].address)
        for number in range(40):
            answer = front.get(f"/{number}")
            self.assertEqual((answer.status, answer.replica), (200, revived.name), answer.fields)


if __name__ == "__main__":
    unittest.main()
