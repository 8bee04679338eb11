"""What scripts/test says at its end is what its reports say."""

import pathlib
import subprocess
import tempfile
import unittest

from project import ROOT

OF_CTEST = """<testsuite>
<testcase name="http.Vary.*" status="run"/>
<testcase name="http.Each/Range.*" status="fail"><failure message=""/></testcase>
<testcase name="http.Leaks.*" status="fail"><failure message=""/></testcase>
<testcase name="end_to_end.tier" status="run"/>
<testcase name="end_to_end.lost" status="notrun"><skipped message="Unable to find executable"/></testcase>
</testsuite>"""

PASSED = '<testcase name="{}" status="run" result="completed"/>'
FAILED = '<testcase name="{}" status="run" result="completed"><failure message=""/></testcase>'
FAILED_AND_SKIPPED = FAILED.replace("</testcase>", '<skipped message=""/></testcase>')
SKIPPED = '<testcase name="{}" status="run" result="skipped"><skipped message=""/></testcase>'


class Tally(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    def tally(self, *names: str) -> tuple[str, str]:
        files = [self.folder / name for name in names]
        done = subprocess.run(
            [ROOT / "scripts/tally", *files], capture_output=True, text=True, check=True
        )
        return done.stdout.strip(), done.stderr

    def test_a_suite_counts_as_its_tests(self):
        self.write("asan.xml", OF_CTEST)
        suites = {
            "http.Vary.xml": PASSED * 3 + SKIPPED,
            "http.Each.Range.xml": PASSED * 5 + FAILED.format("Meets") + FAILED_AND_SKIPPED.format("Ends"),
            "http.Leaks.xml": PASSED * 2,  # it failed behind its tests
        }
        for name, cases in suites.items():
            self.write(f"asan/{name}", f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
        counts, told = self.tally("asan.xml")
        self.assertEqual(counts, f"{3 + 5 + 2 + 1} {2 + 1} {1 + 1}")
        self.assertIn("FAILED  http.Each.Range: Meets", told)
        self.assertIn("FAILED  http.Each.Range: Ends", told)
        self.assertIn("FAILED  asan: http.Leaks.*, behind its tests", told)
        self.assertIn("skipped asan: end_to_end.lost", told)

    def test_a_suite_in_which_nothing_ran_has_failed(self):
        self.write("asan.xml", OF_CTEST)
        self.write("asan/http.Vary.xml", "<testsuites/>")
        counts, told = self.tally("asan.xml")
        self.assertEqual(counts, "1 3 1")
        self.assertIn("FAILED  asan: http.Vary.* has no test", told)

    def test_a_suite_that_left_no_report_has_failed_whatever_it_said(self):
        self.write("asan.xml", OF_CTEST)
        counts, told = self.tally("asan.xml")
        self.assertEqual(counts, "1 3 1")
        self.assertIn("no results in http.Vary.xml", told)
        self.assertIn("FAILED  asan: http.Leaks.*", told)

    def test_a_report_that_is_not_there_is_a_failure(self):
        self.write("asan.xml", OF_CTEST)
        self.assertEqual(self.tally("asan.xml", "tsan.xml")[0], "1 4 1")


if __name__ == "__main__":
    unittest.main()
