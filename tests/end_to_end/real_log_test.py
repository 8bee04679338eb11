"""The hit rate of real traffic, as the argument for sharding by country and path predicts it.

The log is ../shared/logs/apache_combined.log beside the project, and is no part of it: where it is
missing, a small generated one takes the same way, against an ideal that is computed here.
"""

import csv
import json
import os
import pathlib
import random
import unittest

from support import ROOT, Tier, ringside
from support.tier import members

LOG = ROOT.parent / "shared" / "logs" / "apache_combined.log"
DATABASE = pathlib.Path(os.environ["RINGSIDE_BUILD"]) / "share" / "ringside" / "country.mmdb"
HOST = "www.example.com"


class Replayed(Tier):
    """Sidecar and ten replicas, each a process; the origin says max-age=3600 to everything."""

    def replay(self, log: pathlib.Path, database: pathlib.Path, shard_key: str) -> float:
        """The hit rate over GETs in percent; each line's replica is checked on the way."""
        origin = self.origin()
        caches = self.caches(10, origin)
        configuration = self.file(
            f"{shard_key}.yaml",
            f"replicas: '{members(caches)}'\nshard_key: '{shard_key}'\n"
            f"geo: {database}\ntrust: 127.0.0.0/8\nthreads: 2\n",
        )
        front = self.start("sidecar", "--config", configuration)
        lines = self.folder / "lines.tsv"
        done = ringside(
            "replay", log, "--to", front.address, "--host", HOST, "--concurrency", 16,
            "--admin", front.admin, "--lines", lines, "--json", "-",
        )  # fmt: skip
        figures = json.loads(done.stdout)
        self.assertEqual(figures["all"]["errors"], 0)
        self.check_owners(lines, configuration)
        fetched = sum(int(c.metric("ringside_origin_requests_total")) for c in caches)
        self.assertEqual(fetched, origin.count())
        for process in (front, *caches):
            process.stop()
        origin.stop()
        return figures["all"]["hit_rate_percent"]

    def check_owners(self, lines: pathlib.Path, configuration: pathlib.Path) -> None:
        with lines.open(newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
        asked = "".join(f"{row['client']} http://{HOST}{row['target']}\n" for row in rows)
        told = json.loads(
            ringside("shard", "--config", configuration, "--json", "-", stdin=asked).stdout
        )
        self.assertEqual(len(told), len(rows))
        wrong = [
            (row["line"], row["replica"], answer["owners"])
            for row, answer in zip(rows, told)
            if row["replica"] != answer["owners"][0]
        ]
        self.assertEqual(wrong, [])


class RealLog(Replayed):
    def setUp(self):
        super().setUp()
        if not LOG.exists():
            self.skipTest("left out: the shared access log is not here")
        if not DATABASE.exists():
            self.skipTest("left out: built without the country database")

    def test_country_and_path_give_64_0_percent(self):
        self.assertAlmostEqual(self.replay(LOG, DATABASE, "country,path"), 64.0, delta=0.5)

    def test_path_alone_gives_85_1_percent(self):
        self.assertAlmostEqual(self.replay(LOG, DATABASE, "path"), 85.1, delta=0.5)

    def test_the_ip_as_a_part_gives_20_9_percent(self):
        self.assertAlmostEqual(self.replay(LOG, DATABASE, "ip,path"), 20.9, delta=0.5)


class GeneratedLog(Replayed):
    NETWORKS = {"81.2.69.{}": "GB", "53.1.{}.1": "DE", "2a02:d280::{}": "CZ", "10.0.0.{}": "ZZ"}

    def setUp(self):
        super().setUp()
        chance = random.Random(5)
        self.asked = []
        for _ in range(2_000):
            network = chance.choice(list(self.NETWORKS))
            ip = network.format(chance.randrange(1, 60))
            target = f"/page/{int(80 * chance.random() ** 2)}"
            self.asked.append((ip, self.NETWORKS[network], target))
        self.log = self.file(
            "access.log",
            "".join(
                f'{ip} - - [17/May/2015:10:05:03 +0000] "GET {target} HTTP/1.1" 200 5 "-" "-"\n'
                for ip, _, target in self.asked
            ),
        )

    def ideal(self, *parts: int) -> float:
        """Whatever has been asked for before is a hit."""
        keys = {tuple(line[part] for part in parts) for line in self.asked}
        return 100 * (1 - len(keys) / len(self.asked))

    def check(self, shard_key: str, *parts: int) -> None:
        rate = self.replay(self.log, self.countries(), shard_key)
        self.assertAlmostEqual(rate, self.ideal(*parts), delta=0.01)

    def test_country_and_path(self):
        self.check("country,path", 1, 2)

    def test_path_alone(self):
        self.check("path", 2)

    def test_the_ip_as_a_part(self):
        self.check("ip,path", 0, 2)


if __name__ == "__main__":
    unittest.main()
