"""Every block of README.md and docs/*.md is run or checked as printed. A block of no table fails."""

import json
import os
import re
import shutil
import subprocess
import unittest
from typing import NamedTuple

from support import PROGRAM, ROOT, WAIT_S, Tier, printed, ringside, sandbox, write_mmdb
from support.memory import is_sanitized
from support.program import BUILD

PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in printed.blocks(ROOT, page)]
WHY_NOT = sandbox.why_not()


TOKEN = "(umask 077; openssl rand -hex 32 > admin.token)"


class Session(NamedTuple):
    """Blocks of a page, known by their first lines, that are run one after the other."""

    page: str
    begins: tuple[str, ...]
    before: dict[int, list[str]] = {}  # what the test does before the Nth printed command
    codes: dict[int, int] = {}  # exit codes that are not 0
    validated: bool = False  # each server's command gets --validate


SESSIONS = [
    Session("README.md", ("$ build/ringside up &",)),
    Session(
        "README.md",
        (
            "python3 -m http.server --bind 127.0.0.1 8000 &",
            "build/ringside cache --name cache-2 ",
            "build/ringside purge ",
        ),
    ),
    Session("docs/choosing-a-scheme.md", ("ringside simulate --log ",)),
    Session(
        "docs/configuration.md",
        ("$ ringside sidecar --config tier.yaml ",),
        {0: [r"printf '\n\n\n\n\n\ndrain_deadlin: 30s\n' > tier.yaml"]},
        {0: 2},
    ),
    Session(
        "docs/configuration.md",
        ("ringside split --at ",),
        {
            0: [
                TOKEN,
                "peers=cache-0=10.0.0.10:8080,cache-1=10.0.0.11:8080",
                "common='--origin http://127.0.0.1:1 --insecure-peers --scheme range --admin-token-file admin.token'",
                "export RINGSIDE_ADMIN_TOKEN_FILE=admin.token",
                "ringside cache --name cache-0 --listen 10.0.0.10:8080 --admin 10.0.0.10:9090 --peers $peers $common &",
                "ringside cache --name cache-1 --listen 10.0.0.11:8080 --admin 10.0.0.11:9090 --peers $peers $common &",
                "ringside sidecar --listen 10.0.0.5:8080 --admin 10.0.0.5:9090 --replicas $peers $common &",
            ],
            1: ["ringside up --scheme split-tree &"],
            2: ["kill $!; wait $!; true", "ringside up --scheme directory &"],
        },
    ),
    Session("docs/dns.md", ("ringside sidecar --listen 0.0.0.0:8080 --dns ",), validated=True),
    Session("docs/operations.md", ("(umask 077 && openssl rand ",)),
    Session("docs/operations.md", ("$ ringside plan ",), {0: ["ringside up &"]}),
    Session(
        "docs/operations.md",
        ("$ ringside explain ",),
        {
            0: [
                "ringside up &",
                "curl -s -o /dev/null -H 'X-Forwarded-For: 81.2.69.160' http://127.0.0.1:8080/hello",
            ]
        },
    ),
    Session(
        "docs/operations.md",
        ("$ ringside log ",),
        {
            0: [
                "ringside up &",
                "curl -s -o /dev/null -H 'X-Forwarded-For: 81.2.69.160' http://127.0.0.1:8080/hello",
                "for i in $(seq 100); do curl -s -o /dev/null -H 'X-Forwarded-For: 81.2.69.160' "
                "http://127.0.0.1:8080/hello; sleep 0.1; done &",
            ]
        },
    ),
    Session(
        "docs/recipes.md",
        ("export RINGSIDE_ADMIN_TOKEN_FILE=admin.token",),
        {
            0: [
                TOKEN,
                "ringside up --admin 10.0.0.5:9090 --admin-token-file admin.token &",
            ]
        },
    ),
]

