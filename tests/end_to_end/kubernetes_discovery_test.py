"""Processes that hear of their members from a Kubernetes API server."""

import unittest

from support import Tier, wait_until
from support.api_server import ApiServer


class Discovery(Tier):
    def setUp(self):
        super().setUp()
        self.api = ApiServer()
        self.addCleanup(self.api.stop)
        self.access = self.file("kubeconfig", self.api.kubeconfig())
        self.site = self.origin()

    def discovering(self) -> list:
        return ["--kubernetes", "cache", "--kubeconfig", self.access]

    def front(self, *options):
        return self.start(
            "sidecar", *self.discovering(), "--geo", self.countries(), "--threads", 2,
            "--shard-key", "path", *options,
        )  # fmt: skip

    def replica(self, number: int):
        replica = self.cache(f"cache-{number}", self.site, *self.discovering())
        self.api.place(replica.name, replica.address)
        return replica

    def tier(self, count: int):
        self.api.scale(count)
        replicas = [self.replica(number) for number in range(count)]
        front = self.front()
        self.wait_for(front, f"{count} ready")
        return front, replicas

    def wait_for(self, process, line: str) -> str:
        return wait_until(
            lambda: line in (page := process.readyz().text) and page, f"/readyz to say {line}"
        )

    def check_all_answered(self, front) -> None:
        for number in range(40):
            self.assertEqual(front.get(f"/page/{number}").status, 200)

    def owners(self, front) -> set[str]:
        return {front.get(f"/page/{number}").replica for number in range(60)}

    def test_members_are_the_statefulsets_and_all_agree(self):
        front, replicas = self.tier(3)
        shown = front.json("/topology")
        self.assertEqual(shown["version"], 1)
        self.assertEqual(
            [(one["name"], one["address"], one["ready"]) for one in shown["members"]],
            [(one.name, one.address, True) for one in replicas],
        )
        for replica, member in zip(replicas, shown["members"], strict=True):
            self.wait_for(replica, "3 ready")
            told = replica.json("/topology")
            self.assertEqual((told["id"], told["members"]), (shown["id"], shown["members"]))
            self.assertEqual(told["self"]["name"], replica.name)
            self.assertEqual(told["self"]["buckets"], member["buckets"])
        self.assertEqual(self.owners(front), {"cache-0", "cache-1", "cache-2"})

        before = shown["id"]
        self.api.scale(4)  # the pod comes later
        shown = wait_until(
            lambda: (told := front.json("/topology"))["version"] == 2 and told, "version 2"
        )
        self.assertNotEqual(shown["id"], before)
        self.assertIsNone(shown["members"][3]["address"])
        self.assertEqual(self.owners(front), {"cache-0", "cache-1", "cache-2"})
        self.replica(3)
        self.wait_for(front, "4 ready")
        self.assertEqual(front.json("/topology")["id"], shown["id"])
        self.assertIn("cache-3", self.owners(front))

    def test_a_pod_that_is_not_ready_keeps_its_buckets(self):
        front, replicas = self.tier(2)
        before = front.json("/topology")
        self.api.place("cache-1", replicas[1].address, ready=False)
        self.wait_for(front, "1 ready")
        self.assertEqual(self.owners(front), {"cache-0"})
        self.check_all_answered(front)
        replicas[1].stop()
        self.replica(1)  # under its name, elsewhere
        self.wait_for(front, "2 ready")
        after = front.json("/topology")
        self.assertEqual((after["id"], after["version"]), (before["id"], before["version"]))
        self.assertEqual(self.owners(front), {"cache-0", "cache-1"})

    def test_without_the_api_server_the_last_topology_stays(self):
        front, _ = self.tier(2)
        self.api.go_away()
        wait_until(lambda: front.metric("ringside_discovery_up") == 0, "the absence to be noticed")
        page = self.wait_for(front, "the last members stay")
        self.assertTrue(page.startswith("ready\n"), page)
        self.check_all_answered(front)
        failures = front.metric("ringside_discovery_failures_total", reason="unreachable")
        self.assertGreater(failures, 0)
        late = self.front()  # it can't know of any member
        self.wait_for(late, "not ready: the members are not known yet")
        self.api.start()
        self.api.scale(3)
        self.replica(2)
        for one in (front, late):
            self.wait_for(one, "3 ready")
            wait_until(lambda: one.metric("ringside_discovery_up") == 1, "the return")

    def test_a_missing_right_is_named_and_may_come_later(self):
        self.api.forbid(True)
        self.api.scale(1)
        front = self.front()
        page = self.wait_for(front, "may not list statefulsets.apps in namespace shop")
        self.assertTrue(page.startswith("not ready: the members are not known yet\n"), page)
        self.api.forbid(False)
        self.replica(0)
        self.wait_for(front, "1 ready")
        self.check_all_answered(front)

    def test_nobody_else_may_change_the_members(self):
        front, _ = self.tier(1)
        other = '{"scheme": "ring", "members": [{"name": "a", "address": "127.0.0.1:1"}]}'
        answer = front.administer("PUT", "/topology", other)
        self.assertEqual(answer.status, 409)
        self.assertIn("the members come from --kubernetes cache", answer.text)


if __name__ == "__main__":
    unittest.main()
