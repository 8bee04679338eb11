"""Signals: how the processes end, and how they take a new configuration."""

import contextlib
import http.client
import re
import signal
import threading
import unittest

from support import COUNTRIES, WAIT_S, Client, Tier, wait_until, write_mmdb
from support.tier import members


class Ending(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)

        def when_told(turn):
            self.gate.wait(WAIT_S)
            turn.reply(body=b"slow but whole")

        self.source.on["/slow"] = when_told

    def each_kind(self):
        """Of each kind one, for which nothing but the origin is left to wait."""
        replica = self.cache("cache-0", self.source)
        yield "cache", replica
        yield "sidecar", self.sidecar([self.cache("cache-0", self.source)])
        yield "up", self.up(2, self.source)

    @contextlib.contextmanager
    def request_in_flight(self, process):
        """A GET that the origin has and does not answer; then the dict has its answer."""
        asked = self.source.count("/slow") + 1
        outcome = {}

        def ask():
            try:
                outcome["answer"] = process.get("/slow")
            except (OSError, http.client.HTTPException) as failure:
                outcome["failure"] = failure

        task = threading.Thread(target=ask)
        task.start()
        try:
            self.source.wait_for("/slow", asked)
            yield outcome
        finally:
            self.gate.set()
            task.join(WAIT_S)
            self.gate.clear()

    def test_sigterm_finishes_what_is_in_flight_and_exits_with_0(self):
        for kind, process in self.each_kind():
            with self.subTest(kind), Client(process.address) as idle:
                self.assertEqual(idle.get("/quick").status, 200)
                with self.request_in_flight(process) as outcome:
                    process.signal(signal.SIGTERM)
                    ready = wait_until(
                        lambda: (answer := process.readyz()).status == 503 and answer,
                        "it to be not ready",
                    )
                    self.assertTrue(ready.text.startswith("not ready: draining\n"), ready.text)
                    wait_until(process.refuses_connections, "the listeners to close")
                    self.assertIsNone(process.child.poll(), "it did not wait")
                answer = outcome["answer"]
                self.assertEqual((answer.status, answer.body), (200, b"slow but whole"))
                self.assertEqual(answer.field("Connection"), "close")
                self.assertEqual(process.wait(), 0)

    def test_sigint_is_the_same(self):
        process = self.up(1, self.source)
        process.signal(signal.SIGINT)
        self.assertEqual(process.wait(), 0)

    def test_a_second_sigterm_ends_it_at_once(self):
        for kind, process in self.each_kind():
            with self.subTest(kind), self.request_in_flight(process) as outcome:
                process.signal(signal.SIGTERM)
                wait_until(lambda: process.readyz().status == 503, "it to be not ready")
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(), 1)
                self.assertFalse(self.gate.is_set())
            self.assertIn("failure", outcome)
            self.assertIn("told to end twice", process.err)

    def test_the_drain_deadline_ends_it_too(self):
        process = self.up(1, self.source, "--drain-deadline", "200ms")
        with self.request_in_flight(process):
            process.signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 0)
        self.assertIn("drain deadline", process.err)

    def test_a_drain_by_hand_waits_to_be_told_to_end(self):
        for kind, process in self.each_kind():
            with self.subTest(kind):
                self.assertEqual(process.administer("POST", "/drain").status, 200)
                self.assertEqual(process.readyz().status, 503)
                wait_until(process.refuses_connections, "the listeners to close")
                self.assertEqual(process.administer("GET", "/livez").status, 200)
                process.signal(signal.SIGTERM)
                self.assertEqual(process.wait(), 0)


