"""Every link of a page leads to a file that is there, and to a heading that is in it."""

import functools
import pathlib
import re
import unittest

from project import ROOT

FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)


def pages() -> list[pathlib.Path]:
    below = (*ROOT.glob("*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("*/*/README.md"), *ROOT.glob("docs/**/*.md"))
    return sorted({page for page in below if not page.relative_to(ROOT).parts[0].startswith("build")})


@functools.cache
def anchors(page: pathlib.Path) -> set[str]:
    """As the places that show Markdown name a heading."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


class Links(unittest.TestCase):
    def test_each_leads_somewhere(self):
        found = 0
        for page in pages():
            for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text())):
                if "://" in link:
                    continue
                found += 1
                path, _, anchor = link.partition("#")
                target = page.parent / path if path else page
                with self.subTest(page=page.name, link=link):
                    self.assertTrue(target.exists(), "no such file")
                    if anchor:
                        self.assertIn(anchor, anchors(target))
        self.assertGreater(found, 100)


if __name__ == "__main__":
    unittest.main()
