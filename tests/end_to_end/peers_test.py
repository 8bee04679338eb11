"""Who may speak for the tier: what a sidecar and a replica prove to each other, and what strangers
at a replica's own port can't do."""

import re
import signal
import threading
import unittest

from support import Client, Tier, ringside, wait_until
from support.peers import DE, GB, Peers, a_key

WRONG_USAGE = 2


class Proof(Peers):
    def test_with_one_key_everything_works(self):
        replicas = [self.replica(f"cache-{number}") for number in range(3)]
        front = self.ready(self.front_of(replicas))
        for turn in range(2):
            for number in range(20):
                answer = front.get(f"/{number}", GB)
                self.assertEqual((answer.status, answer.is_hit), (200, turn == 1))
        self.assertEqual(front.get("/country", DE).text, "DE")
        self.assertEqual(front.ask("POST", "/1", b"x", {"X-Forwarded-For": GB}).status, 200)
        for process in (front, *replicas):
            self.assertNotIn("warning", process.err)

    def test_a_wrong_key_is_refused_and_said_on_both_sides(self):
        replica = self.replica(key_file=self.keys("other.key", a_key()))
        front = self.front_of([replica])
        answer = front.get("/a", GB)
        self.assertEqual(answer.status, 503)
        self.assertEqual(self.source.count(), 0)
        page = self.page(front, "not ready: no replica has proved membership")
        self.assertIn(
            f"replica cache-0 at {replica.address} is not used: it has another peer key; give both "
            "the same --peer-key-file",
            page,
        )
        wait_until(lambda: "cache-0" in front.err and "another peer key" in front.err, "its log")
        wait_until(
            lambda: re.search(r"sidecar ringside-\w+ has another peer key: refused", replica.err),
            "the replica to say so",
        )
        for process in (front, replica):
            self.assertNotIn(self.key, process.err + process.out)

    def test_a_wrong_key_is_said_seldom(self):
        replica = self.replica(key_file=self.keys("other.key", a_key()))
        front = self.front_of([replica])
        for _ in range(200):
            self.assertEqual(front.get("/a", GB).status, 503)
        wait_until(lambda: "is not used" in front.err, "it to be said")
        self.assertEqual(front.err.count("is not used"), 1)
        self.assertLess(replica.err.count("another peer key"), 10)

    def test_one_replica_of_three_without_the_key_is_passed_over(self):
        replicas = [self.replica("cache-0"), self.replica("cache-1")]
        replicas.append(self.replica("cache-2", self.keys("other.key", a_key())))
        front = self.ready(self.front_of(replicas))
        for number in range(60):
            self.assertEqual(front.get(f"/{number}", GB).status, 200)
        self.page(front, "replica cache-2 at", "is not used")
        self.assertEqual(replicas[2].metric("ringside_requests_total", result="miss"), 0)

    def test_a_replica_without_a_key_is_not_used(self):
        replica = self.cache("cache-0", self.source)
        front = self.front_of([replica])
        self.assertEqual(front.get("/a", GB).status, 503)
        self.page(front, "not ready", "it does not prove membership: it has no peer key")
        wait_until(lambda: "there is no peer key here" in replica.err, "the replica to say so")
        self.assertEqual(self.source.count(), 0)

    def test_a_sidecar_without_a_key_is_not_answered_for_another_country(self):
        replica = self.replica()
        front = self.sidecar([replica])
        # It was ready all the same, and told nothing of it.
        self.page(
            front,
            "not ready: every replica wants a proof of membership",
            f"replica cache-0 at {replica.address} is not used: it wants a proof of membership; "
            "give this sidecar its --peer-key-file",
        )
        answer = front.get("/country", DE)
        self.assertEqual(answer.status, 503)
        self.assertIn("give this sidecar its --peer-key-file", answer.text)
        wait_until(lambda: "without a proof of membership" in replica.err, "the replica to say so")
        wait_until(lambda: "it wants a proof of membership" in front.err, "the sidecar to say so")

    def test_another_replica_at_its_address_is_not_used(self):
        replica = self.replica("cache-0")
        replica.name = "cache-1"
        front = self.front_of([replica])
        self.assertEqual(front.get("/a", GB).status, 503)
        self.page(front, "another member than cache-1 answers there")
        wait_until(lambda: "takes this for cache-1" in replica.err, "the replica to say so")

    def test_a_replica_that_gets_the_key_is_used_again(self):
        other = self.keys("other.key", a_key())
        replica = self.replica(key_file=other)
        front = self.front_of([replica])
        self.page(front, "not ready", "another peer key")
        self.keys("other.key", self.key)
        replica.signal(signal.SIGHUP)
        self.ready(front)
        self.assertEqual(front.get("/a", GB).status, 200)
        wait_until(lambda: "has proved membership" in front.err, "the log to say so")

    def test_a_key_is_replaced_without_a_failed_request(self):
        """docs/operations.md: the new one beside the old one everywhere, then the new one."""
        replicas = [self.replica(f"cache-{number}") for number in range(2)]
        front = self.ready(self.front_of(replicas))
        ended, failures, answers = threading.Event(), [], []

        def ask(number: int) -> None:
            with Client(front.address) as client:
                turn = 0
                while not ended.is_set():
                    turn += 1
                    body = b"x" if turn % 5 == 0 else None
                    fields = {"X-Forwarded-For": GB}
                    method = "POST" if body else "GET"
                    answer = client.ask(method, f"/{number}/{turn % 40}", body, fields)
                    (answers if answer.status == 200 else failures).append(answer.status)

        clients = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(4)]
        for client in clients:
            client.start()
        new = a_key()
        steps = ([self.key, new], [new, self.key], [new])
        for reloads, keys in enumerate(steps, 1):
            self.keys("peer.key", *keys)
            for process in (*replicas, front):
                process.signal(signal.SIGHUP)
            for process in (*replicas, front):
                # Or by the file's change: either way once at least.
                self.page(process, "reloads: ")
                wait_until(
                    lambda process=process, reloads=reloads: int(
                        re.search(r"reloads: (\d+)", process.readyz().text)[1]
                    )
                    >= reloads,
                    "the reload",
                )
            seen = len(answers)
            wait_until(lambda seen=seen: len(answers) > seen + 200, "requests under these keys")
        ended.set()
        for client in clients:
            client.join()
        self.assertEqual(failures, [])
        # The old key is worth nothing any more.
        stranger = self.front_of(replicas, self.keys("old.key", self.key))
        self.assertEqual(stranger.get("/a", GB).status, 503)

    def test_a_file_that_is_wrong_at_a_reload_leaves_the_old_key(self):
        replica = self.replica()
        front = self.ready(self.front_of([replica]))
        self.key_file.write_text("short\n")
        front.signal(signal.SIGHUP)
        self.page(front, "last refusal", "--peer-key-file", "a key of 5 characters")
        self.assertEqual(front.get("/a", GB).status, 200)


