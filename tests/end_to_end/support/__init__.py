"""What the end-to-end tests share: an origin, processes of the program, clients, a country file.

A test says what it is about and nothing of ports, waits or clean-up:

    class AHit(Tier):
        def test_the_second_request_is_answered_from_the_store(self):
            origin = self.origin()
            front = self.sidecar([self.cache("cache-0", origin)])
            self.assertIn("fwd=uri-miss", front.get("/a").cache_status)
            self.assertIn("hit", front.get("/a").cache_status)
            self.assertEqual(origin.count("/a"), 1)
"""

from .client import Client, Response, converse, each_in_a_thread
from .mmdb import COUNTRIES, write_mmdb
from .origin import Origin
from .program import PROGRAM, ROOT, Process, ringside
from .tier import Tier
from .waiting import WAIT_S, wait_until

__all__ = [
    "COUNTRIES",
    "PROGRAM",
    "ROOT",
    "WAIT_S",
    "Client",
    "Origin",
    "Process",
    "Response",
    "Tier",
    "converse",
    "each_in_a_thread",
    "ringside",
    "wait_until",
    "write_mmdb",
]
