"""--access-log: what it tells, that nobody forges it, and that it never slows a request."""

import os
import re
import signal
import unittest

from support import Client, Tier, converse, each_in_a_thread, ringside, wait_until

LINE = re.compile(
    r'(?P<client>\S+) - - \[(?P<time>[^\]]+)\] "(?P<request>(?:\\.|[^"\\])*)" (?P<status>\d{3}|-) '
    r'(?P<bytes>\d+) "(?P<referer>(?:\\.|[^"\\])*)" "(?P<agent>(?:\\.|[^"\\])*)" '
    r'host="(?P<host>(?:\\.|[^"\\])*)" time=(?P<seconds>\d+\.\d{6}) result=(?P<result>[a-z_]+) '
    r"replica=(?P<replica>\S+) country=(?P<country>[A-Z]{2})"
)
IN_ORDER = ("--threads", 1)  # the lines of several cores are written one core after the other


class AccessLog(Tier):
    def setUp(self):
        super().setUp()
        self.path = self.folder / "access.log"
        self.source = self.origin()

    def lines(self, count: int) -> list[dict]:
        """The lines once there are so many, each of them whole."""
        text = wait_until(
            lambda: self.path.exists() and (t := self.path.read_text()).count("\n") >= count and t,
            f"{count} lines",
        )
        found = [LINE.fullmatch(line) for line in text.splitlines()]
        self.assertNotIn(None, found, text)
        self.assertEqual(len(found), count, text)
        return [line.groupdict() for line in found]

    def test_a_line_for_each_request(self):
        replica = self.cache("cache-0", self.source)
        front = self.sidecar([replica], "--access-log", self.path, *IN_ORDER)
        body = front.get("/a?b", "81.2.69.1", Host="www.example.com").body
        with Client(front.address) as client:
            client.get("/a?b", "81.2.69.1", Host="www.example.com", User_Agent="probe/1")
            client.ask("PURGE", "/a?b", fields={"Referer": "http://example.com/"})
        converse(front.address, b"GET /a HTTP/1.1\r\nBad Header: x\r\n\r\n")
        first, second, purge, malformed = self.lines(4)
        asked = {
            "client": "81.2.69.1", "request": "GET /a?b HTTP/1.1", "status": "200",
            "bytes": str(len(body)), "host": "www.example.com", "replica": "cache-0",
            "country": "GB",
        }  # fmt: skip
        self.assertLessEqual((asked | {"result": "miss", "agent": "-"}).items(), first.items())
        self.assertLessEqual((asked | {"result": "hit", "agent": "probe/1"}).items(), second.items())
        self.assertEqual((purge["status"], purge["referer"]), ("403", "http://example.com/"))
        self.assertEqual((malformed["status"], malformed["request"]), ("400", "-"))
        self.assertEqual({purge["client"], malformed["client"]}, {"127.0.0.1"})

    def test_a_replicas_and_the_embedded_sidecars(self):
        for process in (
            self.cache("cache-0", self.source, "--access-log", self.path),
            self.up(2, self.source, "--access-log", self.path, *IN_ORDER),
        ):
            before = self.path.read_text().count("\n") if self.path.exists() else 0
            self.assertEqual(process.get("/a").status, 200)
            self.assertEqual(process.ask("POST", "/a", b"x").status, 200)
            get, post = self.lines(before + 2)[before:]
            self.assertEqual((get["result"], post["result"]), ("miss", "bypass"))
            self.assertEqual((get["status"], post["status"]), ("200", "200"))
            self.assertTrue(get["replica"].startswith("cache-"))
            process.stop()

    def test_nobody_forges_a_line(self):
        front = self.up(1, self.source, "--access-log", self.path, *IN_ORDER)
        said = (
            '" 200 1 "-" "-"',
            "\\",
            '\\" 200',
            "caf\u00e9",
            "\x80\x9b\xff",
            "a\tb",
            '1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] "GET /forged HTTP/1.1" 200 1',
        )
        for text in said:
            raw = text.encode("latin-1")
            answer, _ = converse(
                front.address,
                b"GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nUser-Agent: " + raw
                + b"\r\nReferer: " + raw + b"\r\n\r\n",
            )  # fmt: skip
            self.assertTrue(answer.startswith(b"HTTP/1.1 200 "), answer)
        for line, text in zip(self.lines(len(said)), said):
            self.assertEqual(line["request"], "GET /a HTTP/1.1")
            for told in (line["agent"], line["referer"]):
                back = re.sub(
                    r"\\(x..|.)", lambda m: chr(int(m[1][1:], 16)) if m[1][1:] else m[1], told
                )
                self.assertEqual(back, text)

    def test_replay_reads_it_again(self):
        front = self.up(2, self.source, "--access-log", self.path)
        targets = [f"/{n}?x=%22y{n}" for n in range(20)]
        for target in targets:
            front.get(target, "81.2.69.1")
        self.lines(20)
        other = self.origin()
        again = self.up(2, other)
        done = ringside("replay", self.path, "--to", again.address, "--geo", self.countries())
        self.assertIn("20", done.stdout)
        self.assertEqual(
            sorted((r.target, r.field("X-Country")) for r in other.seen()),
            sorted((target, "GB") for target in targets),
        )

    def test_a_pipe_that_nobody_reads_costs_lines_and_no_request(self):
        os.mkfifo(self.path)
        front = self.up(1, self.source, "--access-log", self.path, *IN_ORDER)
        one, each = b"GET /a HTTP/1.1\r\nHost: h\r\n\r\n", 1000
        last = one.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

        def ask(_):
            answers, closed = converse(front.address, one * (each - 1) + last)
            return closed and answers.count(b"HTTP/1.1 200 ")

        rounds = each_in_a_thread(ask, range(16), threads=4)
        self.assertEqual(rounds, [each] * 16)
        self.assertGreater(front.metric("ringside_access_log_dropped_total"), 0)
        # The pipe took some, too; and the end does not wait for it.
        front.signal(signal.SIGTERM)
        self.assertEqual(front.wait(), 0)

    def test_a_full_disk_is_told_once_and_counted(self):
        front = self.up(1, self.source, "--access-log", "/dev/full")
        for number in range(1, 4):
            self.assertEqual(front.get("/a").status, 200)
            wait_until(
                lambda least=number: front.metric("ringside_access_log_dropped_total") == least,
                "the line to be counted as dropped",
            )
        self.assertGreater(front.metric("ringside_access_log_failures_total"), 0)
        front.signal(signal.SIGTERM)
        self.assertEqual(front.wait(), 0)
        self.assertEqual(front.err.count("/dev/full can't be written"), 1, front.err)

    def test_sighup_opens_it_again(self):
        front = self.up(1, self.source, "--access-log", self.path)
        front.get("/old")
        self.assertEqual(self.lines(1)[0]["request"], "GET /old HTTP/1.1")
        rotated = self.path.rename(self.folder / "access.log.1")
        front.signal(signal.SIGHUP)
        wait_until(self.path.exists, "the new file")
        front.get("/new")
        self.assertEqual(self.lines(1)[0]["request"], "GET /new HTTP/1.1")
        self.assertEqual(rotated.read_text().count("\n"), 1)
        self.assertEqual(front.metric("ringside_access_log_written_total"), 2)

    def test_what_is_left_is_written_at_the_end(self):
        front = self.up(1, self.source, "--access-log", self.path)
        for number in range(100):
            front.get(f"/{number}")
        front.signal(signal.SIGTERM)
        self.assertEqual(front.wait(), 0)
        self.assertEqual(self.path.read_text().count("\n"), 100)

    def test_stdout(self):
        front = self.up(1, self.source, "--access-log", "-")
        front.get("/a")
        wait_until(lambda: '"GET /a HTTP/1.1" 200 ' in front.out, "the line on stdout")


if __name__ == "__main__":
    unittest.main()