class Strangers(Peers):
    """What curl, or anybody, can and can't do at a replica's own port."""

    CLAIMS = {
        "Ringside-Topology": "0" * 32,
        "Ringside-Extra-Key": "DE",
        "Ringside-Bucket": "1",
        "Ringside-Scheme": "https",
        "Ringside-Deadline-Ms": "1",
        "X-Country": "DE",
    }

    def setUp(self):
        super().setUp()
        self.store = self.replica()
        self.front = self.ready(self.front_of([self.store]))

    def test_a_purge_by_options_is_refused(self):
        self.front.get("/a", GB)
        self.assertTrue(self.front.get("/a", GB).is_hit)
        fields = {
            "Max-Forwards": "0", "Ringside-Topology": "0" * 32, "Ringside-Invalidate": "/a",
            "Host": self.front.address,
        }  # fmt: skip
        for left_out in ("", "Ringside-Topology"):
            said = {name: value for name, value in fields.items() if name != left_out}
            answer = self.store.ask("OPTIONS", "/a", fields=said)
            self.assertEqual(answer.status, 403)
            self.assertIsNone(answer.field("Ringside-Purged"))
        self.assertTrue(self.front.get("/a", GB).is_hit)

    def test_a_store_can_not_be_poisoned(self):
        """For a stranger the country is never what it says, and what is stored for it is its own."""
        strange = self.store.ask("GET", "/country", fields=self.CLAIMS | {"Host": self.front.address})
        self.assertEqual((strange.status, strange.text), (200, "nobody"))
        self.assertIsNone(strange.field("Ringside-Outcome"))
        ours = self.front.get("/country", DE)
        self.assertEqual((ours.text, ours.is_hit), ("DE", False))
        # Each has its own from now on.
        again = self.store.ask("GET", "/country", fields={"Host": self.front.address})
        self.assertEqual((again.text, again.is_hit), ("nobody", True))
        ours = self.front.get("/country", DE)
        self.assertEqual((ours.text, ours.is_hit), ("DE", True))
        wait_until(lambda: "without a proof of membership" in self.store.err, "the log to say so")

    def test_a_store_can_not_be_emptied(self):
        self.front.get("/a", GB)
        for number in range(1, 4):
            fields = {"Ringside-Topology": "0" * 32, "Ringside-Missed": f"mallory {number}"}
            self.assertEqual(self.store.ask("GET", "/b", fields=fields).status, 200)
            fields["Max-Forwards"] = "0"
            answer = self.store.ask("OPTIONS", "*", fields=fields)
            self.assertEqual((answer.status, answer.field("Ringside-Heeded")), (200, None))
        self.assertTrue(self.front.get("/a", GB).is_hit)

    def test_the_origin_sees_no_internal_field(self):
        self.store.ask("GET", "/a", fields=self.CLAIMS)
        self.assertNotIn(b"ringside-", self.source.last().raw.lower())
        self.assertIsNone(self.source.last().field("X-Country"))

    def test_purge_of_allowed_addresses_is_of_both_keyspaces(self):
        allowed = self.replica("cache-0", None, "--purge-from", "127.0.0.1/32")
        front = self.ready(self.front_of([allowed], None, "--purge-from", "127.0.0.1/32"))
        host = {"Host": front.address}
        front.get("/country", DE)
        allowed.ask("GET", "/country", fields=host)
        purged = allowed.ask("PURGE", "/country", fields=host)
        self.assertEqual((purged.status, purged.text), (200, "purged 2 stored responses\n"))
        self.assertFalse(front.get("/country", DE).is_hit)
        self.assertFalse(allowed.ask("GET", "/country", fields=host).is_hit)
        # And by the sidecar, as ever.
        purged = front.ask("PURGE", "/country")
        self.assertEqual((purged.status, purged.text), (200, "purged 2 stored responses\n"))

    def test_an_unsafe_method_is_heard_of_by_every_replica(self):
        other = self.replica("cache-1")
        front = self.ready(self.front_of([self.store, other]))
        for client in (GB, DE):
            front.get("/country", client)
            self.assertTrue(front.get("/country", client).is_hit)
        self.assertEqual(front.ask("POST", "/country", b"x").status, 200)
        for client in (GB, DE):
            self.assertFalse(front.get("/country", client).is_hit)


