"""`vbucket` remembers its table where somebody writes it: a replica that leaves from the middle moves
its own buckets alone, in every process alike, and nothing is fetched again."""

import json
import unittest

from support import Client, Tier, wait_until
from support.api_server import ApiServer
from support.tier import members

CONFIG_MAP = "ringside-table"
HOST = "www.example.com"
PATHS = [f"/page/{number}" for number in range(300)]
BUCKETS = 16_384


def owners_of(state: dict) -> dict[int, str]:
    owners = {}
    for row in state["table"]:
        for run in row["buckets"].split(","):
            first, _, last = run.partition("-")
            low, high = sorted((int(first), int(last or first)))
            owners |= dict.fromkeys(range(low, high + 1), row["member"])
    return owners


class Tables(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.version = 7

    def ask_all(self) -> None:
        for front in self.fronts:
            with Client(front.address) as client:
                self.assertEqual({client.get(path, Host=HOST).status for path in PATHS}, {200})

    def put(self, replicas, processes) -> None:
        self.version += 1
        members = [{"name": one.name, "address": one.address} for one in replicas]
        topology = {"version": self.version, "scheme": "vbucket", "members": members}
        for process in processes:
            answer = process.administer("PUT", "/topology", topology)
            self.assertEqual(answer.status, 200, answer.text)

    def agree(self, processes) -> bool:
        return len({process.json("/topology")["id"] for process in processes}) == 1

    def table(self, process) -> dict[int, str]:
        return owners_of(process.json("/topology")["state"])

    def expect_moved(self, before: dict, after: dict, leaver: str) -> None:
        moved = {bucket for bucket in range(BUCKETS) if before[bucket] != after[bucket]}
        self.assertEqual(moved, {bucket for bucket in before if before[bucket] == leaver})

    def wait_until_moved(self, replicas) -> None:
        def is_over() -> bool:
            return all(one.metric("ringside_buckets_away") == 0 for one in replicas)

        wait_until(is_over, "everything to lie where it belongs")


class OfAWriter(Tables):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "table.json"
        self.writer = self.start_writer()
        follows = ("--scheme", "vbucket", "--state-writer", self.writer.admin)
        self.replicas = self.caches(5, self.source, *follows)
        self.fronts = [self.sidecar(self.replicas, *follows) for _ in range(2)]
        self.all = (self.writer, *self.replicas, *self.fronts)
        self.put(self.replicas, self.all)
        wait_until(lambda: self.agree(self.all), "everybody to follow the writer")

    def start_writer(self, replicas: str = "cache-0=127.0.0.1:1", admin: str = "127.0.0.1:0"):
        return self.start(
            "sidecar", "--replicas", replicas, "--geo", self.countries(), "--scheme", "vbucket",
            "--state-writer", "self", "--state", self.state, "--admin", admin,
        )  # fmt: skip

    def written(self) -> dict[int, str]:
        return owners_of(json.loads(self.state.read_text())["state"])

    def test_a_replica_leaves_from_the_middle_and_its_buckets_alone_move(self):
        self.ask_all()
        before = self.table(self.writer)
        stays = [one for one in self.replicas if one.name != "cache-2"]
        self.put(stays, self.all)
        wait_until(lambda: self.agree(self.all), "everybody to follow the writer")
        self.ask_all()
        self.wait_until_moved(stays)
        self.ask_all()
        self.assertEqual(self.source.count(), len(PATHS))
        self.expect_moved(before, self.table(self.fronts[0]), "cache-2")
        self.assertEqual(self.written(), self.table(self.writer))

    def test_while_the_writer_is_away_all_others_come_to_the_same_table(self):
        before = self.table(self.writer)
        self.writer.stop()
        others = (*self.replicas, *self.fronts)
        wait_until(
            lambda: all("is not heard" in one.readyz().text for one in others), "them to notice it"
        )
        self.put([one for one in self.replicas if one.name != "cache-3"], others)
        self.assertTrue(self.agree(others))
        self.ask_all()
        again = self.start_writer(members(self.replicas), self.writer.admin)
        self.assertEqual(self.table(again), before, "a start writes nothing over")
        processes = (again, *others)
        self.put([one for one in self.replicas if one.name != "cache-1"], processes)
        wait_until(lambda: self.agree(processes), "everybody to follow the writer")
        self.expect_moved(before, self.table(again), "cache-1")
        self.ask_all()
        self.assertEqual(self.source.count(), len(PATHS))

    def test_a_table_that_lacks_a_bucket_is_refused_in_a_line(self):
        page = self.writer.json("/topology")
        page["version"] += 1
        for table, said in (
            ([{"member": "cache-0", "buckets": "0-16382"}], "table: no row has bucket 16383"),
            ([{"member": "cache-0", "buckets": "0-16383,5"}], "bucket 5 stands twice"),
            ([{"member": "cache-0", "buckets": "all"}], "is no bucket and no run of them"),
        ):
            page["state"] = {"table": table}
            answer = self.writer.administer("PUT", "/topology", page)
            self.assertEqual((answer.status, answer.text.count("\n")), (400, 1), answer.text)
            self.assertIn(said, answer.text)

    def test_an_old_table_is_refused_and_none_keeps_the_present_one(self):
        old = self.writer.json("/topology")
        stays = [one for one in self.replicas if one.name != "cache-2"]
        self.put(stays, self.all)
        self.put(self.replicas, self.all)
        self.put(stays, self.all)
        present = self.writer.json("/topology")
        page = present | {"version": present["version"] + 1}
        for state in (old["state"], {"shards": []}):
            refused = self.writer.administer("PUT", "/topology", page | {"state": state})
            self.assertEqual((refused.status, refused.text.count("\n")), (409, 1), refused.text)
            self.assertIn("state.table: is another one than that in use", refused.text)
        answer = self.writer.administer("PUT", "/topology", page)
        self.assertEqual(answer.status, 200, answer.text)
        del page["state"]
        page["version"] += 1
        answer = self.writer.administer("PUT", "/topology", page)
        self.assertEqual(answer.status, 200, answer.text)
        self.assertEqual(self.writer.json("/topology")["state"], present["state"])
        wait_until(lambda: self.agree(self.all), "everybody to follow the writer")

    def test_nobody_else_writes_it(self):
        page = self.fronts[0].json("/topology")
        page["version"] += 1
        page["state"] = {"table": [{"member": "cache-0", "buckets": "0-16383"}]}
        answer = self.fronts[0].administer("PUT", "/topology", page)
        self.assertEqual(answer.status, 409, answer.text)
        self.assertIn(self.writer.admin, answer.text)


class InAConfigMap(Tables):
    def setUp(self):
        super().setUp()
        self.api = ApiServer()
        self.addCleanup(self.api.stop)
        self.api.make_config_map(CONFIG_MAP)
        rule = (
            "--scheme", "vbucket", "--state-writer", f"configmap:{CONFIG_MAP}",
            "--kubeconfig", self.file("kubeconfig", self.api.kubeconfig()),
        )  # fmt: skip
        self.replicas = self.caches(4, self.source, *rule)
        self.fronts = [self.sidecar(self.replicas, *rule) for _ in range(2)]
        self.all = (*self.replicas, *self.fronts)
        self.put(self.replicas, self.all)
        wait_until(lambda: self.agree(self.all), "everybody to have one table")

    def published(self) -> dict[int, str]:
        return owners_of(json.loads(self.api.config_map(CONFIG_MAP)["state.json"])["state"])

    def test_whoever_hears_of_a_change_writes_the_table_and_all_have_one(self):
        self.ask_all()
        before = self.published()
        stays = [one for one in self.replicas if one.name != "cache-1"]
        self.put(stays, self.all)
        self.ask_all()
        wait_until(lambda: "cache-1" not in self.published().values(), "the table to be written")
        wait_until(lambda: self.agree(self.all), "everybody to have one table")
        self.wait_until_moved(stays)
        self.ask_all()
        self.assertEqual(self.source.count(), len(PATHS))
        self.expect_moved(before, self.published(), "cache-1")
        self.assertEqual(self.table(self.fronts[1]), self.published())


if __name__ == "__main__":
    unittest.main()
