"""Uploads that are hardly sent, from one address: they hold places at the origin, not all of them.

Prints what it measures.
"""

import contextlib
import unittest

from abuse import WATCHED_S, Abuse
from support import wait_until

UPLOADS = 300
PLACES = 256  # the default of --origin-connections
SHARE = PLACES - PLACES // 4
UPLOAD_GRACE_S = 30  # upload_grace
PIECE, PIECE_EVERY_S = b"x" * 150, 0.5  # 300 B/s, a little more than is asked for


class SlowSenders(Abuse):
    def test_leave_places_to_others(self):
        front = self.tier()
        honest = self.honest(front)
        uploads = self.uploads(front, UPLOADS)
        wait_until(
            lambda: self.of_replicas("ringside_origin_requests_in_flight") >= SHARE,
            "uploads to take their share",
        )

        def send_some() -> None:
            for upload in uploads:
                with contextlib.suppress(ConnectionError):  # it has waited too long for a place
                    upload.send(PIECE)

        self.watch(send_some, PIECE_EVERY_S)
        if WATCHED_S < UPLOAD_GRACE_S:  # later they are told 408 and hold nothing any more
            self.assertGreaterEqual(self.of_replicas("ringside_origin_requests_in_flight"), SHARE)
        self.judge(honest, f"{UPLOADS} slow uploads")

    def test_and_idle_tunnels_together_leave_places_to_others(self):
        front = self.tier()
        honest = self.honest(front)
        tunnels = self.tunnels(front, PLACES)
        uploads = self.uploads(front, PLACES)
        wait_until(
            lambda: self.of_replicas("ringside_origin_requests_in_flight") >= SHARE,
            "uploads to take their share",
        )
        self.watch()
        self.judge(honest, f"{len(tunnels)} idle tunnels and {len(uploads)} slow uploads")


if __name__ == "__main__":
    unittest.main()
