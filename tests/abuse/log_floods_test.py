"""More to say on stderr than anybody reads, said at every signal and at every false proof.

Prints what it measures.
"""

import itertools
import os
import secrets
import signal
import unittest

from abuse import Abuse
from support import wait_until

SIGNAL_EVERY_S = 0.001
LIARS = 2
OF_LIARS = (
    f"OPTIONS * HTTP/1.1\r\nHost: cache-0\r\nMax-Forwards: 0\r\n"
    f"Ringside-Hello: 1 sidecar mallory cache-0 {secrets.token_hex(32)}\r\n\r\n"
).encode(), (
    f"OPTIONS * HTTP/1.1\r\nHost: cache-0\r\nMax-Forwards: 0\r\n"
    f"Ringside-Proof: {secrets.token_hex(32)}\r\n\r\n"
).encode()


class LogFloods(Abuse):
    def start(self, command: str, *arguments, **how):
        unread, written = os.pipe()
        self.addCleanup(os.close, unread)
        try:
            return super().start(command, *arguments, stderr=written, **how)
        finally:
            os.close(written)

    def test_that_nobody_reads_stop_nothing(self):
        configuration = self.file("ringside.yaml", "log_level: debug\n")
        options = ("--config", configuration)
        front = self.tier(*options, of_replicas=options)
        honest = self.honest(front)
        # From now on there is much to say: each reload is refused, at length, and always in other
        # words, since what is said again and again is folded.
        numbers = itertools.count()
        liars = self.storm(self.replicas[0].address, list(OF_LIARS), LIARS)
        everybody = [front, *self.replicas]

        def have_all_say_something() -> None:
            self.file("ringside.yaml", f"{next(numbers)}{'x' * 900}: 1\n")
            for process in everybody:
                process.signal(signal.SIGHUP)

        def dropped() -> list[float]:
            have_all_say_something()
            return [process.metric("ringside_log_dropped_total") for process in everybody]

        self.watch(have_all_say_something, SIGNAL_EVERY_S)
        wait_until(lambda: min(dropped()) > 0, "all to have too much to say")
        refused = sum(one[403] for one in self.end(liars))
        load = f"{sum(dropped()):.0f} lines too many for a log that nobody reads"
        self.judge(honest, f"{load}, {refused} false proofs")
        self.assertGreater(refused, 0)
        for process in everybody:
            process.signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
