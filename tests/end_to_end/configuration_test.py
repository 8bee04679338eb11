"""What is wrong with a configuration is said in one line: file, line, remedy, exit code 2."""

import json
import re
import socket
import unittest

from support import ROOT, Tier, ringside, wait_until
from support.program import BUILD

ORIGIN = {"cache": ("--name", "cache-0", "--listen", "127.0.0.1:0", "--origin", "http://127.0.0.1:1")}

# (command, file, line of the mistake, words of the message)
WRONG = [
    ("up", "drain_deadlin: 30s\n", 1, "did you mean drain_deadline?"),
    ("up", "replicas: 10\n\nscheme: rang\n", 3, "ring"),
    ("up", "replicas: 0\n", 1, "replicas"),
    ("up", "replicas: many\n", 1, "many"),
    ("up", "replicas: [cache-0=a:1]\n", 1, "write a number"),
    ("up", "memory: 12 parsecs\n", 1, "memory"),
    ("up", "memory: 1KiB\n", 1, "at least"),
    ("up", "connect_timeout: 1\n", 1, "connect_timeout"),
    ("up", "listen: 8080\n", 1, "listen"),
    ("up", "listen: [1, 2]\n", 1, "write a single value"),
    ("up", "trust: 10.0.0.0/8,nonsense\n", 1, "nonsense"),
    ("up", "trust:\n- 10.0.0.0/8\n- nonsense\n", 3, "nonsense"),
    ("up", "origin: ftp://a\n", 1, "http"),
    ("up", "origin: ftp://a\n", 1, "http"),
    ("up", "origin:\n", 1, "no value"),
    ("up", "log_level: loud\n", 1, "loud"),
    ("up", "threads: 0\n", 1, "threads"),
    ("up", "drain_delay: 0.1s\n", 1, '"0.1s" has a fraction; write a number with ms'),
    ("up", "listen: 127.0.0.1:9090\n", 1, "127.0.0.1:9090 is the address of --admin too; give another port"),
    ("up", "shard_key: country,colour\n", 1, "colour"),
    ("up", "shard_key: country,country\n", 1, "country"),
    ("up", "country_header: Content-Length\n", 1, "X-Country"),
    ("up", "without_replica: perhaps\n", 1, "write refuse or origin"),
    ("up", "split_writes: later\n", 1, "write log or wait"),
    ("up", "scheme: ring\nscheme: ring\n", 2, "first in line 1"),
    ("up", "scheme: &a ring\n", 1, "anchor"),
    ("up", "a: [\n", 2, "YAML"),
    ("up", "- a\n- b\n", 1, "key: value"),
    ("up", "scheme: ring\n---\nscheme: ring\n", 3, "second document"),
    ("up", "routes: yes\n", 1, "list of routes"),
    ("up", "routes:\n- path: /a\n", 2, "name"),
    ("up", "routes:\n- name: a\n  hots: b\n", 3, "did you mean host?"),
    ("up", "routes:\n- name: a\n  cahce: {ttl: 2m}\n", 3, '"cahce" is no key of a route; did you mean cache?'),
    ("up", "routes:\n- name: a\n- name: a\n  path: /x\n", 3, "another route is named a"),
    ("up", "routes:\n- name: a\n  path: x\n", 3, "starts with /"),
    ("up", "routes:\n- name: a\n  path: /x/{i d}\n", 3, "write {NAME} as a whole segment"),
    ("up", "routes:\n- name: a\n  shard_key: id:0\n", 3, "write id:N, from 1 to 64"),
    ("up", "routes:\n- name: a\n  path: /x/{id}\n  shard_key: id:{x}\n", 2, "has no {x}"),
    ("up", "routes:\n- name: a\n  key_fallback: path\n", 2, "takes no id; leave it out"),
    ("up", "routes:\n- name: a\n- name: b\n", 1, "routes"),
    ("up", "routes:\n- name: a\n  scheme: rnig\n", 3, 'no scheme "rnig"; choose one of'),
    ("up", "routes:\n- name: a=b\n  scheme: range\n", 2, "needs a name of letters, digits"),
    ("up", "routes:\n- name: a\n  near_ttl: 1h\n", 3, "at most"),
    ("sidecar", "listen: 127.0.0.1:0\nreplicas: 10\n", 2, "NAME=HOST:PORT"),
    ("sidecar", "listen: 127.0.0.1:0\nreplicas: a=b:1,a=c:1\n", 2, "a"),
    ("sidecar", "listen: 127.0.0.1:0\nreplicas: a=b:1,c=b:1\n", 2, "its own address"),
    ("sidecar", "listen: 127.0.0.1:0\nreplicas: a=b:1;weight=-1\n", 2, "weight"),
    ("sidecar", "listen: 127.0.0.1:0\nreplicas:\n- name: a\n  adress: b:1\n", 4, "did you mean address?"),
    ("sidecar", "listen: 127.0.0.1:0\nreplicas:\n- name: a\n", 3, "no address"),
    ("cache", "listen: 127.0.0.1:0\nname: cache-0\norigin: http://o\npeers: cache-1=a:1\n", 4, "this one too"),
    ("cache", "listen: 127.0.0.1:0\nname: a b\norigin: http://o\n", 2, "name"),
]  # fmt: skip

