"""Man pages and completions: all that the program can do, in a form that their readers take."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["RINGSIDE_ROOT"])
PROGRAM = os.environ["RINGSIDE"]


def said(*command: object, text: str = "") -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command], input=text, capture_output=True, text=True, check=True
    )


class Manuals(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.share = pathlib.Path(temporary.name)
        said(ROOT / "scripts/manuals", "--program", PROGRAM, cls.share)
        cls.commands = re.findall(r"^  (\w+) ", said(PROGRAM, "--help").stdout, re.MULTILINE)
        cls.table = json.loads(said(PROGRAM, "options").stdout)["options"]

    def page(self, name: str) -> str:
        return gzip.decompress((self.share / f"man/man1/{name}.1.gz").read_bytes()).decode()

    def completed(self, *words: str) -> list[str]:
        """What the last word may become."""
        script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ringside 2>/dev/null'
        script += '; printf "%s\\n" "${COMPREPLY[@]}"'
        file = self.share / "bash-completion/completions/ringside"
        return said("bash", "-c", script, "-", file, "ringside", *words).stdout.split()

    def test_each_command_has_a_page_that_is_read_without_warnings(self) -> None:
        self.assertGreater(len(self.commands), 10)
        for name in ("ringside", *(f"ringside-{command}" for command in self.commands)):
            with self.subTest(name):
                done = said("groff", "-man", "-ww", "-Tutf8", "-Kutf8", text=self.page(name))
                self.assertEqual(done.stderr, "")
                self.assertIn(f"{name} - ", re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout))

    def test_each_option_of_the_table_is_on_the_pages_of_its_commands(self) -> None:
        for row in self.table:
            for command in row["defaults"]:
                page = self.page(f"ringside-{command}").replace("\\-", "-")
                with self.subTest(command, option=row["flag"]):
                    self.assertIn(f"\n\\fB--{row['flag']}\\fP", page)
                    self.assertIn(row["help"].split(";")[0].split("…")[0], page)

    def test_commands_and_their_options_are_completed(self) -> None:
        self.assertEqual(self.completed(""), self.commands)
        self.assertEqual(self.completed("si"), ["sidecar", "simulate"])
        for row in self.table:
            for command in row["defaults"]:
                self.assertIn(f"--{row['flag']}", self.completed(command, f"--{row['flag']}"))
        self.assertIn("--admin", self.completed("purge", "--a"))
        self.assertNotIn("--peers", self.completed("up", "--"))
        self.assertIn("--peers", self.completed("config", "cache", "--pe"))
        self.assertEqual(self.completed("config", ""), ["up", "sidecar", "cache"])

    def test_values_are_completed_where_they_are_files_or_few(self) -> None:
        file = self.share / "a.yaml"
        file.touch()
        self.assertEqual(self.completed("up", "--config", str(self.share / "a.y")), [str(file)])
        self.assertEqual(self.completed("up", "--without-replica", "r"), ["refuse"])
        self.assertEqual(self.completed("up", "--without-replica", "=", "o"), ["origin"])
        self.assertEqual(self.completed("up", "--without-replica", "="), ["refuse", "origin"])


if __name__ == "__main__":
    unittest.main()
