"""docs/limits.md names every limit of base/limits.h, and no other."""

import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["RINGSIDE_ROOT"])
UNITS = {"kKiB", "kMiB"}


def in_code() -> set[str]:
    text = (ROOT / "base/limits.h").read_text(encoding="utf-8")
    return set(re.findall(r"^constexpr [\w:]+ (\w+)", text, re.MULTILINE)) - UNITS


def in_page() -> set[str]:
    names = set()
    for line in (ROOT / "docs/limits.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| `"):
            names.update(re.findall(r"`(\w+)`", line.split("|")[1]))
    return names


class Limits(unittest.TestCase):
    def test_the_page_names_every_limit(self):
        self.assertGreater(len(in_code()), 60)
        self.assertEqual(in_code() - in_page(), set())

    def test_the_page_names_no_limit_that_is_not_there(self):
        self.assertEqual(in_page() - in_code(), set())
