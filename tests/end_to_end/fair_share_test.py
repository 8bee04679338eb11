"""What one client holds of an origin's places leaves places for the others."""

import unittest

import tunnel_test
from support import Tier, wait_until
from support.wire import Wire, request

PLACES = 4
GREEDY = "127.0.0.1"
HONEST = "127.0.0.2"
TRUSTED = "127.0.0.9/32"  # neither of them


class Uploads(Tier):
    """They were slow, and from one address, and every other miss was told 503."""

    def test_slow_ones_leave_room_for_another_clients_misses(self):
        replica = self.cache("cache-0", self.origin(), "--origin-connections", PLACES)
        front = self.sidecar([replica], "--trust", TRUSTED)
        self.leave_room(front, replica)

    def test_slow_ones_at_a_replicas_own_port_leave_room_too(self):
        """Nobody told whose requests a stranger's were, so it had no share and took everything."""
        replica = self.start(
            "cache", "--name", "cache-0", "--origin", self.origin().url, "--threads", 1,
            "--origin-connections", PLACES, as_it_comes=True,
        )  # fmt: skip
        self.leave_room(replica, replica)

    def leave_room(self, door, replica) -> None:
        uploads = [Wire(door.address, source=GREEDY) for _ in range(2 * PLACES)]
        for upload in uploads:
            self.addCleanup(upload.close)
            upload.send(request("POST", "/upload", "Content-Length: 1000") + b"x" * 10)
        in_use = PLACES - PLACES // 4
        wait_until(
            lambda: replica.metric("ringside_origin_requests_in_flight") == in_use
            and replica.metric("ringside_origin_queue_depth") == len(uploads) - in_use,
            "uploads to take their share",
        )
        with Wire(door.address, source=HONEST) as honest:
            for number in range(20):
                self.assertEqual(honest.ask("GET", f"/miss/{number}").status, 200)
        for upload in uploads:
            upload.send(b"x" * 990)
        for upload in uploads:
            self.assertEqual(upload.answer().status, 200)


class Tunnels(Tier):
    """Idle WebSockets kept the slots of requests."""

    def test_idle_ones_take_no_place_of_a_request(self):
        source = self.stage()
        replica = self.cache("cache-0", source, "--origin-connections", 1)
        front = self.sidecar([replica], "--trust", TRUSTED)
        for _ in range(3):
            client = Wire(front.address)
            self.addCleanup(client.close)
            client.send(tunnel_test.asking("/ws"))
            server = source.accept()
            self.addCleanup(server.close)
            tunnel_test.Tunnel.switch(server)
            self.assertEqual(client.head().status, 101)
        wait_until(
            lambda: replica.metric("ringside_origin_requests_in_flight") == 0,
            "tunnels to leave the requests' places",
        )
        with Wire(front.address) as client:
            client.send(request("GET", "/page"))
            with source.accept() as server:
                server.read_to(b"\r\n\r\n")
                server.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                self.assertEqual(client.answer().status, 200)


if __name__ == "__main__":
    unittest.main()
