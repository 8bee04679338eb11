"""How the processes take a new configuration: on SIGHUP, or because a file has changed."""

import contextlib
import http.client
import json
import re
import signal
import threading
import unittest

from support import COUNTRIES, WAIT_S, Client, Tier, wait_until, write_mmdb
from support.tier import members


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

    def test_a_scheme_or_a_state_that_is_wrong_leaves_the_topology_as_it_was(self):
        caches = self.caches(2, self.old)
        right = {"format": 1, "scheme": "range", "state": {"shards": [{"at": ""}]}}

        def configure(state: str, scheme: str = "range", weight: int = 1, names=(0, 1)) -> None:
            listed = ",".join(
                f"cache-{number}={cache.address};weight={weight}"
                for number, cache in zip(names, caches)
            )
            named = f"state: {self.file('state.json', state)}\n" if state else ""
            self.path = self.file("tier.yaml", f"replicas: {listed}\nscheme: {scheme}\n{named}")

        configure(json.dumps(right))
        front = self.start("sidecar", "--config", self.path, "--geo", self.countries())
        before = front.json("/topology")
        beginning_elsewhere = {**right, "state": {"shards": [{"at": "m"}]}}
        overlapping = {**right, "state": {"shards": [{"at": ""}, {"at": "m"}, {"at": "m"}]}}
        for wrong, said in (
            ((json.dumps(right)[:40],), "this is no JSON"),
            ((json.dumps({**right, "format": 3}),), "format: is 3"),
            ((json.dumps(beginning_elsewhere),), "no range begins with the empty key"),
            ((json.dumps(overlapping),), r"shards\[2\].at: .* overlaps shards\[1\]"),
            (("SQLite format 3\0 and no more", "directory"), "file is not a database"),
            ((json.dumps(right), "rung"), "there is no scheme"),
            (("", "jump", 1, (0, 2)), "without a gap"),
            ((json.dumps(right), "range", 0), "weights are all 0"),
        ):
            with self.subTest(said):
                configure(*wrong)
                front.signal(signal.SIGHUP)
                refusal = re.compile(f"last refusal: .*{said}")
                wait_until(
                    lambda refusal=refusal: refusal.search(front.readyz().text), "the refusal"
                )
                self.assertEqual(front.json("/topology"), before)
                self.assertEqual(front.get("/page").body, b"old")

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
        wait_until(
            lambda: "memory can't be changed in a running process" in tier.err, "the warning"
        )
        self.assertEqual(tier.json("/config")["memory"], "256MiB")

    def test_metrics_tell_of_reloads(self):
        self.configure(self.old)
        tier = self.tier()

        def told():
            return (
                tier.metric("ringside_configuration_reloads_total", result="applied"),
                tier.metric("ringside_configuration_reloads_total", result="refused"),
                tier.metric("ringside_configuration_last_reload_successful"),
            )

        self.assertEqual(told(), (0, 0, 1))
        for more, expected in (("nonsense: 1\n", (0, 1, 0)), ("", (1, 1, 1))):
            self.configure(self.old, more)
            tier.signal(signal.SIGHUP)
            # A changed file may be told of twice: by the signal, and by itself.
            wait_until(
                lambda expected=expected: all(
                    now >= least for now, least in zip(told()[:2], expected[:2])
                ) and told()[2] == expected[2],
                f"{expected}",
            )  # fmt: skip

    @contextlib.contextmanager
    def load_on(self, process):
        """Clients at full speed, half of them on a connection kept, half on new ones; yields a
        function that waits until many more have been answered."""
        ended, failures, answers = threading.Event(), [], []

        def ask_all(client):
            answer = client.get("/page", "81.2.69.1")
            if (answer.status, answer.body) not in ((200, b"old"), (200, b"new")):
                failures.append(answer)
            answers.append(answer.status)

        def load(kept):
            try:
                while not ended.is_set():
                    with Client(process.address) as client:
                        ask_all(client)
                        while kept and not ended.is_set():
                            ask_all(client)
            except (OSError, http.client.HTTPException) as failure:
                failures.append(failure)

        def pass_on():
            least = len(answers) + 50
            wait_until(lambda: len(answers) > least or failures, "traffic")

        tasks = [threading.Thread(target=load, args=(n % 2 == 0,)) for n in range(4)]
        for task in tasks:
            task.start()
        try:
            pass_on()
            yield pass_on
        finally:
            ended.set()
            for task in tasks:
                task.join(WAIT_S)
        self.assertEqual(failures, [])

    def test_reloads_under_load_drop_nothing(self):
        self.configure(self.old)
        tier = self.tier()
        with self.load_on(tier) as pass_on:
            for origin in (self.new, self.old) * 10:
                self.configure(origin)
                write_mmdb(self.countries(), dict(COUNTRIES))
                tier.signal(signal.SIGHUP)
                wait_until(
                    lambda url=origin.url: tier.json("/config")["routes"][0]["origin"] == url,
                    "the reload",
                )
                pass_on()

    def test_members_that_come_and_go_under_load_drop_nothing(self):
        caches = self.caches(3, self.old)
        self.path = self.file("tier.yaml", f"replicas: {members(caches)}\n")
        front = self.start(
            "sidecar", "--config", self.path, "--geo", self.countries(), "--threads", 2
        )  # fmt: skip
        with self.load_on(front) as pass_on:
            for turn in range(20):
                count = 2 + turn % 2
                self.file("tier.yaml", f"replicas: {members(caches[:count])}\n")
                front.signal(signal.SIGHUP)
                wait_until(
                    lambda count=count: len(front.json("/topology")["members"]) == count,
                    "the reload",
                )
                pass_on()


if __name__ == "__main__":
    unittest.main()
