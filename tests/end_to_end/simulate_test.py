"""`ringside simulate`: its table, JSON, CSV and page, and what it refuses."""

import csv
import html.parser
import io
import json
import os
import pathlib
import re
import unittest

from support import Tier, ringside
from support.memory import sanitizers

CHARTS = pathlib.Path(os.environ["RINGSIDE_BUILD"]) / "share" / "ringside" / "chart.js"
SMALL = ("simulate", "--keys", 20_000)


class Asked(html.parser.HTMLParser):
    """What a page would ask for, and its scripts."""

    def __init__(self):
        super().__init__()
        self.asked = []
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.asked += [(tag, name, value) for name, value in attrs if name in {"src", "href", "srcset", "data"}]
        self.asked += [(tag,) for _ in (1,) if tag in {"link", "iframe", "object", "embed", "img"}]


@unittest.skipIf("thread" in sanitizers(), "all of the command is one thread")
class Simulate(Tier):
    def figures(self, *options) -> list[dict]:
        return json.loads(ringside("simulate", "--json", *options).stdout)["rows"]

    def test_the_table_has_a_row_for_each_scheme_and_step(self):
        done = ringside(*SMALL, "--schemes", "ring,jump", "--replicas", "10,11-cache-3,11")
        lines = done.stdout.splitlines()
        self.assertIn("20,000 generated keys", lines[0])
        rows = [line for line in lines if re.match(r"(ring|jump) ", line)]
        self.assertEqual(len(rows), 6)
        self.assertRegex(rows[0], r"^ring +10 +- ")
        self.assertRegex(rows[1], r"^ring +10 -> 11-cache-3 ")
        self.assertRegex(rows[4], r"^jump +10 -> 11-cache-3 +refused: member \"cache-4\" ")
        self.assertRegex(rows[5], r"^jump +10 -> 11 ")

    def test_json_has_every_scheme_and_what_is_known_of_it(self):
        rows = self.figures("--keys", 20_000)
        self.assertEqual(len(rows) % 4, 0)
        of = {(row["scheme"], row["step"]): row for row in rows}
        for scheme in ("ring", "jump", "rendezvous", "vbucket"):
            with self.subTest(scheme):
                row = of[scheme, 1]
                self.assertEqual((row["before"], row["after"]), ("10", "11"))
                self.assertAlmostEqual(row["moved_percent_least"], 100 / 11)
                self.assertLess(row["moved_percent"], 15)
                self.assertEqual(row["moved_between_stays_percent"], 0)
        self.assertGreater(of["modulo", 1]["moved_percent"], 80)
        self.assertIsNone(of["ring", 0]["moved_keys"])
        for row in rows:
            self.assertGreater(row["look_up_ns"], 0)

    def test_csv_has_the_columns_of_json(self):
        options = ("--schemes", "jump,vbucket", "--replicas", "3,4-cache-0", "--keys", 1000)
        rows = list(csv.DictReader(io.StringIO(ringside("simulate", "--csv", *options).stdout)))
        same = self.figures(*options)
        self.assertEqual([list(row) for row in rows], [list(row) for row in same])
        self.assertEqual([row["scheme"] for row in rows], [row["scheme"] for row in same])
        self.assertEqual(rows[1]["refused"], same[1]["refused"])
        self.assertIn("without a gap", rows[1]["refused"])
        self.assertEqual(float(rows[3]["moved_percent"]), same[3]["moved_percent"])

    def test_vbucket_goes_from_the_table_of_the_step_before(self):
        rows = self.figures("--keys", 20_000, "--schemes", "vbucket",
                            "--replicas", "11,11-cache-3,11")  # fmt: skip
        for row in rows[1:]:
            self.assertAlmostEqual(row["moved_percent"], 100 / 11, delta=1)
            self.assertLess(row["moved_between_stays_percent"], 0.1)

    def test_weights_are_of_all_steps_or_of_each(self):
        rows = self.figures("--keys", 20_000, "--schemes", "vbucket,simple-sha1", "--replicas",
                            "4,4", "--weights", "-", "--weights", "cache-0=0")  # fmt: skip
        self.assertAlmostEqual(rows[1]["moved_percent_least"], 25)
        self.assertAlmostEqual(rows[1]["moved_percent"], 25, delta=2)
        self.assertEqual(rows[1]["empty_replicas"], 0)
        self.assertEqual(len([row for row in rows if row["scheme"] == "simple-sha1"]), 2)

    def test_keys_of_a_file_count_by_their_weights(self):
        file = self.file("keys", "a\t3\nb\nb\t4\n")
        done = ringside("simulate", "--json", "--keys-from", file, "--replicas", "1,2",
                        "--schemes", "rendezvous")  # fmt: skip
        figures = json.loads(done.stdout)
        self.assertEqual(figures["keys"], 2)
        self.assertIn(figures["rows"][1]["hit_rate_dip_points"], (0, 37.5, 62.5, 100))
        same = ringside("simulate", "--json", "--keys-from", "-", "--replicas", "1,2",
                        "--schemes", "rendezvous", stdin="b\t5\na\t3\n")  # fmt: skip
        self.assertEqual(
            json.loads(same.stdout)["rows"][1]["hit_rate_dip_points"],
            figures["rows"][1]["hit_rate_dip_points"],
        )

    def test_keys_of_a_log_are_those_that_a_sidecar_makes(self):
        entry = '{} - - [17/May/2015:10:05:03 +0000] "{} HTTP/1.1" 200 512 "-" "agent"\n'
        asked = [("81.2.69.160", "GET /a"), ("81.2.69.161", "GET /a?q"), ("2.125.160.216", "HEAD /b"),
                 ("203.0.113.1", "GET /a"), ("81.2.69.160", "POST /a")]  # fmt: skip
        log = self.file("access.log", "".join(entry.format(*one) for one in asked))
        for options, keys in (((), 3), (("--shard-key", "path"), 2), (("--shard-key", "ip,path"), 4)):
            with self.subTest(options=options):
                done = ringside("simulate", "--json", "--log", log, "--geo", self.countries(),
                                "--schemes", "ring", *options)  # fmt: skip
                self.assertEqual(json.loads(done.stdout)["keys"], keys)

    @unittest.skipUnless(CHARTS.exists(), "built without the chart library")
    def test_the_page_asks_for_nothing(self):
        page = self.folder / "page.html"
        ringside(*SMALL, "--html", page, "--schemes", "ring,jump", "--replicas", "3,4-cache-1")
        text = page.read_text(encoding="utf-8")
        found = Asked()
        found.feed(text)
        self.assertEqual(found.asked, [])
        self.assertEqual(found.scripts, 2)
        self.assertIn("default-src 'none'", text)
        self.assertIn("The MIT License", text)
        self.assertIn("refused: member", text)
        report = json.loads(re.search(r"const report = (.*);$", text, re.MULTILINE)[1])
        self.assertEqual([row["scheme"] for row in report["rows"]], ["ring"] * 2 + ["jump"] * 2)

    def test_what_makes_no_sense_is_told_in_one_line(self):
        bad_keys = self.file("keys", "a\nb\tmany\n")
        no_log = self.file("access.log", "nothing of the sort\n")
        cases = [
            (("--schemes", "rung"), "there is no scheme \"rung\"; choose one of .*jump, maglev"),
            (("--schemes", "ring,ring"), "stands twice"),
            (("--replicas", "10,x"), "--replicas: \"x\""),
            (("--replicas", "3-cache-7"), "--replicas: \"3-cache-7\""),
            (("--weights", "cache-0"), "--weights"),
            (("--weights", "cache-0=-2"), "--weights"),
            (("--replicas", "1", "--weights", "cache-0=0"), "--weights"),
            (("--keys", "0"), "--keys"),
            (("--keys", "many"), "--keys"),
            (("--zipf", "-1"), "--zipf"),
            (("--zipf", "nan"), "--zipf"),
            (("--keys", "5", "--log", no_log), "give one of these"),
            (("--shard-key", "path"), "--shard-key: .* give --log"),
            (("--keys-from", bad_keys), "keys:2: \"many\""),
            (("--keys-from", self.folder / "none"), "--keys-from: .*No such file"),
            (("--log", no_log, "--shard-key", "path"), "--log: .*none of its 1 lines"),
            (("--log", no_log, "--shard-key", "moon"), "--shard-key: "),
            (("--json", "--csv"), "give one"),
            (("--html", self.folder / "none" / "page"), "--html: "),
            (("--scheme", "ring"), "no option --scheme"),
            (("more",), "one word too many"),
        ]
        for options, why in cases:
            with self.subTest(options=options):
                done = ringside("simulate", *options, expect=2)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, f"^ringside simulate: .*{why}.*\n$")


if __name__ == "__main__":
    unittest.main()
