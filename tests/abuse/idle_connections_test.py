"""Connections that send nothing, or a part of a head, from one address.

Prints what it measures.
"""

import select
import unittest

from abuse import Abuse
from support import wait_until
from support.wire import Wire

CONNECTIONS = 3500
PART_OF_A_HEAD = b"GET /half HTTP/1.1\r\nHost: a.example\r\nX-Half: "


def refused(crowd: list[Wire]) -> int:
    """Of how many something has come: an answer before they have asked."""
    poll = select.poll()
    for wire in crowd:
        poll.register(wire.socket, select.POLLIN)
    return len(poll.poll(0))


class IdleConnections(Abuse):
    def test_are_let_in_as_far_as_there_is_memory_and_others_are_served(self):
        front = self.tier()
        honest = self.honest(front)
        crowd = [
            self.wire(front.address, *([PART_OF_A_HEAD] if number % 2 else []))
            for number in range(CONNECTIONS)
        ]
        wait_until(
            lambda: front.metric("ringside_connections") + refused(crowd) >= CONNECTIONS,
            "all to be let in or refused",
        )
        self.watch()
        away = refused(crowd)
        self.judge(honest, f"{CONNECTIONS} idle connections and half heads, {away} refused")


if __name__ == "__main__":
    unittest.main()