# Why a program can't be run here. Its name, its options and the files of ours that it is given are
# checked all the same.
NOT_HERE = {
    "apt": "installs; tests/package",
    "bench/run": "takes minutes; tests/bench",
    "build/tests/simulation_test": "is a test itself",
    "ctest": "runs the tests",
    "ctr": "needs a cluster's node",
    "docker": "needs a registry",
    "git": "makes a tag",
    "k8s/rules/write-prometheusrule": "tests/dashboard",
    "kubectl": "needs a cluster; tests/kubernetes",
    "promtool": "tests/dashboard",
    "scripts/build": "made what is tested",
    "scripts/demo": "demo_test.py",
    "scripts/fuzz": "takes minutes; scripts/test runs it",
    "scripts/image": "tests/image",
    "scripts/lint": "scripts/test runs it",
    "scripts/package": "tests/package",
    "scripts/setup": "changes the machine",
    "scripts/test": "runs this",
    "skopeo": "needs a registry",
    "systemctl": "needs systemd",
    "valgrind": "tests/cost runs it",
}
BESIDE = {"base64", "callgrind_annotate", "curl", "export", "less", "openssl", "sed", "sha256sum"}
# Blocks that look as if they could be run.
ELSEWHERE = {
    ("docs/kubernetes.md", "curl -i http://ringside-sidecar.ringside/"): "a name of the cluster's",
}
# Files of other programs.
FOREIGN_YAML = {("docs/kubernetes.md", "# /etc/grafana/provisioning/dashboards/ringside.yaml")}
# Pictures, and words that a test of their own compares with the program.
TEXTS = {
    ("README.md", " " * 24 + "shard(country(ip), path)"): "a picture",
    ("README.md", " " * 22 + "requests      GETs  hit rate  at best*        p50        p99  errors"): "demo_test.py",
    ("docs/ARCHITECTURE.md", "base ← shard ← tier;  base ← geo, metrics, net, http;  net, http ← hop ← http1 ← link"): "a picture",
    ("docs/cache-status.md", "Cache-Status: cache-5; hit; ttl=3593"): "tests/cache/storability_test.cc",
    ("docs/kubernetes.md", "  your pod                         StatefulSet ringside-cache"): "a picture",
}  # fmt: skip
LOG_LINE = '192.0.2.7 - - [10/Oct/2000:13:55:36 +0000] "GET /a?b HTTP/1.1"'


def session_of(block: printed.Block) -> Session | None:
    for session in SESSIONS:
        if block.page == session.page and block.text.startswith(session.begins):
            return session
    return None


def is_of_a_slow_tier(said: str) -> bool:
    """Under a sanitizer a replica may be taken for dead for a moment."""
    return is_sanitized() and re.search(r"\((?:ejected|returning)\)", said) is not None


def same(expected: list[str], said: list[str]) -> bool:
    """`…` stands for some text, alone for any number of lines. Estimates and times may differ."""
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*?"
            continue
        text = re.sub(r"about \S+ \w+|(?<=ttl=)\d+", "…", line)
        pattern += ".*".join(map(re.escape, text.split("…"))) + r"\s*\n"
    return bool(re.fullmatch(pattern, "".join(f"{line}\n" for line in said)))


class Tables(unittest.TestCase):
    def test_every_block_is_in_a_table(self):
        for block in BLOCKS:
            with self.subTest(block.where):
                place = (block.page, block.begin)
                if block.language == "text":
                    self.assertTrue(place in TEXTS or block.begin.startswith(LOG_LINE), "a text of no table")
                elif block.language == "console":
                    self.assertTrue(session_of(block), "a dialogue of no session")
                elif block.language == "sh":
                    if place not in ELSEWHERE and not session_of(block):
                        self.check_why_not(block)
                else:
                    self.assertIn(block.language, {"yaml", "json", "promql"})

    def check_why_not(self, block: printed.Block) -> None:
        found = {program for command in printed.commands(block.text) for program in printed.programs(command)}
        self.assertTrue(found & NOT_HERE.keys(), "it could be run, and is in no session")
        self.assertLessEqual(found, NOT_HERE.keys() | BESIDE)

    def test_every_row_has_its_block(self):
        places = {(block.page, block.begin) for block in BLOCKS}
        for place in [*ELSEWHERE, *FOREIGN_YAML, *TEXTS]:
            self.assertIn(place, places)
        for session in SESSIONS:
            for begin in session.begins:
                found = [block for block in BLOCKS if block.page == session.page and block.text.startswith(begin)]
                self.assertEqual(len(found), 1, begin)
        used = {p for b in BLOCKS if b.language == "sh" for c in printed.commands(b.text) for p in printed.programs(c)}
        self.assertLessEqual(NOT_HERE.keys(), used)

    def test_no_block_is_without_a_language(self):
        for page in PAGES:
            self.assertEqual(printed.indented_blocks(ROOT, page), [], page)