class Alone(Peers):
    """A replica that was told of no peers and of no key took everybody for a member."""

    def setUp(self):
        super().setUp()
        self.store = self.start(
            "cache", "--name", "cache-0", "--origin", self.source.url, as_it_comes=True
        )

    def test_a_replica_of_no_tier_and_without_a_key_believes_nobody(self):
        host = {"Host": "a.test"}
        strange = self.store.ask("GET", "/country", fields=Strangers.CLAIMS | host)
        self.assertEqual((strange.status, strange.text), (200, "nobody"))
        self.assertIsNone(strange.field("Ringside-Outcome"))
        self.assertNotIn(b"ringside-", self.source.last().raw.lower())
        claims = {"Ringside-Topology": "0" * 32, "Max-Forwards": "0"} | host
        for target, claim, value, status in (
            ("/country", "Ringside-Invalidate", "/country", 403),
            ("/country", "Ringside-Invalidated", "/country", 403),
            ("*", "Ringside-Missed", "mallory 1", 200),
        ):
            answer = self.store.ask("OPTIONS", target, fields=claims | {claim: value})
            self.assertEqual(answer.status, status, claim)
            self.assertIsNone(answer.field("Ringside-Heeded"))
        again = self.store.ask("GET", "/country", fields=host)
        self.assertEqual((again.text, again.is_hit), ("nobody", True))
        wait_until(lambda: "there is no peer key here" in self.store.err, "the log to say so")

    def test_a_sidecar_that_wants_no_proof_is_told_the_remedy(self):
        self.store.name = "cache-0"
        front = self.sidecar([self.store])
        answer = front.get("/country", DE)
        self.assertEqual(answer.status, 503)
        self.assertIn("start the replica, too, with --insecure-peers", answer.text)

    def test_one_that_is_told_so_believes_whoever_speaks_like_a_member(self):
        store = self.cache("cache-0", self.source, "--insecure-peers")
        self.assertEqual(self.sidecar([store]).get("/country", DE).text, "DE")


