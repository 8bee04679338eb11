"""`cmake --install` gives a tree that works where it stands."""

import os
import pathlib
import subprocess
import unittest

from project import ProjectTest

BUILD = pathlib.Path(os.environ.get("RINGSIDE_BUILD", ""))


@unittest.skipUnless(os.environ.get("RINGSIDE_BUILD"), "RINGSIDE_BUILD names no build folder")
class Install(ProjectTest):
    def setUp(self) -> None:
        super().setUp()
        done = self.run_script("cmake", "--install", BUILD, "--prefix", self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_installed_program_runs(self) -> None:
        program = self.folder / "bin/ringside"
        done = self.run_script(program, "version")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"\b\d+\.\d+\.\d+\b")
        libraries = subprocess.check_output(["ldd", program], text=True)
        self.assertNotIn(str(BUILD), libraries)
        self.assertNotIn("not found", libraries)

    def test_documents_and_licences_come_along(self) -> None:
        documents = self.folder / "share/doc/ringside"
        for name in ("LICENSE", "README.md", "SECURITY.md"):
            self.assertTrue((documents / name).is_file(), name)

    def test_what_npm_has_comes_along_where_it_is_there(self) -> None:
        for name in ("country.mmdb", "country.LICENSE", "chart.js", "chart.LICENSE"):
            built = BUILD / "share/ringside" / name
            installed = self.folder / "share/ringside" / name
            self.assertEqual(installed.is_file(), built.is_file(), name)


if __name__ == "__main__":
    unittest.main()
