"""The public tests for HTTP caches (npm http-cache-tests, pinned) say what expected.json says.

They are run against a replica, and against a sidecar in front of three, both with the two rules
that the suite takes for granted (RULES), and against a replica without them. tests/conformance has the
pinned package and the list of all tests that do not pass, each with the reason: one that fails and
is not in the list fails this test, and so does one that is in the list and passes.
docs/conformance.md is about the results. All that was found lies in
BUILD/conformance/{replica,sidecar,defaults}.json; what is said in one test alone is shown with
RINGSIDE_CONFORMANCE_TEST=freshness-none.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading
import types
import unittest

from support import WAIT_S, Tier
from support.memory import is_sanitized
from support.program import BUILD, ROOT, die_with_parent

HERE = ROOT / "tests" / "conformance"
EXPECTED = HERE / "expected.json"
ONLY = os.environ.get("RINGSIDE_CONFORMANCE_TEST")
FRONTS = ("replica", "sidecar", "defaults")
RULES = "cache: {invalid_age: stale, set_cookie: store}\n"
KINDS = ("required", "optional", "check")
PASSED = ("pass", "yes")
REMEDY = (
    "The suite is fetched by npm as tests/conformance/package-lock.json says. Look whether `npm ci`"
    " works there (npm on the PATH, a registry that can be reached) and run the test again."
)


def installed() -> pathlib.Path:
    """The suite's folder, in the build folder; fetched where the lock file is not the one it has."""
    folder = BUILD / "conformance"
    lock, stamp = HERE / "package-lock.json", folder / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
        folder.mkdir(exist_ok=True)
        stamp.unlink(missing_ok=True)
        for file in (HERE / "package.json", lock):
            shutil.copy(file, folder)
        try:
            subprocess.run(
                ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                cwd=folder, check=True, timeout=200, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            raise AssertionError(f"{error}. {REMEDY}") from error
        shutil.copy(lock, stamp)
    return folder / "node_modules" / "http-cache-tests"


def differences(expected: list[dict], results: list[dict], front: str) -> list[str]:
    """What the list says otherwise than the results; empty where they agree."""
    listed = {entry["id"]: entry for entry in expected if front in entry.get("fronts", FRONTS)}
    found = []
    for result in results:
        entry, passed = listed.pop(result["id"], None), result["outcome"] in PASSED
        what = f"{result['id']} ({result['kind']})"
        if entry is None:
            if not passed:
                found.append(f"{what} does not pass: {result['outcome']}: {result['message']}")
        elif passed:
            found.append(f"{what} passes now: take it from the list")
        elif entry["kind"] != result["kind"]:
            found.append(f"{what} has another kind in the list, {entry['kind']}")
    return found + [f"{name} is no test of the suite" for name in listed]


def summary(results: list[dict]) -> str:
    words = []
    for kind in KINDS:
        of_kind = [result for result in results if result["kind"] == kind]
        passed = sum(result["outcome"] in PASSED for result in of_kind)
        words.append(f"{passed} of {len(of_kind)} {kind}")
    return ", ".join(words)


class TheList(unittest.TestCase):
    """The comparison itself can fail."""

    LISTED = [
        {"id": "a", "kind": "required", "reason": "RFC 9111 §4"},
        {"id": "b", "kind": "check", "reason": "RFC 9111 §4", "fronts": ["sidecar"]},
    ]

    def test_every_difference_is_told(self):
        for a, b, c, front, expected in (
            ("fail", "yes", "pass", "replica", ""),
            ("setup failed", "no", "pass", "sidecar", ""),
            ("pass", "yes", "pass", "replica", "a .required. passes now"),
            ("fail", "no", "pass", "replica", "b .check. does not pass: no: why"),
            ("fail", "yes", "pass", "sidecar", "b .check. passes now"),
            ("fail", "yes", "fail", "replica", "c .optional. does not pass: fail: why"),
            ("fail", "yes", "untested", "replica", "c .optional. does not pass: untested"),
        ):
            with self.subTest(a=a, b=b, c=c, front=front):
                results = [
                    {"id": id_, "kind": kind, "outcome": outcome, "message": "why"}
                    for id_, kind, outcome in (
                        ("a", "required", a), ("b", "check", b), ("c", "optional", c)
                    )
                ]  # fmt: skip
                found = differences(self.LISTED, results, front)
                self.assertEqual(len(found), 1 if expected else 0, found)
                self.assertRegex("".join(found), f"^{expected}")
        self.assertEqual(differences(self.LISTED, [], "replica"), ["a is no test of the suite"])

    def test_each_entry_has_a_reason(self):
        entries = json.loads(EXPECTED.read_text())
        names = [entry["id"] for entry in entries]
        self.assertEqual(sorted(set(names)), names, "sorted by id, each once")
        for entry in entries:
            with self.subTest(entry["id"]):
                self.assertLessEqual(set(entry), {"id", "kind", "reason", "fronts"})
                self.assertIn(entry["kind"], KINDS)
                self.assertRegex(entry["reason"], r"RFC \d+ §|^TODO: ")
                self.assertLessEqual(set(entry.get("fronts", FRONTS)), set(FRONTS))


class Conformance(Tier):
    def suite_origin(self, suite: pathlib.Path):
        """The suite's own server; it can be told its port, 0 too, but not an address to bind to."""
        settings = {"protocol": "http", "port": "0", "pidfile": str(self.folder / "pid")}
        child = subprocess.Popen(
            ["node", "server/server.mjs"],
            cwd=suite,
            env=os.environ | {f"npm_config_{name}": value for name, value in settings.items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        listening = re.search(r"Listening on http:.*:(\d+)/$", child.stdout.readline().strip())
        self.assertTrue(listening, "the suite's server does not say where it listens")

        def pass_on() -> None:  # so that it never waits for a reader
            for line in child.stdout:
                if ONLY:
                    print(line, end="", flush=True)

        reader = threading.Thread(target=pass_on, daemon=True)
        reader.start()
        self.addCleanup(lambda: (child.kill(), reader.join(WAIT_S)))
        return types.SimpleNamespace(url=f"http://127.0.0.1:{listening[1]}")

    def run_suite(self, suite: pathlib.Path, front: str, address: str) -> list[dict]:
        client = ["node", "--no-warnings", HERE / "run_suite.mjs", suite, f"http://{address}"]
        done = subprocess.run(
            client + ([ONLY] if ONLY else []),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=240, check=True,
            preexec_fn=die_with_parent,
        )  # fmt: skip
        said, _, last = done.stdout.rstrip("\n").rpartition("\n")
        results = json.loads(last)
        if ONLY:
            print(f"{said}\n{results}", flush=True)
        else:
            (BUILD / "conformance" / f"{front}.json").write_text(json.dumps(results, indent=1))
        return results

    @unittest.skipIf(is_sanitized(), "the suite counts on a cache that answers within a second")
    def test_the_suite_says_what_the_list_says(self):
        suite = installed()
        rules = ("--config", self.file("rules.yaml", RULES))
        # Three, so that what one URL's answer says of another's has to reach another shard.
        behind = self.caches(3, self.suite_origin(suite), *rules)
        fronts = {
            "replica": self.cache("cache-0", self.suite_origin(suite), *rules),
            "sidecar": self.sidecar(behind),
            "defaults": self.cache("cache-0", self.suite_origin(suite)),
        }

        # At the same time: they wait, most of the time.
        with concurrent.futures.ThreadPoolExecutor() as pool:
            runs = {
                front: pool.submit(self.run_suite, suite, front, fronts[front].address)
                for front in FRONTS
            }
        if ONLY:
            return
        expected = json.loads(EXPECTED.read_text())
        for front, run in runs.items():
            print(f"{front}: {summary(run.result())} pass", flush=True)
            with self.subTest(front):
                found = differences(expected, run.result(), front)
                self.assertEqual(found, [], "\n" + "\n".join(found))


if __name__ == "__main__":
    unittest.main()
