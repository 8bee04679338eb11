"""WebSockets that say nothing, from one address: they take places of their own.

Prints what it measures.
"""

import unittest

from abuse import Abuse

TUNNELS = 400


class IdleTunnels(Abuse):
    def test_leave_places_to_others(self):
        front = self.tier()
        honest = self.honest(front)
        tunnels = self.tunnels(front, TUNNELS)
        self.watch()
        self.judge(honest, f"{len(tunnels)} idle tunnels")
        self.assertEqual(self.of_replicas("ringside_origin_requests_in_flight"), 0)
        for tunnel in tunnels:
            tunnel.socket.setblocking(False)
            with self.assertRaises(BlockingIOError):  # it is open still
                tunnel.socket.recv(1)


if __name__ == "__main__":
    unittest.main()
