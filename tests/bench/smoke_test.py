"""bench/run as it is run, for a moment: does it work at all? No speed is looked at."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from bench import ROOT
from support.memory import is_sanitized

PROGRAM = os.environ.get("RINGSIDE", "")


@unittest.skipUnless(PROGRAM, "RINGSIDE names no program")
@unittest.skipIf(is_sanitized(), "nobody measures a program with sanitizers")
@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cores")
class Smoke(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_bench(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            ["python3", "-B", ROOT / "bench/run", "--quick", "--no-calls", "--paths", "20",
             "--servers", "ringside", *words], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False)

    def test_a_hit_at_a_replica_and_one_through_the_sidecar(self) -> None:
        file = self.folder / "all.json"
        done = self.run_bench("--program", PROGRAM, "--compare", PROGRAM, "--replicas", "2",
                              "--cases", "hit-1k,side-1k", "--json", str(file))
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
        self.assertEqual([(row["case"], row["server"]) for row in rows],
                         [(case, server) for case in ("hit-1k", "side-1k")
                          for server in ("ringside", "other")])
        for row in rows:
            self.assertEqual((row["origin_requests"], row["errors"]), (0, 0))
            self.assertGreater(row["rounds"][0]["requests"], 0)
            self.assertGreater(row["rounds"][0]["cpu_us_per_request"], 0)

    def test_a_peer_that_does_not_start_is_left_out_and_the_run_goes_on(self) -> None:
        done = self.run_bench("--program", PROGRAM, "--compare", "/bin/false", "--cases", "hit-1k")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: other in hit-1k", done.stderr)

    def test_a_ringside_that_does_not_start_ends_the_run(self) -> None:
        done = self.run_bench("--program", "/bin/false", "--cases", "hit-1k")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench/run:", done.stderr)

    def test_a_tier_that_grows_fetches_nothing_again(self) -> None:
        file = self.folder / "all.json"
        done = subprocess.run(
            ["python3", "-B", ROOT / "bench/dip", "--program", PROGRAM, "--tiers", "ringside",
             "--keys", "50", "--rate", "100", "--seconds", "3", "--json", str(file)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        told, = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual((told["name"], told["errors"]), ("ringside", 0))
        self.assertGreater(sum(told["requests"]), 50)
        self.assertEqual(sum(told["fetches"]), 0)

    def test_what_a_change_of_the_tier_costs(self) -> None:
        done = subprocess.run(
            ["python3", "-B", ROOT / "bench/handoff", "--program", PROGRAM, "--counts-only",
             "--keys", "20"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240,
            check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        _, *graceful, killed, _, without_room = done.stdout.splitlines()
        rows = [line.rsplit(maxsplit=3) for line in graceful]
        self.assertGreater(len(rows), 5)
        self.assertEqual({(again, wrong) for _, again, wrong, _ in rows}, {("0", "0")}, done.stdout)
        again, held = map(int, re.search(r"killed +(\d+) .* alone held (\d+)$", killed).groups())
        self.assertLessEqual(again, held)
        self.assertRegex(without_room, r"^without room for all keys: [\d,]+ fetches .*%\)$")

    def test_what_a_cut_costs(self) -> None:
        done = subprocess.run(
            ["python3", "-B", ROOT / "bench/split", "--program", PROGRAM, "--mib", "8"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=290, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line.split(":")[0] for line in done.stdout.splitlines()],
                         ["log", "log", "wait", "wait"])
        self.assertEqual(done.stdout.count("fetched again 0\n"), 2, done.stdout)

    def test_what_grows_with_a_tier(self) -> None:
        file = self.folder / "all.json"
        done = subprocess.run(
            ["python3", "-B", ROOT / "bench/scale", "--program", PROGRAM, "--cases",
             "replicas,keys,ready", "--replicas", "2", "--keys", "20", "--rounds", "1",
             "--seconds", "1", "--json", str(file)], stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual({line["case"] for line in lines}, {"replicas", "keys", "ready"})
        for line in lines:
            self.assertGreater(line["value"], 0)


if __name__ == "__main__":
    unittest.main()
