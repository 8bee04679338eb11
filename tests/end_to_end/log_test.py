"""`ringside log` follows the requests of running processes, and costs those who ask nothing."""

import json
import signal
import subprocess
import unittest

from support import Tier, converse, ringside, wait_until
from support.program import PROGRAM, die_with_parent

GB, DE = "81.2.69.160", "53.1.2.3"
LINES_AT_A_TIME = 1024  # limits::log_reader_lines
READERS = 4  # limits::log_readers


class Reader:
    """A `ringside log` that runs."""

    def __init__(self, test: "Log", *arguments):
        self.test = test
        self.out, self.err = test.folder / f"{id(self)}.out", test.folder / f"{id(self)}.err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                [PROGRAM, "log", *map(str, arguments)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=die_with_parent,
            )  # fmt: skip
        test.addCleanup(self.end)

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def lines(self) -> list[str]:
        return self.out.read_text().splitlines()

    def wait_for(self, *texts: str) -> None:
        """Each of them stands in some line."""
        wait_until(
            lambda: all(any(text in line for line in self.lines()) for text in texts),
            f"{texts} in {self.out.read_text()}{self.err.read_text()}",
        )


class Log(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()

    def followed(self, process, name: str = "test", **filters: str) -> dict:
        answer = process.administer("POST", "/log", {"reader": name, **filters})
        self.assertEqual(answer.status, 200, answer.text)
        return json.loads(answer.body)

    def test_it_prints_what_is_asked_for_until_it_is_ended(self):
        tier = self.up(2, self.source)
        reader = Reader(self, "--admin", tier.admin)

        def is_seen() -> bool:
            tier.get("/first", GB)
            return any("/first" in line for line in reader.lines())

        wait_until(is_seen, "the first line")
        tier.get("/missing", DE)
        tier.ask("POST", "/form", b"x")
        reader.wait_for('"GET /missing HTTP/1.1" 200', '"POST /form HTTP/1.1"', "country=DE", "result=bypass")
        reader.end()
        self.assertEqual(reader.err.read_text(), "")

    def test_filters_are_all_true(self):
        tier = self.up(2, self.source)
        self.source.on["/gone"] = lambda turn: turn.reply(404, b"")
        self.followed(tier, "misses of DE", country="de", result="miss")
        self.followed(tier, "4xx", status="4xx")
        self.followed(tier, "slow", slower_than="1h")
        for target, client in (("/a", GB), ("/a", DE), ("/a", DE), ("/gone", GB)):
            tier.get(target, client)

        def all_of(name: str, **filters: str) -> list[str]:
            found: list[str] = []
            wait_until(lambda: found.extend(self.followed(tier, name, **filters)["lines"]) or found, name)
            return found

        (miss,) = all_of("misses of DE", country="DE", result="miss")
        self.assertIn("result=miss", miss)
        self.assertIn("country=DE", miss)
        (gone,) = all_of("4xx", status="4xx")
        self.assertIn('"GET /gone HTTP/1.1" 404', gone)
        self.assertEqual(self.followed(tier, "slow", slower_than="1h"), {"lines": [], "dropped": 0, "begun": False})

    def test_it_ends_after_so_many_lines_of_all_that_it_follows(self):
        replicas = self.caches(2, self.source)
        front = self.sidecar(replicas)
        admins = ",".join(process.admin for process in (front, *replicas))
        reader = Reader(self, "--admin", admins, "--lines", 3)

        def has_ended() -> bool:
            front.get("/a")
            return reader.process.poll() is not None

        wait_until(has_ended, "the end")
        self.assertEqual(reader.process.returncode, 0)
        self.assertEqual(len(reader.lines()), 3)

    def test_what_its_reader_does_not_take_is_counted(self):
        tier = self.up(1, self.source)
        self.followed(tier)
        beyond = 200
        asked = LINES_AT_A_TIME + beyond
        # One after the other on a connection, all sent at once: a reader is forgotten after a while.
        one = b"GET /a HTTP/1.1\r\nHost: a.test\r\n"
        converse(tier.address, (one + b"\r\n") * (asked - 1) + one + b"Connection: close\r\n\r\n")
        answers: list[dict] = []

        def is_all_told() -> bool:
            answers.append(self.followed(tier))
            return sum(len(one["lines"]) + one["dropped"] for one in answers) >= asked

        wait_until(is_all_told, "all to be told or counted")
        self.assertEqual(sum(one["dropped"] for one in answers), beyond)

    def test_more_readers_than_there_may_be_are_told_so(self):
        tier = self.up(1, self.source)
        for number in range(READERS):
            self.followed(tier, f"reader {number}")
        refused = ringside("log", "--admin", tier.admin, expect=1).stderr
        self.assertIn("4 follow the requests here already", refused)

    def test_a_process_that_comes_back_is_followed_again(self):
        tier = self.up(1, self.source)
        reader = Reader(self, "--admin", tier.admin)
        wait_until(lambda: tier.get("/a") and reader.lines(), "a line")
        admin, listen = tier.admin, tier.address
        tier.stop()
        wait_until(lambda: "it is asked again" in reader.err.read_text(), "word of it")
        again = self.up(1, self.source, "--listen", listen, "--admin", admin)
        wait_until(lambda: again.get("/again") and "/again" in reader.out.read_text(), "its lines")
        self.assertEqual(reader.err.read_text().count("it is asked again"), 1)

    def test_it_is_no_page_for_strangers(self):
        token = self.file("admin.token", "0123456789abcdef0123456789abcdef\n")
        tier = self.up(1, self.source, "--admin-token-file", token)
        told = ringside("log", "--admin", tier.admin, expect=2).stderr
        self.assertIn("--admin-token-file", told)
        reader = Reader(self, "--admin", tier.admin, "--admin-token-file", token, "--lines", 1)
        wait_until(lambda: tier.get("/a") and reader.process.poll() == 0, "a line with the token")

    def test_a_request_that_is_none_is_400_with_the_remedy(self):
        tier = self.up(1, self.source)
        for body, said in (
            ({}, 'write {"reader": "NAME"}'),
            ({"reader": 1}, 'write {"reader": "NAME"}'),
            ({"reader": ""}, "write a name of 1 to 64 bytes"),
            ({"reader": "x", "contry": "GB"}, 'any of "country"'),
            ({"reader": "x", "status": "9xx"}, "a class such as 5xx"),
        ):
            with self.subTest(body=body):
                answer = tier.administer("POST", "/log", body)
                self.assertEqual(answer.status, 400)
                self.assertIn(said, answer.text)


if __name__ == "__main__":
    unittest.main()