class Reload(Tier):
    def setUp(self):
        super().setUp()
        self.old, self.new = self.origin(), self.origin()
        for origin, name in ((self.old, b"old"), (self.new, b"new")):
            origin.on["/page"] = lambda turn, name=name: turn.reply(
                body=name, cache_control="no-store"
            )

    def configure(self, origin, more: str = "") -> None:
        self.path = self.file(
            "tier.yaml",
            f"routes:\n- name: all\n  origin: {origin.url}\ngeo: {self.countries()}\n{more}",
        )

    def tier(self, *options):
        return self.start(
            "up", "--config", self.path, "--replicas", 2, "--threads", 2, *options
        )  # fmt: skip

    def wait_for(self, process, line: str) -> str:
        return wait_until(
            lambda: line in (page := process.readyz().text) and page, f"/readyz to say {line}"
        )

    def test_sighup_takes_the_new_routes(self):
        self.configure(self.old)
        tier = self.tier()
        self.assertEqual(tier.get("/page").body, b"old")
        self.configure(self.new)
        tier.signal(signal.SIGHUP)
        wait_until(lambda: tier.get("/page").body == b"new", "the new route")
        wait_until(
            lambda: tier.json("/config")["routes"][0]["origin"] == self.new.url,
            "/config to show it",
        )

    def test_a_changed_file_is_enough(self):
        self.configure(self.old)
        tier = self.tier()
        self.configure(self.new)
        wait_until(lambda: tier.get("/page").body == b"new", "the new route")

    def test_an_invalid_file_is_refused_and_the_old_configuration_stays(self):
        self.configure(self.old)
        tier = self.tier()
        self.configure(self.new, "shard_key: country,paths\n")
        tier.signal(signal.SIGHUP)
        page = self.wait_for(tier, "last refusal: ")
        self.assertRegex(page, rf"last refusal: {self.path}:5: shard_key: .*paths")
        # The page may be ahead of what has been read of the log.
        told = re.compile(rf"reload refused.*{re.escape(str(self.path))}:5: ")
        wait_until(lambda: told.search(tier.err), "the log to tell of the refusal")
        self.assertEqual(tier.readyz().status, 200)
        self.assertEqual(tier.get("/page").body, b"old")
        self.configure(self.new)
        tier.signal(signal.SIGHUP)
        wait_until(lambda: tier.get("/page").body == b"new", "the corrected file")

    def test_a_new_country_database_is_taken_and_a_broken_one_refused(self):
        self.configure(self.old)
        tier = self.tier()
        tier.get("/where", "81.2.69.1")
        self.assertEqual(self.old.last().field("X-Country"), "GB")
        write_mmdb(self.countries(), {"81.2.69.0/24": "FR"})
        tier.signal(signal.SIGHUP)

        def country():
            tier.get("/where", "81.2.69.1")
            return self.old.last().field("X-Country")

        wait_until(lambda: country() == "FR", "the new database")
        broken = self.countries().with_name("broken")
        broken.write_bytes(self.countries().read_bytes()[:100])
        broken.replace(self.countries())
        tier.signal(signal.SIGHUP)
        self.wait_for(tier, "last refusal: ")
        self.assertRegex(tier.readyz().text, f"last refusal: .*{self.countries()}")
        tier.get("/elsewhere", "81.2.69.1")
        self.assertEqual(self.old.last().field("X-Country"), "FR")

    def test_new_members_are_taken_from_the_file(self):
        caches = self.caches(3, self.old)

        def configure(count: int) -> None:
            self.path = self.file("tier.yaml", f"replicas: {members(caches[:count])}\n")

        configure(2)
        front = self.start("sidecar", "--config", self.path, "--geo", self.countries())
        self.assertEqual(front.json("/topology")["version"], 1)
        configure(3)
        front.signal(signal.SIGHUP)
        topology = wait_until(
            lambda: (t := front.json("/topology"))["version"] == 2 and t, "the new membership"
        )
        self.assertEqual([m["name"] for m in topology["members"]], [c.name for c in caches])
        used = {front.get(f"/{n}").replica for n in range(60)}
        self.assertEqual(used, {cache.name for cache in caches})

    def test_what_cannot_change_is_named_and_the_rest_applied(self):
        self.configure(self.old)
        tier = self.tier()
        self.configure(self.new, "memory: 128MiB\n")
        tier.signal(signal.SIGHUP)
        wait_until(lambda: tier.get("/page").body == b"new", "the new route")
        self.assertIn("memory can't be changed in a running process", tier.err)
        self.assertEqual(tier.json("/config")["memory"], "256MiB")

    def test_reloads_under_load_drop_nothing(self):
        self.configure(self.old)
        tier = self.tier()
        ended, failures, answers = threading.Event(), [], []

        def load():
            try:
                with Client(tier.address) as client:
                    while not ended.is_set():
                        answer = client.get("/page", "81.2.69.1")
                        if (answer.status, answer.body) not in ((200, b"old"), (200, b"new")):
                            failures.append(answer)
                        answers.append(answer.status)
            except (OSError, http.client.HTTPException) as failure:
                failures.append(failure)

        tasks = [threading.Thread(target=load) for _ in range(4)]
        for task in tasks:
            task.start()
        try:
            for origin in (self.new, self.old) * 4:
                self.configure(origin)
                write_mmdb(self.countries(), dict(COUNTRIES))
                seen = len(answers)
                tier.signal(signal.SIGHUP)
                wait_until(
                    lambda url=origin.url: tier.json("/config")["routes"][0]["origin"] == url,
                    "the reload",
                )
                wait_until(lambda least=seen + 50: len(answers) > least or failures, "traffic")
        finally:
            ended.set()
            for task in tasks:
                task.join(WAIT_S)
        self.assertEqual(failures, [])


if __name__ == "__main__":
    unittest.main()
