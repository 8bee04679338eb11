"""What a tier does that nobody asks: how often its threads wake. A count, not a time: a machine that
is busy with other things only makes it smaller."""

import pathlib
import time
import unittest

from support.memory import sanitizers
from support.tier import Tier

WATCHED_S = 2
WINDOWS = 5  # at most
WAKES_PER_S = 6  # with a tick of 20 ms it was more than 50


def wakes(pid: int) -> int:
    """How often threads of the process have gone to sleep."""
    return sum(int(line.split()[1])
               for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status")
               for line in status.read_text(encoding="utf-8", errors="replace").splitlines()
               if line.startswith("voluntary_ctxt_switches"))


@unittest.skipIf("thread" in sanitizers(), "ThreadSanitizer has a thread of its own, which wakes")
class Idle(Tier):
    def test_a_tier_that_nobody_asks_sleeps(self) -> None:
        origin = self.origin()
        caches = self.caches(3, origin)
        processes = {"sidecar": self.sidecar(caches), "cache": caches[0]}
        for name, process in processes.items():
            with self.subTest(name):
                # In the first of them the replicas may still be asked for their first word.
                windows = (self.rate(process.child.pid) for _ in range(WINDOWS))
                least = next((rate for rate in windows if rate <= WAKES_PER_S), None)
                self.assertIsNotNone(least, f"more than {WAKES_PER_S} wakes a second, again and again")

    def rate(self, pid: int) -> float:
        began, before = time.monotonic(), wakes(pid)
        time.sleep(WATCHED_S)
        return (wakes(pid) - before) / (time.monotonic() - began)


if __name__ == "__main__":
    unittest.main()
