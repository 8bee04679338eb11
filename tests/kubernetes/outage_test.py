"""The API server goes away for a minute, and comes back."""

import time

from support.figures import figures
from support.records import hit_rate
from support.tier import REPLICAS, Scenario, cluster, get
from support.waiting import wait_until

AWAY_S = 60
BAR_S = 1.0


def metric(address: str, sample: str) -> float | None:
    """Of `sample`, a name with its labels, if any."""
    _, page = get(address, "/metrics")
    for line in page.splitlines():
        if line.startswith((f"{sample} ", f"{sample}{{")):
            return float(line.rsplit(" ", 1)[1])
    return None


class Outage(Scenario):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(cluster, "api", "start")

    def test_the_api_server_is_away_for_a_minute(self):
        name = "API server away for a minute"
        admins = self.deployment.admins()
        stopped = time.monotonic()
        cluster("api", "stop")
        heard = {}
        for process, address in admins.items():
            wait_until(lambda to=address: metric(to, "ringside_discovery_up") == 0,
                       f"{process} to notice", AWAY_S)  # fmt: skip
            heard[process] = time.monotonic() - stopped
            status, page = get(address, "/readyz")
            self.assertEqual(status, 200, f"{process}: {page}")
            self.assertRegex(page, r"(?m)^kubernetes: .*", process)
        while time.monotonic() < stopped + AWAY_S:
            time.sleep(1)
            for process, address in admins.items():
                self.assertEqual(get(address, "/readyz")[0], 200, process)
        cluster("api", "start")
        back = time.monotonic()
        for process, address in admins.items():
            wait_until(lambda to=address: metric(to, "ringside_discovery_up") == 1,
                       f"{process} to be back", AWAY_S)  # fmt: skip
        figures.add(name, "all have noticed its return after", time.monotonic() - back, "s")
        figures.add(name, "all had noticed its absence after", max(heard.values()), "s")
        records = self.deployment.clients.records(self.begin)
        figures.add(name, "requests", len(records))
        figures.add(name, "hit rate", hit_rate(records), "%")
        self.assert_none_failed(records)
        self._scale_works(name)

    def _scale_works(self, name: str) -> None:
        topologies = self.deployment.topologies()
        try:
            wait_until(lambda: len(topologies.ids()) == REPLICAS + 2, "all to be asked")
            before = set(topologies.ids().values())
            asked = self.deployment.scale(REPLICAS + 1)
            wait_until(lambda: not before & set(topologies.ids().values()), "another topology")
            took = time.monotonic() - asked
            figures.add(name, "a scale afterwards was everywhere after", took, "s")
            self.assertLess(took, BAR_S)
        finally:
            topologies.stop()
