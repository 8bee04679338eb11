"""Somebody dies, or is cut off, while what is stored moves, under clients of five countries and cold
requests: each answer is right, what is lost is what the dead one alone had, and it ends."""

import signal
import unittest

from support import Tier, wait_until
from support.link import Fault
from support.visitors import BROKEN_OFF, CLIENTS, COUNTRY_OF, Visit, Visitors, wrong_visits

BODY_SIZE_BYTES = 60_000


def body_of(target: str, country: str, language: str) -> bytes:
    return f"{target} for {country} in {language}\n".encode().ljust(BODY_SIZE_BYTES, b"x")


PLAIN = [f"/item/{number}" for number in range(30)]
VARIED = [f"/varied/{number}" for number in range(5)]
WARM = [
    *(
        Visit(path, client, body_of(path, COUNTRY_OF[client], "any"))
        for path in PLAIN
        for client in CLIENTS
    ),
    *(
        Visit(path, client, body_of(path, COUNTRY_OF[client], language), language)
        for path in VARIED
        for client in CLIENTS
        for language in ("de", "fr")
    ),
]
# Of pages that nobody has asked for before the fault, and of others from then on.
EARLY, LATE = "/early", "/late"
# A fifth of it is to move, which takes some two seconds. Who ends gives for half a second.
SLOWLY = ("--move-rate", 1, "--drain-deadline", "1s")


class InMidMove(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        for path in PLAIN:
            self.source.on[path] = lambda turn: turn.reply(200, self.body(turn.request, "any"))
        for path in VARIED:
            self.source.on[path] = lambda turn: turn.reply(
                200,
                self.body(turn.request, turn.request.field("Accept-Language")),
                vary="Accept-Language",
            )
        self.replicas = self.caches(4, self.source, *SLOWLY)
        for replica in self.replicas:
            self.tell(replica, self.replicas)
        self.fronts = [self.sidecar(self.replicas) for _ in range(2)]
        self.visits = list(WARM)
        self.is_one_killed = False
        self.ask_all()
        self.assertEqual(self.source.count(), len(WARM))
        self.come(EARLY)

    def body(self, request, language: str) -> bytes:
        return body_of(request.target, request.field("X-Country"), language)

    def tell(self, process, replicas, **elsewhere) -> None:
        """`elsewhere`: the addresses of some, as that process is to know them."""
        members = [
            {"name": one.name, "address": elsewhere.get(one.name.replace("-", "_"), one.address)}
            for one in replicas
        ]
        answer = process.administer("PUT", "/topology", {"scheme": "ring", "members": members})
        self.assertEqual(answer.status, 200, answer.text)

    def tell_all(self) -> None:
        for process in (*self.replicas, *self.fronts):
            self.tell(process, self.replicas)

    def ask_all(self) -> None:
        """For each, half of them at either of the two sidecars."""
        for front, visits in zip(self.fronts, (self.visits[::2], self.visits[1::2])):
            self.assertEqual(wrong_visits(front.address, visits), [])

    def come(self, cold: str) -> None:
        """From now on visitors ask, for what is cold, too."""
        self.visitors = Visitors(self.fronts, WARM, cold)
        self.addCleanup(self.visitors.end)

    def go(self) -> None:
        """What they have asked for is there, as what was warm before. Who was in the midst of an answer
        of the one that was killed saw it break off."""
        wrong = [status for _, status in self.visitors.end()]
        self.assertEqual(wrong, [BROKEN_OFF] * len(wrong))
        self.assertLessEqual(len(wrong), len(self.fronts) if self.is_one_killed else 0)
        self.visits += self.visitors.cold_visits()

    def fetches(self) -> int:
        """Of what was there before the fault."""
        return sum(not one.target.startswith(LATE) for one in self.source.seen())

    def entries(self) -> int:
        return sum(int(one.metric("ringside_store_entries")) for one in self.replicas)

    def begin_to_move(self):
        """To the newcomer, which has some of it by then, and not all."""
        newcomer = self.cache("cache-4", self.source, *SLOWLY)
        self.replicas.append(newcomer)
        self.tell(newcomer, self.replicas)
        self.tell_all()
        wait_until(lambda: newcomer.metric("ringside_moved_responses_total") > 0, "a first batch")
        self.assertGreater(newcomer.metric("ringside_buckets_away"), 0)
        told = newcomer.json("/topology")["self"]
        self.assertGreater(min(told["moved_responses"], told["moved_bytes"]), 0)
        return newcomer

    def kill(self, replica) -> None:
        self.is_one_killed = True
        replica.kill()
        self.replicas.remove(replica)

    def lose(self, most: int) -> None:
        """Whoever was killed alone held so many at most."""
        had = len(self.visits)
        self.ask_all()
        self.tell_all()
        self.ask_all()
        self.assertLessEqual(self.fetches(), had + most)
        self.wait_until_settled()

    def wait_until_settled(self) -> None:
        self.go()
        self.ask_all()

        def is_settled() -> bool:
            away = sum(one.metric("ringside_buckets_away") for one in self.replicas)
            return away == 0 and self.entries() == len(self.visits)

        wait_until(is_settled, "everything to lie with its owners, once")
        asked = self.source.count()
        self.ask_all()
        self.assertEqual(self.source.count(), asked)

    def test_the_holder_is_killed(self):
        self.begin_to_move()
        self.go()
        holder, had = self.replicas[0], len(self.visits)
        held = int(holder.metric("ringside_store_entries"))
        self.come(LATE)
        self.kill(holder)
        self.lose(held)
        self.assertGreater(self.fetches(), had)

    def test_the_new_owner_is_killed(self):
        newcomer = self.begin_to_move()
        self.go()
        self.kill(newcomer)
        # What it has not said to have is there still.
        held = len(self.visits) - self.entries()
        self.come(LATE)
        self.lose(held)

    def test_who_ends_before_all_is_taken_says_how_much_is_lost(self):
        self.go()
        leaver, had = self.replicas.pop(0), len(self.visits)
        held = int(leaver.metric("ringside_store_entries"))
        self.come(LATE)
        leaver.signal(signal.SIGTERM)
        self.assertEqual(leaver.wait(), 0)
        self.assertRegex(leaver.err, r"draining: [1-9][\d,]* buckets were not taken in time, and are lost")
        self.lose(held)
        self.assertGreater(self.fetches(), had)

    def test_the_network_between_the_two_is_cut_and_heals(self):
        newcomer = self.cache("cache-4", self.source, *SLOWLY)
        holder = self.replicas[0]
        self.replicas.append(newcomer)
        there, back = self.link(holder.address), self.link(newcomer.address)
        self.tell(newcomer, self.replicas, cache_0=there.address)
        self.tell(holder, self.replicas, cache_4=back.address)
        for process in (*self.replicas[1:4], *self.fronts):
            self.tell(process, self.replicas)
        wait_until(lambda: newcomer.metric("ringside_moved_responses_total") > 0, "a first batch")
        self.go()
        had = len(self.visits)
        self.come(LATE)
        for link in (there, back):
            link.fault = Fault.blackhole
        self.ask_all()
        for link in (there, back):
            link.fault = Fault.none
        self.wait_until_settled()
        # What was to come from that one, at most.
        self.assertLessEqual(self.fetches(), had * 5 // 4)


if __name__ == "__main__":
    unittest.main()
