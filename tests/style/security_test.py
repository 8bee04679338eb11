"""SECURITY.md names the test of each threat: is it there?"""

import re
import unittest

from project import ROOT

TESTS = ROOT / "tests"
SOURCES = [path.read_text() for path in TESTS.rglob("*_test.cc")]


def rows() -> list[str]:
    text = (ROOT / "SECURITY.md").read_text()
    table = text[text.index("## Threats") : text.index("## How to report")].splitlines()
    lines = [line for line in table if line.startswith("| ")]
    return [line for line in lines if not line.startswith(("| threat |", "| --- |"))]


class Security(unittest.TestCase):
    def test_each_line_names_a_test_that_is_there(self):
        self.assertGreater(len(rows()), 10)
        for row in rows():
            shown = row.rsplit("|", 2)[1]
            names = re.findall(r"`([^`]+)`", shown)
            with self.subTest(row):
                self.assertTrue(names, "no test is named")
                text = ""
                for name in names:
                    text = self.check(name, text)

    def check(self, name: str, text: str) -> str:
        """`name` is there: a file, or a test of `text`, the file named before. Returns the file."""
        if "/" in name:
            return (ROOT / name).read_text()
        if name.endswith(".py"):
            return (TESTS / "end_to_end" / name).read_text()
        suite, _, test = name.rpartition(".")
        if suite and not test.startswith("test_"):
            pattern = rf"TEST(_F|_P)?\({suite}, {test}\)"
            found = any(re.search(pattern, source) for source in SOURCES)
            self.assertTrue(found, f"there is no {name}")
            return text
        if suite:
            self.assertIn(f"class {suite}(", text)
        kind = "class" if test[0].isupper() else "def"
        self.assertRegex(text, rf"{kind} {test}\(")
        return text


if __name__ == "__main__":
    unittest.main()