@unittest.skipIf(WHY_NOT, f"no machine of its own can be made here: {WHY_NOT}")
class Sessions(Tier):
    def setUp(self):
        super().setUp()
        share = self.folder / "build/share/ringside"
        share.mkdir(parents=True)
        write_mmdb(share / "country.mmdb")
        for part in ("chart.js", "chart.LICENSE"):
            (share / part).write_text("/* draws nothing */")
        shutil.copy(ROOT / "LICENSE", self.folder)
        self.file("peer.key", "0123456789abcdef" * 4)
        self.file("access.log", f'{LOG_LINE} 200 512 "-" "agent"\n')

    def check(self, session: Session) -> None:
        asked: list[tuple[str, list[str] | None]] = []  # with what is printed of the answer
        for begin in session.begins:
            block = next(b for b in BLOCKS if b.page == session.page and b.text.startswith(begin))
            asked += (
                printed.dialogue(block.text)
                if block.language == "console"
                else [(command, None) for command in printed.commands(block.text)]
            )
        script, own = [], set()
        for number, (command, _) in enumerate(asked):
            for prepared in session.before.get(number, []):
                own.add(len(script))
                script.append(prepared)
            script.append(command + " --validate" if session.validated else command)
        done = sandbox.run(self.folder, script)
        for number in own:
            self.assertEqual(done[number].code, 0, f"{done[number].command}\n{done[number].said}")
        of_the_page = [one for number, one in enumerate(done) if number not in own]
        for number, ((command, said), one) in enumerate(zip(asked, of_the_page, strict=True)):
            self.assertEqual(one.code, session.codes.get(number, 0), f"{command}\n{one.said}")
            if said and not sandbox.in_background(command) and not is_of_a_slow_tier(one.said):
                self.assertTrue(same(said, one.said.splitlines()), f"{command}\n{one.said}")
            if command.endswith("/livez"):
                self.assertEqual(one.said, "alive\n")
            elif command.startswith("curl "):
                self.assertRegex(one.said, r"(?m)^HTTP/1\.1 200 OK[^<]*^Cache-Status: [^<]*$")


def add_session(session: Session, number: int) -> None:
    name = re.sub(r"\W+", "_", f"{number}_{session.page}_{session.begins[0]}")[:80]
    setattr(Sessions, f"test_{name}", lambda self: self.check(session))


for place, row in enumerate(SESSIONS):
    add_session(row, place)