class CommandLine(Tier):
    def test_without_a_key_or_a_word_nothing_starts(self):
        cache = ["cache", "--listen", "127.0.0.1:0", "--name", "a", "--origin", "http://o"]
        sidecar = ["sidecar", "--listen", "127.0.0.1:0", "--replicas", "a=127.0.0.1:9"]
        sidecar += ["--geo", self.countries()]
        key_file = self.file("key", "0123456789abcdef" * 4)
        for command in (
            sidecar, [*cache, "--peers", "a=127.0.0.1:9"], [*cache, "--kubernetes", "c"],
            [*cache, "--dns", "c.test"],
        ):  # fmt: skip
            with self.subTest(command):
                done = ringside(*command, expect=WRONG_USAGE)
                self.assertRegex(
                    done.stderr, r"--peer-key-file is missing; .*openssl rand.*--insecure-peers"
                )
        for command in (sidecar, [*cache, "--peers", "a=127.0.0.1:9"]):
            ringside(*command, "--insecure-peers", "--validate")
            ringside(*command, "--peer-key-file", key_file, "--validate")
            both = ("--peer-key-file", key_file, "--insecure-peers")
            done = ringside(*command, *both, expect=WRONG_USAGE)
            self.assertIn("excludes --peer-key-file", done.stderr)
        ringside(*cache, "--validate")  # it knows of no tier

    def test_a_file_without_a_good_key_is_refused_with_the_remedy(self):
        unreadable = self.folder  # a folder: root may read anything
        for text, expected in (
            ("", "there is no key; `openssl rand -hex 32` makes one"),
            ("secret\n", "line 1: a key of 6 characters; 32 to 256 are needed"),
            ("secret word " * 8, "line 1 has other characters"),
            ("\n".join(f"secret012{n}" * 4 for n in range(3)), "3 keys"),
            ("secret" * 8, "a key of 5 different characters can be found by trying"),
            ("secret0123" * 4 + "\n" + "secret0123" * 4, "the same key stands there twice"),
            (None, "No such file or directory; give a file that this process may read"),
            (unreadable, "Is a directory; give a file that this process may read"),
        ):
            path = text if text is unreadable else self.folder / "key"
            if isinstance(text, str):
                path.write_text(text)
            elif text is None:
                path.unlink()
            for ending in ([], ["--validate"]):
                with self.subTest(expected, ending=ending):
                    done = ringside(
                        "sidecar", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                        "--replicas", "a=127.0.0.1:9", "--geo", self.countries(),
                        "--peer-key-file", path, *ending, expect=WRONG_USAGE,
                    )  # fmt: skip
                    self.assertIn(f"--peer-key-file: {path}: ", done.stderr)
                    self.assertIn(expected, done.stderr)
                    self.assertNotIn("secret", done.stderr)

    def test_a_file_that_everybody_can_read_is_warned_of(self):
        key_file = self.file("key", "0123456789abcdef" * 4)
        for mode, warned in ((0o644, True), (0o600, False)):
            key_file.chmod(mode)
            front = self.start(
                "sidecar", "--replicas", "a=127.0.0.1:9", "--geo", self.countries(),
                "--peer-key-file", key_file,
            )  # fmt: skip
            words = "every user of this machine can read"
            if warned:
                wait_until(lambda: words in front.err, "the warning")
            front.signal(signal.SIGTERM)
            self.assertEqual(front.wait(), 0)
            self.assertEqual(words in front.err, warned)

    def test_up_makes_its_own_key(self):
        source = self.origin()
        tier = self.up(2, source)
        self.assertEqual(tier.get("/a", GB).status, 200)
        page = tier.json("/topology")
        replica = page["members"][0]["address"]
        claims = {"Ringside-Topology": "x", "Max-Forwards": "0", "Ringside-Invalidate": "/a"}
        with Client(replica) as stranger:
            self.assertEqual(stranger.ask("OPTIONS", "/a", fields=claims).status, 403)


if __name__ == "__main__":
    unittest.main()
