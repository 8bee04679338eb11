"""One flight per key: however many ask at once, the origin is asked once."""

import asyncio
import threading
import unittest

from support import WAIT_S, Tier, each_in_a_thread, wait_until
from support.program import raise_open_files

CROWD = 1000


async def ask(address: str, target: str) -> bytes:
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        return await asyncio.wait_for(reader.read(), WAIT_S)
    finally:
        writer.close()


class OneFlight(Tier):
    def setUp(self):
        super().setUp()
        raise_open_files()
        self.source = self.origin()
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)
        self.replica = self.cache("cache-0", self.source)
        self.front = self.sidecar([self.replica])

    def crowd(self, target: str, size: int) -> list[bytes]:
        """The answers to `size` requests, all on their way before the origin answers one."""

        async def all_at_once():
            requests = [asyncio.create_task(ask(self.front.address, target)) for _ in range(size)]
            await asyncio.to_thread(wait_until, self.all_arrived(size), f"{size} connections")
            self.gate.set()
            return await asyncio.gather(*requests)

        return asyncio.run(all_at_once())

    def all_arrived(self, size: int):
        return lambda: self.replica.metric("ringside_connections", role="cache") >= size

    def test_a_thousand_requests_for_a_cold_key_cost_one_fetch(self):
        def when_told(turn):
            self.gate.wait(WAIT_S)
            turn.reply(body=b"x" * 100_000)

        self.source.on["/cold"] = when_told
        answers = self.crowd("/cold", CROWD)
        self.assertEqual(len(answers), CROWD)
        for answer in answers:
            head, body = answer.split(b"\r\n\r\n", 1)
            self.assertTrue(head.startswith(b"HTTP/1.1 200 "), head)
            self.assertEqual(body, b"x" * 100_000)
        self.assertEqual(self.source.count("/cold"), 1)

        def result(name):
            return self.front.metric("ringside_requests_total", role="sidecar", result=name)

        wait_until(
            lambda: result("miss") + result("collapsed") + result("hit") == CROWD,
            "the last answers to be counted",
        )
        self.assertEqual(result("miss"), 1)
        self.assertGreater(result("collapsed"), CROWD / 2)

    def test_followers_stream_while_it_fills(self):
        def in_two_pieces(turn):
            turn.send(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n")
            turn.send(b"first")
            self.gate.wait(WAIT_S)
            turn.send(b"after")

        self.source.on["/streamed"] = in_two_pieces

        async def conversation():
            host, port = self.front.address.rsplit(":", 1)
            streams = []
            for _ in range(3):
                reader, writer = await asyncio.open_connection(host, int(port))
                writer.write(b"GET /streamed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                early = await asyncio.wait_for(reader.readuntil(b"first"), WAIT_S)
                self.assertNotIn(b"after", early)
                streams.append((reader, writer))
            self.gate.set()
            for reader, writer in streams:
                self.assertEqual(await asyncio.wait_for(reader.read(), WAIT_S), b"after")
                writer.close()

        asyncio.run(conversation())
        self.assertEqual(self.source.count("/streamed"), 1)

    def test_a_failed_leader_strands_nobody(self):
        def breaks(turn):
            self.gate.wait(WAIT_S)
            turn.reset()

        self.source.on["/broken"] = breaks
        answers = self.crowd("/broken", 50)
        for answer in answers:
            self.assertTrue(answer.startswith(b"HTTP/1.1 502 "), answer)
            self.assertIn(b"Proxy-Status: cache-0; error=", answer)
        del self.source.on["/broken"]
        self.assertEqual(self.front.get("/broken").status, 200)

    def test_a_leader_that_leaves_ends_nobodys_answer(self):
        def when_told(turn):
            self.gate.wait(WAIT_S)
            turn.reply(body=b"whole")

        self.source.on["/left"] = when_told

        async def conversation():
            host, port = self.front.address.rsplit(":", 1)
            _, leaver = await asyncio.open_connection(host, int(port))
            leaver.write(b"GET /left HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.to_thread(self.source.wait_for, "/left")
            follower = asyncio.create_task(ask(self.front.address, "/left"))
            await asyncio.to_thread(wait_until, self.all_arrived(2), "the follower")
            leaver.transport.abort()
            self.gate.set()
            return await follower

        answer = asyncio.run(conversation())
        self.assertTrue(answer.startswith(b"HTTP/1.1 200 "), answer)
        self.assertTrue(answer.endswith(b"whole"), answer)
        self.assertEqual(self.source.count("/left"), 1)

    def test_what_may_not_be_stored_is_fetched_for_each(self):
        self.source.on["/mine"] = lambda turn: turn.reply(cache_control="private")
        answers = each_in_a_thread(lambda _: self.front.get("/mine"), range(20), 10)
        self.assertEqual({answer.status for answer in answers}, {200})
        self.assertEqual(self.source.count("/mine"), 20)


if __name__ == "__main__":
    unittest.main()
