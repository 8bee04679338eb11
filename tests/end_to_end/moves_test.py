"""What is stored moves by itself: who came gets it, and who leaves is waited for until it is empty."""

import itertools
import re
import signal
import subprocess
import unittest

from slice_test import Film
from support import PROGRAM, WAIT_S, Client, Tier, each_in_a_thread, ringside, wait_until
from support.memory import is_sanitized
from support.program import die_with_parent

CLIENTS = ("81.2.69.160", "53.1.2.3", "2a02:d280::7", "10.0.0.1", "89.160.20.1")
PATHS = [f"/item/{number}" for number in range(200)]
KEYS = [(path, client) for path in PATHS for client in CLIENTS]
HOST = "www.example.com"
THREADS = 4
# Twenty replicas under a sanitizer, on two cores, take each other for dead.
MANY = 12 if is_sanitized() else 20
PURGE_FROM = ("--purge-from", "127.0.0.0/8")


class Moves(Tier):
    def ask_all(self, front) -> list:
        """Each key once."""

        def work(thread: int) -> list:
            with Client(front.address) as client:
                return [client.get(path, ip, Host=HOST) for path, ip in KEYS[thread::THREADS]]

        answers = list(itertools.chain(*each_in_a_thread(work, range(THREADS), THREADS)))
        self.assertEqual({answer.status for answer in answers}, {200})
        return answers