class Checked(Tier):
    """What is not run is at least what the program, or the file, takes."""

    def options(self, *command) -> set[str]:
        done = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=WAIT_S, check=False)
        return set(re.findall(r"--[a-z][a-z-]*", done.stdout))

    def test_each_option_of_ours_is_one(self):
        known = {}
        for where, text in [
            *((block.where, block.text) for block in BLOCKS if block.language == "sh"),
            *((b.where, c) for b in BLOCKS if b.language == "console" for c, _ in printed.dialogue(b.text)),
            *((page, span) for page in PAGES for span in printed.spans(ROOT, page) if span.startswith("ringside ")),
        ]:
            for command in printed.commands(text):
                for arguments in printed.calls(command, "ringside"):
                    names = arguments[: 2 if arguments[:1] == ["config"] else 1]
                    for name in names:
                        known.setdefault(name, None)
                        known[name] = known[name] or self.options(PROGRAM, name)
                    takes = {"--help"}.union(*(known[name] for name in names))
                    self.check_options(f"{where}: {command}", arguments, takes)

    def check_options(self, where: str, arguments: list[str], known: set[str]) -> None:
        with self.subTest(where):
            for argument in arguments:
                if argument.startswith("--"):
                    self.assertIn(argument.split("=")[0], known)

    def test_each_script_and_file_is_there_and_takes_its_options(self):
        for block in BLOCKS:
            if block.language != "sh":
                continue
            for command in printed.commands(block.text):
                for program in printed.programs(command):
                    if "/" not in program or program.startswith("build/"):
                        continue
                    self.assertTrue(os.access(ROOT / program, os.X_OK), f"{block.where}: {program}")
                    known = {*self.options(ROOT / program), "--help"}
                    for arguments in printed.calls(command, program.rsplit("/", 1)[-1]):
                        self.check_options(f"{block.where}: {command}", arguments, known)
                for word in printed.words(command):
                    if word.startswith("k8s/"):
                        self.assertTrue((ROOT / word).exists(), f"{block.where}: {word}")

    @unittest.skipIf(BUILD != ROOT / "build", "the docs speak of build/")
    def test_each_selection_of_tests_selects_some(self):
        for block in BLOCKS:
            for command in printed.commands(block.text) if block.language == "sh" else []:
                for arguments in printed.calls(command, "ctest"):
                    asked = [word for word in arguments if word != "-V"]
                    asked[asked.index("build")] = str(BUILD)
                    done = self.lists("ctest", "-N", *asked)
                    self.assertNotRegex(done, r"Total Tests: 0\b", command)
                for arguments in printed.calls(command, "simulation_test"):
                    done = self.lists(BUILD / "tests/simulation_test", "--gtest_list_tests", *arguments)
                    self.assertRegex(done, r"(?m)^  \w", command)

    def lists(self, *command) -> str:
        done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=True)
        return done.stdout

    def test_each_yaml_is_a_configuration(self):
        for block in BLOCKS:
            if block.language == "yaml" and (block.page, block.begin) not in FOREIGN_YAML:
                with self.subTest(block.where):
                    path = self.file("printed.yaml", block.text)
                    done = ringside("up", "--config", path, "--geo", self.countries(), "--validate")
                    self.assertIn("the configuration is valid", done.stdout)
                    self.assertEqual(done.stderr, "")

    def test_each_json_is_a_state_or_a_topology(self):
        for block in BLOCKS:
            if block.language == "json":
                with self.subTest(block.where):
                    page = json.loads(block.text)
                    path = self.file("printed.json", block.text)
                    if "members" in page:
                        ringside("plan", "--from", path, "--to", 2)
                    else:
                        asked = ("--replicas", 2, "--scheme", page["scheme"], "--state", path)
                        self.shard([("81.2.69.160", "/a")], *asked)

    def test_each_query_is_one(self):
        names = (ROOT / "docs/metrics.md").read_text()
        for block in BLOCKS:
            if block.language == "promql":
                with self.subTest(block.where):
                    queries = block.text.strip().split("\n\n")
                    rules = [{"record": f"a:b{n}", "expr": query} for n, query in enumerate(queries)]
                    path = self.file("rules.yaml", json.dumps({"groups": [{"name": "a", "rules": rules}]}))
                    self.lists("promtool", "check", "rules", path)
                    for name in re.findall(r"\bringside_\w+", block.text):
                        self.assertIn(f"| `{re.sub('_bucket$', '', name)}", names)

    def test_the_line_of_the_access_log_has_its_fields(self):
        (text,) = [block.text for block in BLOCKS if block.begin.startswith(LOG_LINE)]
        log = self.folder / "access.log"
        tier = self.up(1, self.origin(), "--access-log", log)
        replayed = ringside("replay", self.file("printed.log", text), "--to", tier.address).stdout
        self.assertRegex(replayed, r"(?m)^1 requests?\b")
        tier.signal(15)
        tier.wait()
        fields = [re.findall(r" (\w+)=", line) for line in (text, log.read_text())]
        self.assertEqual(*fields)


if __name__ == "__main__":
    unittest.main()
