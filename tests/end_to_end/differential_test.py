"""For requests on the border of the grammar, what the origin's parser reads is what ours did.

The generator, the comparison and the origin (Node's, whose parser is llhttp) are in
tests/differential. For a longer run: RINGSIDE_DIFFERENTIAL_REQUESTS=1000000, another seed:
RINGSIDE_DIFFERENTIAL_SEED=7.
"""

import os
import pathlib
import random
import subprocess
import types
import unittest

from support import Tier
from support.program import ROOT, die_with_parent

REQUESTS = int(os.environ.get("RINGSIDE_DIFFERENTIAL_REQUESTS", "20000"))
# A machine that is slow or has sanitizers on does fewer in the time that a test may take.
SECONDS = 120 if "RINGSIDE_DIFFERENTIAL_REQUESTS" not in os.environ else 7200
SEED = int(os.environ.get("RINGSIDE_DIFFERENTIAL_SEED", random.randrange(1 << 31)))
ORACLE = pathlib.Path(os.environ["RINGSIDE_BUILD"]) / "tests" / "parse_requests"


class Differential(Tier):
    def compare(self, *options) -> subprocess.Popen:
        """The comparison, and the port of its origin."""
        child = subprocess.Popen(
            ["node", ROOT / "tests" / "differential" / "compare.js", "--oracle", ORACLE, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        said, port = child.stdout.readline().split()
        self.assertEqual(said, "origin")
        child.origin = types.SimpleNamespace(url=f"http://127.0.0.1:{port}")
        return child

    def test_the_origin_reads_what_we_read(self):
        print(f"seed {SEED}", flush=True)
        child = self.compare(
            "--requests", str(REQUESTS), "--seconds", str(SECONDS), "--seed", str(SEED)
        )
        front = self.sidecar(self.caches(1, child.origin), "--threads", 1)
        found, _ = child.communicate(f"{front.address}\n")
        print(found)
        self.assertEqual(child.returncode, 0, found)


if __name__ == "__main__":
    unittest.main()
