"""docs/limits.md is what base/limits.h and the headers of limits beside it say."""

import re
import unittest

from project import ROOT, ProjectTest

HEADER = "base/limits.h"
OTHERS = ("base/tier_limits.h", "base/process_limits.h", "base/simulate_limits.h")
PAGE = "docs/limits.md"
UNITS = {"kKiB", "kMiB"}


class Limits(ProjectTest):
    def made_of(self, source: str) -> tuple[int, str]:
        """The script's exit code, and the page that it made or its message."""
        script = self.copy_script("limits-doc")
        self.write(HEADER, source)
        for number, name in enumerate(OTHERS):
            limit = f"constexpr int other_{number} = 1;  // refused"
            self.write(name, f"// # Other\n\n{limit}\n\n}}  // namespace\n")
        self.write(PAGE, "")
        done = self.run_script(script)
        return done.returncode, done.stdout or (self.folder / PAGE).read_text(encoding="utf-8")

    def test_the_page_is_up_to_date(self):
        done = self.run_script(ROOT / "scripts/limits-doc", "--check")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_the_page_names_every_limit(self):
        text = "".join((ROOT / name).read_text(encoding="utf-8") for name in (HEADER, *OTHERS))
        names = set(re.findall(r"^constexpr [\w:]+ (\w+)", text, re.MULTILINE)) - UNITS
        rows = [line for line in (ROOT / PAGE).read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
        self.assertGreater(len(names), 60)
        self.assertEqual(names, {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])})

    def test_a_page_that_is_out_of_date_is_refused(self):
        script = self.copy_script("limits-doc")
        text = (ROOT / HEADER).read_text(encoding="utf-8")
        self.write(HEADER, text.replace("head_fields = 100", "head_fields = 101"))
        for name in OTHERS:
            self.write(name, (ROOT / name).read_text(encoding="utf-8"))
        self.write(PAGE, (ROOT / PAGE).read_text(encoding="utf-8"))
        done = self.run_script(script, "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn("scripts/limits-doc", done.stdout)

    def test_values_and_words(self):
        code, page = self.made_of(
            "// # Part\n// Words\n// of it.\n\n"
            "constexpr size_t a_bytes = 32 * kKiB;  // refused\n"
            "// (--b) {}, doubling to {} |\n// pauses\n"
            "constexpr Milliseconds b{1'500};\nconstexpr Seconds c{\n    86'400};\n\n"
            "}  // namespace\n"
        )
        self.assertEqual(code, 0, page)
        self.assertIn("## Part\n\nWords of it.\n\n| limit |", page)
        self.assertIn("| `a_bytes` | 32 KiB | refused |\n", page)
        self.assertIn("| `b`, `c` (`--b`) | 1.5 s, doubling to 1 day | pauses |\n", page)

    def test_a_limit_without_a_word_is_refused(self):
        code, message = self.made_of(
            "// # Part\n\nconstexpr int a = 1;  // refused\nconstexpr int b = 2;\n\n}  // namespace\n"
        )
        self.assertEqual(code, 1)
        self.assertIn("b has no comment", message)


if __name__ == "__main__":
    unittest.main()