class OfOneProcess(Moves):
    def wait_until_moved(self, tier, replicas: int) -> None:
        """All buckets are with their owners, and nobody else has anything."""

        def is_over() -> bool:
            state = tier.json("/scale")
            away = tier.metric("ringside_buckets_away")
            return away == 0 and not state["retiring"] and tier.metric("ringside_store_entries") == len(KEYS)

        wait_until(is_over, f"everything to lie with {replicas} replicas")

    def test_nothing_is_fetched_again_whatever_becomes_of_the_tier(self):
        origin = self.origin()
        tier = self.up(10, origin)
        self.ask_all(tier)
        self.assertEqual(origin.count(), len(KEYS))
        for replicas in (11, 10, MANY, 10, 3, 5):
            ringside("scale", replicas, "--admin", tier.admin)
            self.ask_all(tier)
            self.wait_until_moved(tier, replicas)
            self.assert_all_hits(tier, self.ask_all)
            self.assertEqual(origin.count(), len(KEYS), f"{replicas} replicas")
        self.assertGreater(tier.metric("ringside_moved_responses_total"), len(KEYS))

    def test_slices_of_large_files_are_not_fetched_again(self):
        origin = self.origin()
        film = Film(700_000)
        paths = [f"/film/{number}" for number in range(16)]
        for path in paths:
            origin.on[path] = film
        config = self.file("slices.yaml", "cache: {slice: 64KiB}\n")
        tier = self.up(2, origin, "--config", config)

        def seek_in_all() -> int:
            """How many bytes the origin gives for it."""
            for path, (first, last) in itertools.product(paths, ((10, 99_999), (500_000, 700_000))):
                answer = tier.get(path, Range=f"bytes={first}-{last}")
                self.assertEqual((answer.status, answer.body), (206, film.bytes[first : last + 1]))
            return film.given_bytes()

        self.assertGreater(seek_in_all(), len(paths) * 300_000)
        self.assertEqual(seek_in_all(), 0)
        for replicas in (5, 2):
            ringside("scale", replicas, "--admin", tier.admin)
            self.assertEqual(seek_in_all(), 0)
            wait_until(lambda: not tier.json("/scale")["retiring"]
                       and tier.metric("ringside_buckets_away") == 0, "all to move")  # fmt: skip
            self.assertEqual(seek_in_all(), 0)

    def check_cookies(self, *options) -> None:
        origin = self.origin()
        paths = [f"/{way}/{number}" for way in ("store", "strip") for number in range(20)]
        for path in (*paths, "/pass"):
            origin.on[path] = lambda turn: turn.reply(Set_Cookie="sid=alice; Path=/", set_cookie="b=2")
        config = self.file(
            "cookies.yaml",
            "routes:\n"
            "  - {name: kept, path: /store, cache: {set_cookie: store}}\n"
            "  - {name: taken, path: /strip, cache: {set_cookie: strip}}\n"
            "  - {name: rest}\n",
        )
        tier = self.up(2, origin, "--config", config, *options)

        def ask() -> None:
            for path in paths:
                cookies = [value for name, value in tier.get(path).fields if name.lower() == "set-cookie"]
                kept = ["sid=alice; Path=/", "b=2"] if path.startswith("/store") else []
                self.assertEqual(cookies, kept, path)
            tier.get("/pass")

        for path in (*paths, "/pass"):  # who causes the fetch gets all cookies
            self.assertEqual(tier.get(path).field("Set-Cookie"), "sid=alice; Path=/, b=2")
        for replicas in (5, 2):
            ringside("scale", replicas, "--admin", tier.admin)
            ask()
            if not options:
                wait_until(lambda: not tier.json("/scale")["retiring"]
                           and tier.metric("ringside_buckets_away") == 0, "all to move")  # fmt: skip
            ask()
        self.assertEqual(origin.count() - origin.count("/pass"), len(paths))
        self.assertEqual(origin.count("/pass"), 5, "it is stored nowhere")

    def test_cookies_move_as_they_were_stored(self):
        self.check_cookies()

    def test_cookies_are_filled_as_they_were_stored(self):
        self.check_cookies("--move-rate", 0)

    def test_scale_follows_what_moves(self):
        origin = self.origin()
        tier = self.up(3, origin)
        self.ask_all(tier)
        told = ringside("scale", 4, "--watch", "--admin", tier.admin).stdout
        self.assertRegex(told, r"moving     0 buckets away; [1-9]\d* responses, ")
        self.assertTrue(told.endswith("done       every component has the new topology\n"), told)
        self.assertEqual(tier.metric("ringside_store_entries"), len(KEYS))

    def test_what_moves_already_is_followed_without_another_change(self):
        tier = self.up(3, self.origin(), "--move-rate", 0)  # nothing ends before it is looked at
        self.ask_all(tier)
        ringside("scale", 4, "--admin", tier.admin)
        version = tier.json("/topology")["version"]
        watching = subprocess.Popen(
            [PROGRAM, "scale", "--watch", "--admin", tier.admin], stdout=subprocess.PIPE, text=True,
            preexec_fn=die_with_parent,
        )  # fmt: skip
        self.addCleanup(watching.stdout.close)
        self.addCleanup(watching.kill)
        self.assertRegex(watching.stdout.readline(), r"moving     [1-9][\d,]* buckets away; 0 resp")
        self.ask_all(tier)
        ringside("scale", 3, "--admin", tier.admin)  # now all lies where it belongs
        told = watching.communicate(timeout=WAIT_S)[0]
        self.assertRegex(told, r"moving     0 buckets away; .* [1-9][\d,]* fills, ")
        self.assertTrue(told.endswith("it belongs\n"), told)
        self.assertEqual(tier.json("/topology")["version"], version + 1)

    def test_two_changes_at_once_end_like_one(self):
        origin = self.origin()
        tier = self.up(4, origin)
        self.ask_all(tier)
        for replicas in (6, 8, 5):
            ringside("scale", replicas, "--admin", tier.admin)
        self.wait_until_moved(tier, 5)
        self.assert_all_hits(tier, self.ask_all)
        self.assertEqual(origin.count(), len(KEYS))


