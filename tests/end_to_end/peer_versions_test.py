"""Replicas of two versions in one tier: who is not understood is left out, and nothing it says is
taken for something else. The one of another version is a script."""

import collections
import socket
import threading
import unittest

from support import WAIT_S, Tier, wait_until
from support.wire import Wire

PATHS = [f"/{number}" for number in range(40)]
EVERYTHING = "7 1\n0 16383 1\n"  # holdings: the authority over all buckets
POISON = b"not what the origin says"


class OfTwoVersions(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.other = self.origin()
        self.own = self.cache("cache-0", self.source)
        self.front = self.sidecar([self.own])

    def meet(self, answer_options, answer_fill=None, others=()) -> None:
        """`answer_options`: how the other one answers what members ask each other."""
        self.other.on["*"] = answer_options
        for path in PATHS:
            self.other.on[path] = answer_fill or (lambda turn: turn.reply(404, POISON))
        members = [
            {"name": "cache-0", "address": self.own.address},
            {"name": "cache-1", "address": self.other.address},
            *others,
        ]
        told = self.own.administer("PUT", "/topology", {"scheme": "ring", "members": members})
        self.assertEqual(told.status, 200, told.text)
        self.other.wait_for("*")

    def ask_all(self) -> list:
        """Through a sidecar that knows of this replica alone."""
        answers = [self.front.get(path, "81.2.69.160") for path in PATHS]
        for path, answer in zip(PATHS, answers, strict=True):
            self.assertEqual(answer.status, 200, answer.text)
            self.assertTrue(answer.text.startswith(f"GET {path} for GB\n"), answer.text)
        return answers

    def assert_left_out(self) -> None:
        """What this one owns is its own; for the rest the origin is asked, and nobody else."""
        self.ask_all()
        hits = sum(answer.is_hit for answer in self.ask_all())
        self.assertGreater(hits, len(PATHS) // 4)

    def complaint(self) -> str:
        wait_until(lambda: "should be of one version" in self.own.err, "it to be said")
        [line] = [line for line in self.own.err.splitlines() if "one version" in line]
        return line

    def test_an_older_one_that_knows_of_no_holdings_holds_nothing(self):
        self.meet(lambda turn: turn.reply(200, b""))
        self.assert_left_out()
        of_it = [line for line in self.own.err.splitlines() if "cache-1" in line]
        self.assertEqual([line for line in of_it if " topology: " not in line], [])

    def test_a_newer_one_whose_holdings_have_another_line_is_not_believed(self):
        said = f"{EVERYTHING}spare 5\n".encode()
        self.meet(lambda turn: turn.reply(200, said, Ringside_Holdings="7 1"))
        self.assert_left_out()
        self.assertIn("cache-1 does not say what it holds: holdings: line 3 is none", self.complaint())
        self.assertEqual(sum(self.other.count(path) for path in PATHS), 0)

    def test_a_newer_one_whose_batches_have_other_items_gives_nothing(self):
        asked = {"moves": 0}

        def answer(turn) -> None:
            if number := turn.request.field("Ringside-Move"):
                asked["moves"] += 1
                batch = b"B 1 1\nZ 1 2 3\n"  # a bucket is given, and what nobody knows
                return turn.reply(200, batch, Ringside_Move=number.split(" ")[1])
            turn.reply(200, EVERYTHING.encode(), Ringside_Holdings="7 1")

        self.meet(answer)
        wait_until(lambda: asked["moves"] > 0, "it to be asked for what it has")
        self.assertIn("cache-1 gives nothing: a moved response: no such item", self.complaint())
        self.ask_all()
        self.assertEqual(self.own.metric("ringside_moved_responses_total"), 0)
        # Not even the bucket before what was not understood.
        wait_until(lambda: asked["moves"] > 1, "it to be asked again")

    def test_a_giver_is_told_what_is_too_large_to_be_stored_here(self):
        asked = []

        def answer(turn) -> None:
            if turn.request.field("Ringside-Move"):
                asked.append(turn.request.field("Ringside-Move-Most"))
                return turn.reply(200, b"")
            turn.reply(200, EVERYTHING.encode(), Ringside_Holdings="7 1")

        self.meet(answer)
        wait_until(lambda: asked, "it to be asked for what it has")
        store_bytes = self.own.metric("ringside_store_limit_bytes")
        self.assertEqual(int(asked[0]), store_bytes // 8)

    def test_a_taker_is_not_given_what_it_says_is_too_large(self):
        self.ask_all()
        self.meet(lambda turn: turn.reply(200, b"9 1\n", Ringside_Holdings="9 1"))
        def batch(*lines: str) -> bytes:
            """The first batch, once more each time."""
            with Wire(self.own.address) as wire:
                return wire.ask("OPTIONS", "*", "Max-Forwards: 0", "Ringside-Move: cache-1 1", *lines).body

        wait_until(lambda: b"GET /" in batch(), "it to give what is the other one's now")
        self.assertNotIn(b"GET /", batch("Ringside-Move-Most: 5"))
        left_out = self.own.metric("ringside_moved_left_out_total")
        with Wire(self.own.address) as wire:
            wire.ask("OPTIONS", "*", "Max-Forwards: 0", "Ringside-Move: cache-1 2")
        self.assertGreater(self.own.metric("ringside_moved_left_out_total"), left_out)
        self.assertEqual(batch("Ringside-Move-Most: 1000x"), b"", "that is no number")

    def test_a_batch_that_is_too_large_is_refused_at_its_head(self):
        def answer(turn) -> None:
            if question := turn.request.field("Ringside-Move"):
                head = f"HTTP/1.1 200 OK\r\nRingside-Move: {question.split(' ')[1]} 1\r\n"
                turn.send(f"{head}Content-Length: {70 << 20}\r\n\r\n".encode())
                refused.wait(WAIT_S)  # no byte of the body follows
                return turn.close()
            turn.reply(200, EVERYTHING.encode(), Ringside_Holdings="7 1")

        refused = threading.Event()
        self.addCleanup(refused.set)
        self.meet(answer)
        self.assertIn("cache-1 gives nothing: a batch of 73400320 bytes is too large", self.complaint())

    def test_batches_that_come_at_once_take_a_share_of_the_store(self):
        at_second_batch, may_end = self.send_two_batches()
        self.look_around()  # it would be asked for the next batch by then
        may_end.set()
        wait_until(lambda: at_second_batch, "the batch that waited to be taken")
        self.assertEqual(at_second_batch[0], "the first may end")

    def test_a_batch_of_a_giver_that_drains_waits_for_no_other(self):
        at_second_batch, _ = self.send_two_batches("draining\n")
        wait_until(lambda: at_second_batch, "the batch to be taken")
        self.assertEqual(at_second_batch[0], "the first is awaited")

    def send_two_batches(self, of_second: str = ""):
        """The body of the first, which takes the whole share, comes when the event that is returned
        is set. And what has become of it, whenever the second giver is asked for what follows its own
        batch. `of_second`: what that one says before its buckets."""
        share_bytes = int(self.own.metric("ringside_store_limit_bytes")) // 8
        third = self.origin()
        begun, answered, may_end = threading.Event(), threading.Event(), threading.Event()
        at_second_batch, first_connections = [], []

        def state_of_first() -> str:
            if may_end.is_set():
                return "the first may end"
            try:
                first_connections[0].recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return "the first is awaited"
            return "the first is given up"

        def answers(incarnation: int, holdings: str, answer_move):
            def answer(turn) -> None:
                if question := turn.request.field("Ringside-Move"):
                    return answer_move(turn, question.split(" ")[1])
                said = f"{incarnation} 1\n{holdings}\n".encode()
                turn.reply(200, said, Ringside_Holdings=f"{incarnation} 1")

            return answer

        def first(turn, number: str) -> None:
            head = f"HTTP/1.1 200 OK\r\nRingside-Move: {number} 1\r\n"
            turn.send(f"{head}Content-Length: {share_bytes}\r\n\r\n".encode())
            first_connections.append(turn.connection)
            begun.set()
            may_end.wait(WAIT_S)
            turn.close()

        def second(turn, number: str) -> None:
            if number != "1":
                at_second_batch.append(state_of_first())
                return turn.reply(200, b"", Ringside_Move=f"{number} 1")
            begun.wait(WAIT_S)
            self.look_around()  # the head of the first one is read by then
            batch = b"B 16383 1\n" * 100_000
            answered.set()
            turn.reply(200, batch, Ringside_Move="1 1", Ringside_Holdings="9 1")

        self.addCleanup(may_end.set)
        third.on["*"] = answers(9, f"{of_second}8192 16383 1", second)
        self.meet(
            answers(7, "0 8191 1", first),
            others=[{"name": "cache-2", "address": third.address}],
        )
        self.assertTrue(answered.wait(WAIT_S))
        return at_second_batch, may_end

    def look_around(self) -> None:
        for _ in range(50):
            self.own.readyz()

    def test_one_that_does_not_know_what_a_fill_is_refuses_it(self):
        def answer(turn) -> None:
            if turn.request.field("Ringside-Move"):
                return turn.reply(200, b"")  # and no field: it does not know of moves
            turn.reply(200, EVERYTHING.encode(), Ringside_Holdings="7 1")

        self.meet(answer, answer_fill=lambda turn: turn.reply(421, b"what is this?"))
        self.ask_all()
        self.assertGreater(self.own.metric("ringside_holder_requests_total", result="refused"), 0)

    def meet_a_holder_that_names(self, name: str, others=(), then_tells_of=None) -> None:
        """Three times, which is as often as others are asked for one thing; then it answers."""
        asked = collections.Counter()

        def answer(turn) -> None:
            if turn.request.field("Ringside-Move"):
                return turn.reply(200, b"")
            line = f"\nleaver {name} {then_tells_of}\n" if then_tells_of and asked else "\n"
            said = EVERYTHING.replace("\n", line, 1)
            turn.reply(200, said.encode(), Ringside_Holdings="7 1")

        def answer_fill(turn) -> None:
            asked[turn.request.target] += 1
            if asked[turn.request.target] > 3:
                return turn.reply(200, b"from the holder", Ringside_Outcome="hit")
            turn.reply(421, b"", Ringside_Outcome="bypass", Ringside_Holder=name)

        self.meet(answer, answer_fill, others)

    def test_a_holder_that_names_one_that_has_ended_is_asked_until_it_knows(self):
        gone = self.stage()
        gone.stop()
        self.meet_a_holder_that_names("cache-2", [{"name": "cache-2", "address": gone.address}])
        self.assertEqual(self.front.get(PATHS[0], "81.2.69.160").text, "from the holder")
        self.assertEqual(self.other.count(PATHS[0]), 4)
        self.assertEqual(self.source.count(PATHS[0]), 0)

    def test_a_holder_that_tells_of_one_that_ends_just_then_is_asked_until_it_knows(self):
        ending = self.origin()

        def answer(turn) -> None:  # it can be heard, so nobody has noticed yet
            is_move = turn.request.field("Ringside-Move")
            turn.reply(200, b"" if is_move else b"9 1\n0 0 1\n", Ringside_Holdings="9 1")

        ending.on["*"] = answer
        ending.on[PATHS[0]] = lambda turn: turn.reset()
        self.meet_a_holder_that_names("cache-2", then_tells_of=ending.address)
        self.assertEqual(self.front.get(PATHS[0], "81.2.69.160").text, "from the holder")
        self.assertEqual(self.other.count(PATHS[0]), 4)
        self.assertEqual(self.source.count(PATHS[0]), 0)

    def test_a_holder_that_names_one_that_nobody_knows_is_not_waited_for(self):
        self.meet_a_holder_that_names("cache-9")
        self.ask_all()
        asked = [self.other.count(path) for path in PATHS]
        self.assertEqual(set(asked), {3})  # `holders_tried`

    def test_what_a_peer_has_taken_back_is_not_taken_with_a_refusal(self):
        version = {"now": 1}

        def answer(turn) -> None:
            if turn.request.field("Ringside-Move"):
                return turn.reply(200, b"")
            said = f"7 {version['now']}"
            turn.reply(200, EVERYTHING.replace("7 1", said, 1).encode(), Ringside_Holdings=said)

        def answer_fill(turn) -> None:
            given_in = f"7 {version['now']}"
            if version["now"] == 1:  # the answer is on its way meanwhile
                version["now"] = 2
                self.holdings_told("7 2", "Ringside-Taken-Back: 2")
            turn.reply(421, b"", Ringside_Outcome="bypass", Ringside_Holder=f"cache-0 1 {given_in}")

        self.meet(answer, answer_fill)
        self.front.get(PATHS[0], "81.2.69.160")
        self.assertEqual(self.other.count(PATHS[0]), 2, "and taken when it was given again")
        self.assertEqual(self.source.count(PATHS[0]), 1)

    def test_what_a_peer_has_taken_back_of_a_batch_is_not_taken(self):
        version, batches, holdings = {"now": 1}, [], []

        def answer(turn) -> None:
            if number := turn.request.field("Ringside-Move"):
                batches.append(number)
                made_in = f"7 {version['now']}"
                if len(batches) == 1:  # the batch is on its way meanwhile
                    version["now"] = 2
                    self.holdings_told("7 2", "Ringside-Taken-Back: 2")
                else:
                    holdings.append(self.holdings_told("7 2"))
                batch = b"B 0 1\n" if len(batches) <= 2 else b""
                serial = f"{number.split(' ')[1]} {100 + len(batches)}"
                return turn.reply(200, batch, Ringside_Move=serial, Ringside_Holdings=made_in)
            everything = EVERYTHING.replace("7 1", f"7 {version['now']}", 1)
            turn.reply(200, everything.encode(), Ringside_Holdings=f"7 {version['now']}")

        self.meet(answer)
        wait_until(lambda: len(holdings) > 1, "it to be asked for the batch again, and the next")
        self.assertEqual(batches[:3], ["cache-0 1", "cache-0 1", "cache-0 2 102"])
        taken = "\n0 0 2\n"  # bucket 0, with the epoch after that of the one that gave it
        self.assertNotIn(taken, holdings[0])
        self.assertIn(taken, holdings[1])

    def holdings_told(self, version: str, *lines: str) -> str:
        """What the replica says that it holds, when the other one asks it and tells this."""
        asked = f"Ringside-Holdings: cache-1 {version} 0 0"
        with Wire(self.own.address) as wire:
            return wire.ask("OPTIONS", "*", "Max-Forwards: 0", asked, *lines).text


if __name__ == "__main__":
    unittest.main()
