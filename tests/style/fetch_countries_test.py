"""scripts/fetch-countries keeps nothing that is not the pinned file. npm is a stand-in here."""

import hashlib
import io
import os
import pathlib
import tarfile
import unittest

from project import ProjectTest

DATABASE = b"a country database" * 1000
NPM = """#!/bin/sh
# Stands in for npm: `pack` leaves the tarball that the test made.
test "$1" = pack || exit 1
cp "$FAKE_TARBALL" package-1.0.tgz
"""


def tarball(database: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in (("test.mmdb", database), ("NRO_LICENSE", b"a licence")):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return out.getvalue()


class FetchCountries(ProjectTest):
    def setUp(self) -> None:
        super().setUp()
        for name in ("lib.sh", "npm.sh", "fetch-countries"):
            self.script = self.copy_script(name)
        self.write("bin/npm", NPM, 0o755)
        self.cache = self.folder / "cache"
        self.copy = self.folder / "build/share/ringside/country.mmdb"
        self.right = tarball(DATABASE)

    def fetch(self, download: bytes | None, *options: object) -> tuple[int, str]:
        """Runs the script where npm would fetch `download`; None: npm fails."""
        path = self.folder / "download.tgz"
        path.unlink(missing_ok=True)
        if download is not None:
            path.write_bytes(download)
        self.write(
            "scripts/countries.pin",
            "package=@x/y\nversion=1.0\ndatabase=test.mmdb\n"
            f"tarball_sha256={hashlib.sha256(self.right).hexdigest()}\n"
            f"database_sha256={hashlib.sha256(DATABASE).hexdigest()}\n",
        )
        done = self.run_script(
            self.script,
            *options,
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}",
            RINGSIDE_CACHE=str(self.cache),
            RINGSIDE_RETRY_PAUSE="0",
            FAKE_TARBALL=str(path),
        )
        return done.returncode, done.stdout

    def kept(self) -> set[str]:
        return {path.name for path in self.cache.iterdir()} if self.cache.exists() else set()

    def test_fetches_once_and_copies_to_the_build_folder(self) -> None:
        self.assertEqual(self.fetch(self.right)[0], 0)
        self.assertEqual(self.kept(), {"test-1.0.mmdb", "test-1.0.LICENSE"})
        self.assertEqual(self.fetch(None, "--into", self.folder / "build"), (0, ""))
        self.assertEqual(self.copy.read_bytes(), DATABASE)
        self.assertEqual(self.copy.with_suffix(".LICENSE").read_bytes(), b"a licence")

    def test_a_cut_or_wrong_download_is_refused_and_not_kept(self) -> None:
        wrong = {
            "cut": self.right[: len(self.right) // 2],
            "empty": b"",
            "other": tarball(b"something else"),
            "none": None,
        }
        for name, download in wrong.items():
            with self.subTest(name):
                code, said = self.fetch(download, "--into", self.folder / "build")
                self.assertEqual(code, 1)
                self.assertIn("scripts/setup --without-countries", said)
                self.assertEqual(self.kept(), set())
                self.assertFalse(self.copy.exists())

    def test_a_spoilt_file_in_the_cache_is_fetched_again(self) -> None:
        self.cache.mkdir()
        cached = pathlib.Path(self.cache / "test-1.0.mmdb")
        cached.write_bytes(DATABASE[:100])
        self.assertEqual(self.fetch(None, "--is-cached"), (1, ""))
        self.assertEqual(self.fetch(self.right)[0], 0)
        self.assertEqual(cached.read_bytes(), DATABASE)
        self.assertEqual(self.fetch(None, "--is-cached"), (0, ""))


if __name__ == "__main__":
    unittest.main()
