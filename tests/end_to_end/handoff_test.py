"""The tier changes while keys are warm, and the origin is not asked for any of them again."""

import itertools
import unittest

from support import Client, Tier, each_in_a_thread, ringside

CLIENTS = ("81.2.69.160", "53.1.2.3", "2a02:d280::7", "10.0.0.1")
PATHS = [f"/item/{number}" for number in range(250)]
KEYS = [(path, client) for path in PATHS for client in CLIENTS]
HOST = "www.example.com"
THREADS = 8


class Handoff(Tier):
    def ask_all(self, front) -> list:
        """Each key once."""

        def work(thread: int) -> list:
            with Client(front.address) as client:
                return [client.get(path, ip, Host=HOST) for path, ip in KEYS[thread::THREADS]]

        answers = list(itertools.chain(*each_in_a_thread(work, range(THREADS), THREADS)))
        self.assertEqual({answer.status for answer in answers}, {200})
        return answers

    def results(self, front) -> dict:
        names = ("hit", "miss", "peer_fill", "collapsed", "error")
        return {
            name: front.metric("ringside_requests_total", role="sidecar", result=name)
            for name in names
        }


class OfOneProcess(Handoff):
    def test_ten_become_twenty_and_nothing_is_fetched_again(self):
        origin = self.origin()
        tier = self.up(10, origin)
        self.ask_all(tier)
        self.assertEqual(origin.count(), len(KEYS))
        for replicas in (11, 20):
            ringside("scale", replicas, "--admin", tier.admin)
            answers = self.ask_all(tier)
            filled = [answer for answer in answers if "peer-fill" in answer.cache_status]
            self.assertGreater(len(filled), len(KEYS) // 40)
            self.assertEqual(origin.count(), len(KEYS))
        self.assertTrue(all(answer.is_hit for answer in self.ask_all(tier)))


if __name__ == "__main__":
    unittest.main()
