"""Ten replicas become eleven and ten again, under load."""

import collections
import time

from support.figures import figures
from support.records import between, hit_rate, moved, owners, percentile
from support.tier import NAME, REPLICAS, Scenario, get
from support.waiting import wait_until

BAR_S = 1.0
LOOK_ON_S = 20  # before, and afterwards

NEW = f"{NAME}-{REPLICAS}"


class Scale(Scenario):
    def test_ten_to_eleven_and_back(self):
        topologies = self.deployment.topologies()
        try:
            self._grow(topologies)
            self._shrink(topologies)
        finally:
            topologies.stop()

    def _change(self, count: int, topologies) -> tuple[float, float]:
        """(when the API server said yes, when all were ready); everybody has one topology."""
        before = wait_until(lambda: self._common(topologies), "one topology")
        asked = self.deployment.scale(count)
        self.deployment.wait_for_replicas(count)
        ready = time.monotonic()
        wait_until(lambda: self._common(topologies) not in (None, before), "one new topology", 10)
        return asked, ready

    def _common(self, topologies) -> str | None:
        """The one id that all processes have."""
        ids = topologies.ids()
        found = {ids.get(name) for name in self.deployment.admins()}
        return found.pop() if len(found) == 1 else None

    def _grow(self, topologies) -> None:
        name = f"{REPLICAS} to {REPLICAS + 1}"
        time.sleep(LOOK_ON_S)
        asked, ready = self._change(REPLICAS + 1, topologies)
        time.sleep(LOOK_ON_S)
        end = time.monotonic()
        records = self.deployment.clients.records(self.begin, end)
        before, during, after = (
            between(records, *times)
            for times in ((self.begin, asked), (asked, ready), (ready, end))
        )
        figures.add(name, "requests", len(records))
        figures.add(name, "hit rate before", hit_rate(before), "%")
        figures.add(name, "hit rate until the new replica was ready", hit_rate(during), "%")
        figures.add(name, f"hit rate in the {LOOK_ON_S} s afterwards", hit_rate(after), "%")
        self.assert_none_fetched_again(name, asked, end)
        self._check_origin(name, records, asked, end)
        self._check_delays(name, topologies, asked)
        self._check_moved(name, before, after)
        self.assert_none_failed(records)

    def _check_delays(self, name: str, topologies, asked: float) -> None:
        wanted = self._common(topologies)
        self.assertIsNotNone(wanted, topologies.ids())
        delays = {one: at - asked for one, at in topologies.since(wanted).items()}
        there = [delay for one, delay in delays.items() if one != NEW]
        figures.add(name, "replicas and sidecars have one topology", len(self.deployment.admins()))
        figures.add(name, "the last had it, after the API's answer", max(there), "s")
        self.assertLess(max(there), BAR_S, f"after the API's answer: {delays}")

    def _check_origin(self, name: str, records, asked: float, end: float) -> None:
        """What the origin counts is what the clients say, and no replica fetches a key twice."""
        fetches = self.deployment.origin.fetches(asked, end)
        misses = [one for one in between(records, asked, end) if not one.is_hit]
        figures.add(name, "origin fetches after the change", len(fetches))
        figures.add(name, "requests that were no hits after the change", len(misses))
        self.assertLessEqual(len(fetches), len(misses) + 2)  # two may not be answered yet
        fetched = collections.Counter((one.owner, one.key) for one in misses)
        twice = {pair: count for pair, count in fetched.items() if count > 1}
        self.assertEqual(twice, {}, "a replica fetched a key more than once")

    def _check_moved(self, name: str, before, after) -> None:
        first, then = owners(before), owners(after)
        both = len(first.keys() & then.keys())
        changed = moved(first, then)
        share = 100 * sum(changed.values()) / both
        figures.add(name, "keys that were asked for before and after", both)
        figures.add(name, "of them changed their owner", share, "%")
        strays = {pair: count for pair, count in changed.items() if NEW not in pair}
        self.assertEqual(strays, {}, "keys moved between replicas that stay")
        expected = 100 / (REPLICAS + 1)
        self.assertAlmostEqual(share, expected, delta=expected / 3)

    def _shrink(self, topologies) -> None:
        name = f"{REPLICAS + 1} to {REPLICAS}"
        begin = time.monotonic()
        pod = self.deployment.ready_replicas()[NEW]
        status, _ = get(f"{pod['status']['podIP']}:9090", "/readyz")
        self.assertEqual(status, 200)
        asked, gone = self._change(REPLICAS, topologies)
        time.sleep(LOOK_ON_S)
        end = time.monotonic()
        records = self.deployment.clients.records(begin, end)
        last = [one.start - asked for one in records if one.owner == NEW and one.start > asked]
        figures.add(name, "requests", len(records))
        figures.add(name, "the pod was gone after", gone - asked, "s")
        figures.add(name, "its last request, after the API's answer", max(last, default=0), "s")
        afterwards = hit_rate(between(records, gone, end))
        figures.add(name, f"hit rate in the {LOOK_ON_S} s afterwards", afterwards, "%")
        p99_s = percentile([one.end - one.start for one in records], 99)
        figures.add(name, "time to answer, p99", 1000 * p99_s, "ms")
        self._check_delays(name, topologies, asked)
        self.assert_none_fetched_again(name, asked, end)
        self.assert_none_failed(records)
        self.assertLess(max(last, default=0), BAR_S)
