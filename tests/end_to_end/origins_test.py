"""Several origins of a route: each gets its share, and one that dies is replaced by the others."""

import threading
import types
import unittest

from support import WAIT_S, Tier, each_in_a_thread, wait_until


class TwoOrigins(Tier):
    def setUp(self):
        super().setUp()
        self.heavy, self.light = self.origin(), self.origin()
        both = types.SimpleNamespace(url=f"{self.heavy.url};weight=3,{self.light.url}")
        self.replica = self.cache("cache-0", both)
        self.front = self.sidecar([self.replica])

    def failed(self) -> float:
        return self.replica.metric("ringside_origin_requests_total", answer="failed")

    def test_each_gets_its_share(self):
        for number in range(40):
            self.assertEqual(self.front.get(f"/{number}").status, 200)
        self.assertEqual((self.heavy.count(), self.light.count()), (30, 10))

    def test_one_dies_and_nobody_notices_and_it_gets_its_share_again_when_it_is_back(self):
        for number in range(8):
            self.assertEqual(self.front.get(f"/before/{number}").status, 200)
        self.heavy.go_down()

        def ask(number):
            return self.front.get(f"/without/{number}").status

        self.assertEqual(set(each_in_a_thread(ask, range(100))), {200})
        self.assertEqual(self.replica.metric("ringside_origin_circuits_open"), 1)
        asked_in_vain = self.failed()
        self.assertLess(asked_in_vain, 100)
        self.assertEqual(self.replica.metric("ringside_origin_refused_total"), 0)

        self.heavy.listen()
        before = self.heavy.count()
        numbers = iter(range(1_000_000))

        def closed():
            self.assertEqual(self.front.get(f"/after/{next(numbers)}").status, 200)
            return self.replica.metric("ringside_origin_circuits_open") == 0

        wait_until(closed, "the probe that brings the origin back")
        first = self.heavy.count()
        self.assertGreater(first, before)
        for number in range(40):
            self.assertEqual(self.front.get(f"/again/{number}").status, 200)
        self.assertGreaterEqual(self.heavy.count() - first, 29)

    def test_where_all_are_dead_the_refusal_comes_at_once(self):
        self.heavy.go_down()
        self.light.go_down()
        answers = [self.front.get(f"/{number}") for number in range(20)]
        self.assertEqual(answers[0].status, 502)
        # But for a probe now and then.
        refused = [answer for answer in answers if answer.status == 503]
        self.assertGreaterEqual(len(refused), 10)
        for answer in refused:
            self.assertTrue(answer.field("Retry-After"))
        self.assertGreaterEqual(
            self.replica.metric("ringside_origin_refused_total", reason="circuit_open"), 1
        )


class ACap(Tier):
    def test_no_more_requests_are_at_the_origin_than_allowed(self):
        source, leave = self.origin(), threading.Event()
        most, now, lock = [0], [0], threading.Lock()

        def slow(turn):
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            leave.wait(WAIT_S)
            with lock:
                now[0] -= 1
            turn.reply()

        for number in range(12):
            source.on[f"/{number}"] = slow
        replica = self.cache("cache-0", source, "--origin-connections", 3)

        def ask(number):
            return replica.get(f"/{number}").status

        def release():
            wait_until(
                lambda: replica.metric("ringside_origin_queue_depth") == 9, "nine requests queued"
            )
            self.assertEqual(replica.metric("ringside_origin_requests_in_flight"), 3)
            leave.set()

        releaser = threading.Thread(target=release)
        releaser.start()
        self.assertEqual(set(each_in_a_thread(ask, range(12), threads=12)), {200})
        releaser.join()
        self.assertEqual(most[0], 3)
        wait_until(
            lambda: replica.metric("ringside_origin_requests_in_flight") == 0, "an idle origin"
        )


if __name__ == "__main__":
    unittest.main()
