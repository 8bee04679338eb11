"""What a tier does that nobody asks: how often its threads wake. A count, not a time: a machine that
is busy with other things only makes it smaller."""

import pathlib
import time
import unittest

from support.tier import Tier

WATCHED_S = 2
WAKES_PER_S = {"sidecar": 6, "cache": 6}  # with a tick of 20 ms it was more than 50


def wakes(pid: int) -> int:
    """How often threads of the process have gone to sleep."""
    return sum(int(line.split()[1])
               for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status")
               for line in status.read_text(encoding="utf-8", errors="replace").splitlines()
               if line.startswith("voluntary_ctxt_switches"))


class Idle(Tier):
    def test_a_tier_that_nobody_asks_sleeps(self) -> None:
        origin = self.origin()
        caches = self.caches(3, origin)
        processes = {"sidecar": self.sidecar(caches), "cache": caches[0]}
        time.sleep(1)  # until all have been asked for their first word
        began = time.monotonic()
        before = {name: wakes(process.child.pid) for name, process in processes.items()}
        time.sleep(WATCHED_S)
        for name, process in processes.items():
            rate = (wakes(process.child.pid) - before[name]) / (time.monotonic() - began)
            with self.subTest(name):
                self.assertLessEqual(rate, WAKES_PER_S[name])


if __name__ == "__main__":
    unittest.main()
