"""Honest clients with nobody beside them: what the others' figures are to be compared with."""

import unittest

from abuse import Abuse, shipped_size
from support.memory import MIB


class Quiet(Abuse):
    def test_honest_clients_alone_are_all_served(self):
        honest = self.honest(self.tier())
        store_mib = shipped_size("cache").memory_bytes * 3 // 4 // MIB
        for replica in self.replicas:  # they know what size they have
            self.assertEqual(replica.json("/config")["memory"], f"{store_mib}MiB")
        self.watch()
        self.judge(honest, "Nobody else")


if __name__ == "__main__":
    unittest.main()
