"""What is made of the table of options is up to date: docs, example, a fuzzer's dictionary."""

import os
import unittest

from project import ROOT, ProjectTest

PROGRAM = os.environ["RINGSIDE"]
TEXTS = [
    "docs/configuration.md",
    "docs/ringside.example.yaml",
    "tests/fuzz/dictionaries/configuration.dict",
]


class OptionTexts(ProjectTest):
    def test_the_texts_say_what_the_table_says(self):
        done = self.run_script(ROOT / "scripts/option-texts", "--check", PROGRAM)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_text_that_is_out_of_date_is_named_and_written_anew(self):
        script = self.copy_script("option-texts")
        right = {path: (ROOT / path).read_text(encoding="utf-8") for path in TEXTS}
        for path, text in right.items():
            lines = [line for line in text.splitlines(True) if "log_level: " not in line]
            lines = [line for line in lines if "`--log-level`" not in line]
            self.assertLess(len("".join(lines)), len(text), path)
            self.write(path, "".join(lines))
        done = self.run_script(script, "--check", PROGRAM)
        self.assertEqual(done.returncode, 1)
        for path in TEXTS:
            self.assertIn(f"{path} is out of date", done.stdout)
        self.assertEqual(self.run_script(script, PROGRAM).returncode, 0)
        for path, text in right.items():
            self.assertEqual((self.folder / path).read_text(encoding="utf-8"), text)


if __name__ == "__main__":
    unittest.main()
