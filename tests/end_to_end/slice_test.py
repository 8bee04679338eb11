"""On a route with slices a seek costs what it needs, and the whole is what the origin has."""

import hashlib
import random
import re
import shutil
import subprocess
import threading
import unittest

from support import WAIT_S, Tier

KIB = 1024
MIB = 1024 * KIB
SLICE_BYTES = 256 * KIB
FILM_BYTES = 50 * MIB + 12_345
TAG = '"a-film"'


class Film:
    """What an origin has under one name, and that it gives parts of."""

    def __init__(self, size: int):
        self.bytes = random.Random(1).randbytes(size)
        self.sha256 = hashlib.sha256(self.bytes).hexdigest()
        self._lock = threading.Lock()
        self._given_bytes = 0

    def __call__(self, turn) -> None:
        fields = {"ETag": TAG, "Accept_Ranges": "bytes"}
        first, last, status = 0, len(self.bytes) - 1, 200
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", turn.request.field("Range") or "")
        if wanted and turn.request.field("If-Range") in (None, TAG):
            first, status = int(wanted[1]), 206
            last = min(last, int(wanted[2] or last))
            fields["Content_Range"] = f"bytes {first}-{last}/{len(self.bytes)}"
        with self._lock:
            self._given_bytes += last - first + 1
        turn.reply(status, self.bytes[first : last + 1], **fields)

    def given_bytes(self) -> int:
        """By the origin, since this was last asked."""
        with self._lock:
            given, self._given_bytes = self._given_bytes, 0
            return given


class SlicesTest(Tier):
    def setUp(self):
        super().setUp()
        self.film = Film(FILM_BYTES)
        self.source = self.origin()
        self.source.on["/film"] = self.film
        config = self.file("ringside.yaml", f"cache: {{slice: {SLICE_BYTES // KIB}KiB}}\n")
        replica = self.cache("cache-0", self.source, "--config", config, "--memory", "128MiB")
        self.front = self.sidecar([replica])

    def seek(self, first: int, last: int):
        answer = self.front.get("/film", Range=f"bytes={first}-{last}")
        self.assertEqual(answer.status, 206)
        self.assertEqual(answer.field("Content-Range"), f"bytes {first}-{last}/{FILM_BYTES}")
        self.assertEqual(answer.body, self.film.bytes[first : last + 1])
        return answer

    def test_the_whole_is_right_and_fetched_once(self):
        answer = self.front.get("/film")
        self.assertEqual(answer.status, 200)
        self.assertEqual(hashlib.sha256(answer.body).hexdigest(), self.film.sha256)
        self.assertEqual(self.film.given_bytes(), FILM_BYTES)
        self.assertEqual(self.source.count("/film"), -(-FILM_BYTES // SLICE_BYTES))
        again = self.front.get("/film")
        self.assertEqual(hashlib.sha256(again.body).hexdigest(), self.film.sha256)
        self.assertTrue(again.is_hit, again.cache_status)
        self.seek(30 * MIB - 5, 31 * MIB)
        self.assertEqual(self.film.given_bytes(), 0)

    def test_a_seek_costs_less_than_a_mebibyte(self):
        for first in (40 * MIB, FILM_BYTES - 1000, 7 * SLICE_BYTES - 500):
            self.seek(first, first + 999)
            self.assertLess(self.film.given_bytes(), MIB)
            self.assertTrue(self.seek(first, first + 999).is_hit)
            self.assertEqual(self.film.given_bytes(), 0)

    def test_what_was_sought_is_not_fetched_again_for_the_whole(self):
        self.seek(40 * MIB, 41 * MIB)
        sought = self.film.given_bytes()
        self.assertEqual(self.front.get("/film").body, self.film.bytes)
        self.assertEqual(self.film.given_bytes(), FILM_BYTES - sought)

    @unittest.skipUnless(shutil.which("curl"), "needs curl")
    def test_curl_takes_parts_and_goes_on_where_it_ended(self):
        def curl(*options):
            done = subprocess.run(
                ["curl", "-sSf", *map(str, options), f"http://{self.front.address}/film"],
                capture_output=True,
                timeout=WAIT_S * 2,
                check=True,
            )
            return done.stdout

        self.assertEqual(curl("-r", "30000000-30099999"), self.film.bytes[30000000:30100000])
        self.assertEqual(curl("-r", "-70000"), self.film.bytes[-70000:])
        self.assertLess(self.film.given_bytes(), 2 * MIB)
        path = self.folder / "film"
        path.write_bytes(self.film.bytes[: 20 * MIB + 1])
        curl("-C", "-", "-o", path)
        self.assertEqual(hashlib.sha256(path.read_bytes()).hexdigest(), self.film.sha256)
        self.assertLess(self.film.given_bytes(), 31 * MIB)


if __name__ == "__main__":
    unittest.main()
