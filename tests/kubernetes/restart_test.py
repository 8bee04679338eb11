"""Pods end and come back, one after the other or at once, under load."""

import time

from support.figures import figures
from support.records import (
    Record,
    answered_by,
    failures,
    head_start,
    hit_rate,
    last_of_leaver,
    most_in_flight,
    percentile,
)
from support.tier import NAME, PODS, REPLICAS, Scenario, kubectl
from support.waiting import wait_until

BAR_S = 1.0
LOOK_ON_S = 10
VICTIM = f"{NAME}-3"


def first_after(records: list[Record], name: str, at: float) -> float | None:
    """How long after `at` the replica got its first request; 0: it had one already."""
    starts = [one.start for one in answered_by(records, name) if one.end > at]
    return max(0.0, min(starts) - at) if starts else None


class Restarts(Scenario):
    def _routed(self, records: list[Record]) -> list[float]:
        """For each pod that became ready: how long until it was asked."""
        ready = self.deployment.endpoints.ready_since(self.begin)
        waits = [first_after(records, name, at) for at, name in ready]
        self.assertNotIn(None, waits, f"a ready replica was never asked: {ready}")
        return waits

    def _head_starts(self, records: list[Record]) -> list[float]:
        """For each pod that became ready: how long before that it answered."""
        endpoints = self.deployment.endpoints
        there = {name: at for at, name in endpoints.appeared_since(self.begin)}
        ready = {name: at for at, name in endpoints.ready_since(self.begin)}
        return [head_start(records, name, there[name], at) for name, at in ready.items()]

    def _check_routed(self, scenario: str, records: list[Record], count: int) -> None:
        waits = self._routed(records)
        figures.add(scenario, "pods that became ready", len(waits))
        for percent in (50, 99):
            what = f"ready in the API to the first request, p{percent}"
            figures.add(scenario, what, percentile(waits, percent), "s")
        self.assertEqual(len(waits), count)
        self.assertLess(percentile(waits, 99), BAR_S, f"all: {sorted(waits)}")
        early = self._head_starts(records)
        figures.add(scenario, "first answer to ready in the API, most", max(early), "s")
        self.assertLess(max(early), BAR_S, f"asked before it was ready, all: {sorted(early)}")

    def test_a_rolling_restart(self):
        name = "rolling restart"
        kubectl("rollout", "restart", "statefulset", NAME)
        kubectl("rollout", "status", "statefulset", NAME, "--timeout=600s")
        rolled = time.monotonic()
        time.sleep(LOOK_ON_S)
        records = self.deployment.clients.records(self.begin)
        figures.add(name, "took", rolled - self.begin, "s")
        figures.add(name, "requests", len(records))
        figures.add(name, "hit rate all the while", hit_rate(records), "%")
        unready = self.deployment.endpoints.unready_since(self.begin)
        late = [self._last_before_return(records, pod, at) - at for at, pod in unready]
        figures.add(name, "unready in the API to the last request, most", max(late), "s")
        self._check_routed(name, records, REPLICAS)
        self.assertEqual(len(late), REPLICAS)
        self.assertLess(max(late), BAR_S, f"all: {sorted(late)}")
        self.assert_none_fetched_again(name, self.begin, time.monotonic())
        self.assert_none_failed(records)

    def _last_before_return(self, records: list[Record], pod: str, at: float) -> float:
        """When the last request began that a pod answered which was to get none since `at`."""
        there = [when for when, name in self.deployment.endpoints.appeared_since(at) if name == pod]
        return last_of_leaver(records, pod, at, min(there, default=float("inf")))

    def _delete(self, grace: int | None) -> tuple[float, str]:
        """(when the API server had said yes, the pod's uid)"""
        uid = self.deployment.ready_replicas()[VICTIM]["metadata"]["uid"]
        body = {} if grace is None else {"gracePeriodSeconds": grace}
        self.deployment.api.ask("DELETE", f"{PODS}/{VICTIM}", body)
        return time.monotonic(), uid

    def _wait_for_return(self, uid: str) -> None:
        def is_back() -> bool:
            pod = self.deployment.ready_replicas().get(VICTIM)
            return pod is not None and pod["metadata"]["uid"] != uid

        wait_until(is_back, f"{VICTIM} to come back")
        time.sleep(LOOK_ON_S)

    def test_a_pod_is_deleted(self):
        name = "a pod deleted"
        time.sleep(2)
        deleted, uid = self._delete(grace=None)
        self._wait_for_return(uid)
        records = self.deployment.clients.records(self.begin)
        last = self._last_before_return(records, VICTIM, deleted) - deleted
        figures.add(name, "the API's answer to its last request", max(last, 0), "s")
        self._check_routed(name, records, 1)
        self.assertLess(last, BAR_S)
        self.assert_none_fetched_again(name, self.begin, time.monotonic())
        self.assert_none_failed(records)

    def test_a_pod_is_killed(self):
        """What was in flight may fail, and nothing else."""
        name = "a pod killed (--grace-period=0 --force)"
        time.sleep(2)
        deleted, uid = self._delete(grace=0)
        self._wait_for_return(uid)
        records = self.deployment.clients.records(self.begin)
        failed = failures(records)
        busy = most_in_flight([one for one in records if deleted - 1 < one.end < deleted + 5])
        figures.add(name, "requests failed", len(failed))
        figures.add(name, "most requests in flight at once, to all replicas", busy)
        self._check_routed(name, records, 1)
        self.assertLessEqual(len(failed), busy, f"{failed[:5]}")
