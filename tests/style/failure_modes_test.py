"""docs/failure-modes.md promises tests: are they there?"""

import re
import unittest

from project import ROOT

FOLDERS = [ROOT / "tests/end_to_end", ROOT / "tests/abuse"]
SIMULATED = "".join(file.read_text() for file in (ROOT / "tests/simulation").glob("*.cc"))


class FailureModes(unittest.TestCase):
    def test_each_row_names_a_test_that_is_there(self):
        text = (ROOT / "docs/failure-modes.md").read_text()
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        rows = [row for row in rows if not row.startswith(("| failure |", "| --- |"))]
        self.assertGreater(len(rows), 30)
        file = ""
        for row in rows:
            shown = row.rsplit("|", 2)[1]
            names = re.findall(r"`(\w+(?:\.py)?)`", shown)
            simulated = re.findall(r"`(\w+)\.(?!py`)(\w+)(?:/(\w+))?`", shown)
            with self.subTest(row):
                is_named = names or simulated or shown == " the same "
                self.assertTrue(is_named, "no test is named")
                for suite, name, case in simulated:
                    self.assertRegex(SIMULATED, rf"TEST(_P)?\({suite}, {name}\)")
                    self.assertIn(f'"{case}"' if case else "", SIMULATED)
                for name in names:
                    if name.endswith(".py"):
                        places = [folder / name for folder in FOLDERS]
                        file = next(path for path in places if path.exists()).read_text()
                    else:
                        self.assertIn(f"    def {name}(self", file)


if __name__ == "__main__":
    unittest.main()