# (arguments, words of the message): nothing is wrong with a file.
WRONG_FLAGS = [
    (["sidecar", "--replicas", "a=b:1"], "give --listen"),
    (["sidecar", "--listen", "127.0.0.1:0"], "give --replicas"),
    (["sidecar", "--listen", "127.0.0.1:0", "--replicas", "a=b:0"], "nobody is reached at port 0"),
    (["cache", "--listen", "127.0.0.1:0", "--origin", "http://o"], "give --name"),
    (["cache", "--listen", "127.0.0.1:0", "--name", "a"], "give --origin"),
    (["up", "--replicas", "ten"], "--replicas"),
    (["up", "--config", "/nonexistent.yaml"], "/nonexistent.yaml"),
    (["up", "--fast"], "--fast"),
    (["scale"], "ringside scale --help"),
    (["scale", "0"], "N"),
    (["replay"], "--to"),
    (["shard", "--replicas", "2", "nonsense"], "http://HOST[:PORT]/PATH"),
    (["shard", "--replicas", "2", "--ip", "nonsense", "/a"], "--ip"),
    (["start"], "ringside --help"),
    (["scael", "3"], "did you mean scale?"),
    (["frobnicate"], "ringside --help"),
]


class Mistakes(Tier):
    def check_refused(self, arguments: list, expect: int = 2) -> str:
        done = ringside(*arguments, expect=expect)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr

    def test_a_files_mistake_is_named_with_its_line_and_the_remedy(self):
        geo = self.countries()
        for command, text, line, words in WRONG:
            with self.subTest(text):
                path = self.file("wrong.yaml", text)
                common = [command, "--config", path]
                common += [] if command == "cache" else ["--geo", geo]
                for arguments in (common, common + ["--validate"]):
                    told = self.check_refused(arguments)
                    self.assertIn(f"ringside {command}: {path}:{line}: ", told)
                    self.assertIn(words, told.split(f"{path}:{line}: ")[1])

    def test_a_flags_mistake_is_named_with_the_remedy(self):
        for arguments, words in WRONG_FLAGS:
            with self.subTest(arguments):
                geo = arguments[:1] in (["up"], ["sidecar"], ["shard"])
                more = ["--geo", self.countries()] if geo else []
                self.assertIn(words, self.check_refused(arguments + more))

    def test_without_a_command_help_is_printed(self):
        self.assertEqual(ringside().stdout, ringside("--help").stdout)
        self.assertIn("Usage: ringside COMMAND", ringside().stdout)

    def test_a_port_in_use_is_a_failure_and_names_the_remedy(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:{}".format(taken.getsockname()[1])
            free = "127.0.0.1:0"
            for listen, admin in ((address, free), (free, address)):
                for arguments in (
                    ["up", "--replicas", 1, "--geo", self.countries()],
                    ["sidecar", "--replicas", "a=b:1", "--geo", self.countries(), "--insecure-peers"],
                    ["cache", "--name", "a", "--origin", "http://o"],
                ):
                    with self.subTest(command=arguments[0], listen=listen, admin=admin):
                        told = self.check_refused(
                            [*arguments, "--listen", listen, "--admin", admin], expect=1
                        )
                        self.assertIn(f"cannot listen on {address}", told)
                        self.assertRegex(told, "; .*choose another")

    def test_two_processes_do_not_share_a_port(self):
        # SO_REUSEPORT, of which each core's listener makes use, would let them.
        origin = self.origin()
        first = self.cache("cache-0", origin)
        told = self.check_refused(
            ["cache", "--name", "a", "--origin", origin.url, "--listen", first.address,
             "--admin", "127.0.0.1:0", "--threads", 2], expect=1,
        )  # fmt: skip
        self.assertIn(f"cannot listen on {first.address}", told)


class Validity(Tier):
    def test_a_kubeconfig_that_can_not_be_read_was_called_valid(self):
        kubeconfig = self.file("kubeconfig", "apiVersion: v1\ncurrent-context: nobody\n")
        for command in (
            ["sidecar", "--geo", self.countries()],
            ["cache", "--name", "a", "--origin", "http://o"],
        ):
            for path in (kubeconfig, "/nonexistent"):
                done = ringside(
                    *command, "--listen", "127.0.0.1:0", "--kubernetes", "a/b",
                    "--kubeconfig", path, "--insecure-peers", "--validate", expect=2,
                )  # fmt: skip
                self.assertEqual(done.stdout, "")
                self.assertIn("--kubeconfig: ", done.stderr)

    def test_the_example_is_valid_for_every_command(self):
        # But for the files that it names and that are not here.
        text = (ROOT / "docs" / "ringside.example.yaml").read_text()
        token = self.file("token", "0123456789abcdef")
        for there, here in (
            ("/etc/ringside/admin-token", token),
            ("/var/log/ringside", self.folder),
        ):
            text = text.replace(there, str(here))
        example = self.file("e.yaml", text)
        key = ("--peer-key-file", self.file("peer.key", "0123456789abcdef" * 4))
        for command in ("sidecar", "cache"):
            with self.subTest(command):
                done = ringside(command, "--config", example, *key, "--validate")
                self.assertIn("the configuration is valid; 5 routes", done.stdout)

    def test_flags_win_over_the_file(self):
        path = self.file("tier.yaml", "replicas: 2\ndrain_deadline: 9s\nmemory: 32MiB\n")
        tier = self.start(
            "up", "--config", path, "--replicas", 3, "--geo", self.countries(), "--threads", 1
        )
        told = tier.json("/config")
        self.assertEqual(
            (told["replicas"], told["drain_deadline"], told["memory"]), (3, "9s", "32MiB")
        )

    def test_what_config_shows_is_a_configuration(self):
        tier = self.up(2, self.origin(), "--shard-key", "country,path,header:accept-language")
        shown = tier.administer("GET", "/config").text  # JSON is YAML
        path = self.file("again.yaml", shown)
        again = self.start("up", "--config", path)
        self.assertEqual(again.json("/config"), tier.json("/config"))

    def test_config_shows_the_country_database_that_was_found(self):
        found = BUILD / "share" / "ringside" / "country.mmdb"
        for command, shown in (("up", str(found) if found.exists() else "none"), ("cache", "none")):
            told = json.loads(ringside("config", command, *ORIGIN.get(command, ())).stdout)
            self.assertEqual(told.get("geo", "none"), shown)

    def test_help_and_version(self):
        for command in ("up", "scale", "sidecar", "cache", "replay", "shard", "version"):
            self.assertIn(f"ringside {command}", ringside(command, "--help").stdout)
            self.assertIn(command, ringside("--help").stdout)
        self.assertRegex(ringside("version").stdout, r"^ringside \d+\.\d+\.\d+\n")


class Countries(Tier):
    def databases(self):
        good = self.countries().read_bytes()
        yield "missing", self.folder / "nowhere.mmdb"
        for name, content in (
            ("empty", b""),
            ("truncated", good[: len(good) // 2]),
            ("tail only", good[-200:]),
            ("no database", b"<html>not found</html>" * 100),
            ("cut tree", good[:64] + good[-300:]),
        ):
            path = self.folder / f"{name.replace(' ', '-')}.mmdb"
            path.write_bytes(content)
            yield name, path
        folder = self.folder / "folder.mmdb"
        folder.mkdir()
        yield "a folder", folder

    def test_without_a_sound_database_it_does_not_start(self):
        for what, path in self.databases():
            with self.subTest(what):
                done = ringside("up", "--geo", path, expect=2)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(str(path), done.stderr)
                self.assertIn("--geo", done.stderr)

    def test_geo_optional_goes_on_without(self):
        origin = self.origin()
        for number, (what, path) in enumerate(self.databases()):
            with self.subTest(what):
                tier = self.start(
                    "up", "--replicas", 1, "--geo", path, "--geo-optional", "--threads", 1,
                    "--origin", origin.url,
                )  # fmt: skip
                wait_until(lambda tier=tier: "every country is ZZ" in tier.err, "the warning")
                self.assertEqual(tier.get(f"/{number}", "81.2.69.1").status, 200)
                asked = [(one.target, one.field("X-Country")) for one in origin.seen()]
                told = [country for target, country in asked if target == f"/{number}"]
                self.assertEqual(set(told), {"ZZ"}, asked)
                self.assertIn("no database", tier.readyz().text)
                tier.stop()

    def test_it_is_not_needed_where_no_key_uses_the_country(self):
        path = self.file("tier.yaml", "shard_key: path\n")
        ringside("up", "--config", path, "--validate")


class Shard(Tier):
    def test_the_table_tells_all_of_a_key(self):
        done = ringside(
            "shard", "--geo", self.countries(), "--replicas", 3, "--ip", "81.2.69.1",
            "http://www.example.com/a/../b%7e?x#fragment",
        )  # fmt: skip
        head, row = done.stdout.splitlines()
        self.assertRegex(head, "^URL +ROUTE +COUNTRY +KEY +HASH +BUCKET +OWNER +THEN$")
        cells = re.split(" {2,}", row)
        self.assertEqual(cells[1:4], ["default", "GB", "GB /b~"])
        self.assertEqual(
            sorted([cells[6], *cells[7].split()]), ["cache-0", "cache-1", "cache-2"]
        )

    def test_a_bad_line_is_told_and_the_others_are_answered(self):
        done = ringside(
            "shard", "--geo", self.countries(), "--replicas", 3, "-", expect=1,
            stdin="/a\n\nnonsense\n81.2.69.1 /b\n81.2.69.1.1 /c\n/d\n",
        )  # fmt: skip
        keys = [re.split(" {2,}", row)[3] for row in done.stdout.splitlines()[1:]]
        self.assertEqual(keys, ["ZZ /a", "GB /b", "ZZ /d"])
        first, second, last = done.stderr.splitlines()
        self.assertTrue(first.startswith("ringside shard: stdin:3: "), first)
        self.assertTrue(second.startswith("ringside shard: stdin:5: "), second)
        self.assertEqual(last, "ringside shard: lines of stdin that could not be answered: 2")

    def test_the_order_of_the_members_does_not_matter(self):
        names = [f"cache-{n}=10.0.0.{n}:80" for n in range(7)]
        asked = [("10.0.0.1", f"/page/{n}") for n in range(50)]
        there = self.shard(asked, "--replicas", ",".join(names))
        back = self.shard(asked, "--replicas", ",".join(reversed(names)))
        self.assertEqual(there, back)
        self.assertTrue(all(len(set(answer["owners"])) == 3 for answer in there))


if __name__ == "__main__":
    unittest.main()