class OfProcesses(Moves):
    """Replicas by themselves, and two sidecars."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(4, self.source, *PURGE_FROM)
        for replica in self.replicas:
            self.tell(replica, self.replicas)
        self.fronts = [self.sidecar(self.replicas, *PURGE_FROM) for _ in range(2)]

    def tell(self, process, replicas) -> None:
        members = [{"name": one.name, "address": one.address} for one in replicas]
        topology = {"scheme": "ring", "members": members}
        answer = process.administer("PUT", "/topology", topology)
        self.assertEqual(answer.status, 200, answer.text)

    def entries(self) -> list[int]:
        return [int(one.metric("ringside_store_entries")) for one in self.replicas]

    def leave_unawares(self):
        """One that is none of the members any more, and does not know it: it keeps what it has. And
        the others."""
        self.ask_all(self.fronts[0])
        leaver, rest = self.replicas[3], self.replicas[:3]
        for process in (*rest, *self.fronts):
            self.tell(process, rest)
        return leaver, rest

    def test_a_leaver_is_told_of_purges_by_those_who_stay(self):
        leaver, rest = self.leave_unawares()
        held = leaver.metric("ringside_store_entries")
        self.assertGreater(held, len(KEYS) // 10)
        self.source.on[PATHS[0]] = lambda turn: turn.reply(200, b"new")
        purged = self.fronts[0].ask("PURGE", PATHS[0], fields={"Host": HOST})
        self.assertEqual(purged.status, 200, purged.text)
        for client in CLIENTS:
            self.assertEqual(self.fronts[1].get(PATHS[0], client, Host=HOST).body, b"new")
        self.tell(leaver, rest)
        wait_until(lambda: leaver.metric("ringside_store_entries") == 0, "it to be empty")
        asked = self.source.count()
        self.assertEqual(asked, len(KEYS) + len(CLIENTS))
        for front in self.fronts:
            self.assert_all_hits(front, self.ask_all)
            for client in CLIENTS:
                self.assertEqual(front.get(PATHS[0], client, Host=HOST).body, b"new")
        self.assertEqual(self.source.count(), asked)

    def test_a_leaver_keeps_what_a_purge_of_what_begins_alike_does_not_mean(self):
        leaver, _ = self.leave_unawares()
        held = leaver.metric("ringside_store_entries")
        answer = self.fronts[0].administer("POST", "/purge", {"prefix": f"http://{HOST}{PATHS[0]}"})
        self.assertEqual(answer.status, 200, answer.text)
        self.assertGreater(leaver.metric("ringside_store_entries"), held // 2)
        asked = self.source.count()
        for client in CLIENTS:
            self.fronts[1].get(PATHS[0], client, Host=HOST)
        self.assertEqual(self.source.count(), asked + len(CLIENTS), "what is meant is gone")

    def test_who_is_told_to_end_gives_what_it_has_to_the_next_owners(self):
        self.ask_all(self.fronts[0])
        leaver = self.replicas[1]
        leaver.signal(signal.SIGTERM)
        self.ask_all(self.fronts[1])
        self.assertEqual(leaver.wait(), 0)
        self.assertIn("others take what is stored", leaver.err)
        self.ask_all(self.fronts[0])
        self.assertEqual(self.source.count(), len(KEYS))

    def test_of_those_who_end_together_nobody_waits_for_who_is_gone(self):
        self.ask_all(self.fronts[0])
        for replica in self.replicas:
            replica.signal(signal.SIGTERM)
        for replica in self.replicas:
            self.assertEqual(replica.wait(), 0)
            self.assertNotIn("were not taken in time", replica.err)

    def test_who_is_told_to_drain_gives_what_it_has_and_waits_for_its_end(self):
        self.ask_all(self.fronts[0])
        leaver = self.replicas[1]
        self.assertGreater(leaver.metric("ringside_store_entries"), len(KEYS) // 10)
        begun = leaver.administer("POST", "/drain")
        self.assertEqual(begun.status, 200)
        left = re.match(r"draining; [\d,]+ of ([\d,]+) buckets are left to give; ", begun.text)
        self.assertTrue(left, begun.text)
        wait_until(lambda: leaver.metric("ringside_store_entries") == 0, "others to take it")
        none = f"draining; 0 of {left[1]} buckets are left to give; "
        wait_until(lambda: leaver.administer("POST", "/drain").text.startswith(none), none)
        for front in self.fronts:
            self.ask_all(front)
        leaver.signal(signal.SIGTERM)
        self.assertEqual(leaver.wait(), 0)
        self.ask_all(self.fronts[0])
        self.assertEqual(self.source.count(), len(KEYS))

    def test_a_rolling_restart_loses_nothing(self):
        self.ask_all(self.fronts[0])
        for number in (2, 0, 3, 1):  # in any order
            old = self.replicas[number]
            old.signal(signal.SIGTERM)
            self.assertEqual(old.wait(), 0)
            again = ("--listen", old.address, *PURGE_FROM)
            self.replicas[number] = self.cache(old.name, self.source, *again)
            self.tell(self.replicas[number], self.replicas)
            wait_until(
                lambda: all(one.metric("ringside_buckets_away") == 0 for one in self.replicas),
                "it to have its buckets again",
            )
            self.ask_all(self.fronts[number % 2])
        self.assertEqual(self.source.count(), len(KEYS))


if __name__ == "__main__":
    unittest.main()
