"""scripts/fetch-charts keeps nothing that is not the pinned library. npm is a stand-in here."""

import hashlib
import io
import os
import tarfile
import unittest

from project import ProjectTest

LIBRARY = b"a chart library" * 1000
NPM = """#!/bin/sh
# Stands in for npm: `pack` leaves the tarball that the test made.
test "$1" = pack || exit 1
cp "$FAKE_TARBALL" package-1.0.tgz
"""


def tarball(library: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, body in (("dist/test.js", library), ("LICENSE.md", b"a licence")):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return out.getvalue()


class FetchCharts(ProjectTest):
    def setUp(self) -> None:
        super().setUp()
        for name in ("lib.sh", "npm.sh", "fetch-charts"):
            self.script = self.copy_script(name)
        self.write("bin/npm", NPM, 0o755)
        self.cache = self.folder / "cache"
        self.right = tarball(LIBRARY)
        self.write(
            "scripts/chart.pin",
            "package=x\nversion=1.0\nlibrary=dist/test.js\n"
            f"tarball_sha256={hashlib.sha256(self.right).hexdigest()}\n"
            f"library_sha256={hashlib.sha256(LIBRARY).hexdigest()}\n",
        )

    def fetch(self, download: bytes, *options: object) -> int:
        path = self.folder / "download.tgz"
        path.write_bytes(download)
        done = self.run_script(
            self.script,
            *options,
            PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}",
            RINGSIDE_CACHE=str(self.cache),
            RINGSIDE_RETRY_PAUSE="0",
            FAKE_TARBALL=str(path),
        )
        return done.returncode

    def test_fetches_once_and_copies_with_the_licence(self) -> None:
        self.assertEqual(self.fetch(self.right, "--is-cached"), 1)
        self.assertEqual(self.fetch(self.right), 0)
        self.assertEqual(self.fetch(b"", "--is-cached"), 0)
        self.assertEqual(self.fetch(b"", "--into", self.folder / "build"), 0)
        share = self.folder / "build/share/ringside"
        self.assertEqual((share / "chart.js").read_bytes(), LIBRARY)
        self.assertEqual((share / "chart.LICENSE").read_bytes(), b"a licence")

    def test_a_cut_or_wrong_download_is_refused_and_not_kept(self) -> None:
        for download in (self.right[: len(self.right) // 2], b"", tarball(b"something else")):
            self.assertEqual(self.fetch(download), 1)
            self.assertEqual([path.name for path in self.cache.iterdir()], [])


if __name__ == "__main__":
    unittest.main()
