"""What an operator asks a running tier for: its topology, and purges."""

import json
import unittest

from support import Tier, ringside, wait_until

URL = "http://www.example.com/page"
PURGE_FROM = ("--purge-from", "127.0.0.0/8")


class Commands(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()

    def wait_for_line(self, process, line: str) -> None:
        wait_until(lambda: line in process.err, f"the log to say {line}")


class Topology(Commands):
    def setUp(self):
        super().setUp()
        self.replicas = self.caches(3, self.source)
        self.front = self.sidecar(self.replicas[:2])
        for replica in self.replicas:
            replica.administer("PUT", "/topology", self.listed())
        processes = (self.front, *self.replicas)
        self.admins = ("--admin", ",".join(process.admin for process in processes))

    def listed(self) -> dict:
        members = [{"name": one.name, "address": one.address} for one in self.replicas[:2]]
        return {"scheme": "ring", "members": members}

    def names(self) -> list[list[str]]:
        """Of the members that each process knows."""
        shown = [process.json("/topology") for process in (self.front, *self.replicas)]
        return [[member["name"] for member in page["members"]] for page in shown]

    def test_replicas_come_and_go(self):
        third = self.replicas[2]
        told = ringside("topology", "add", f"{third.name}={third.address}", *self.admins).stdout
        self.assertEqual(told.count("taken      by "), 4)
        self.assertIn(f"by {third.admin}: version 3, id ", told)
        self.assertEqual(self.names(), [["cache-0", "cache-1", "cache-2"]] * 4)
        ringside("topology", "remove", "cache-0", "cache-2", *self.admins)
        self.assertEqual(self.names(), [["cache-1"]] * 4)
        for process in (self.front, *self.replicas):
            self.wait_for_line(process, "3 -> 1 replicas: -cache-0 -cache-2; by PUT /topology\n")
        self.assertEqual(self.front.get("/a").status, 200)

    def test_what_it_prints_can_be_edited_and_put_back(self):
        printed = ringside("topology", "get", *self.admins).stdout
        self.assertEqual(json.loads(printed), self.front.json("/topology"))
        edited = printed.replace('"weight": 1', '"weight": 3', 1)
        path = self.file("topology.json", edited)
        ringside("topology", "set", path, *self.admins)
        self.assertEqual(self.front.json("/topology")["members"][0]["weight"], 3)
        refused = ringside("topology", "set", "-", *self.admins, stdin=edited, expect=2).stderr
        self.assertIn("it is at version 3, and this is made of version 1; get it again", refused)

    def test_who_is_not_told_is_named(self):
        third = self.replicas[2]
        third.stop()
        added = f"cache-9={self.replicas[0].address.rsplit(':', 1)[0]}:1"
        refused = ringside("topology", "add", added, *self.admins, expect=1)
        self.assertEqual(refused.stdout.count("taken      by "), 3)
        self.assertIn("1 of 4 did not take it", refused.stderr)
        remedy = f"ringside topology get --admin {self.front.admin} | ringside topology set - --admin {third.admin}`"
        self.assertIn(remedy, refused.stderr)
        alone = ringside("topology", "remove", "cache-9", "--admin", self.front.admin).stdout
        self.assertIn("list all of them in --admin", alone)

    def test_who_missed_it_is_told_what_the_others_have(self):
        admins = ",".join(one.admin for one in (self.front, *self.replicas[:2]))
        added = f"cache-2={self.replicas[2].address}"
        ringside("topology", "add", added, "--admin", admins)
        printed = ringside("topology", "get", "--admin", self.front.admin).stdout
        ringside("topology", "set", "-", "--admin", self.replicas[2].admin, stdin=printed)
        pages = [process.json("/topology") for process in (self.front, *self.replicas)]
        self.assertEqual({(page["id"], page["version"]) for page in pages}, {(pages[0]["id"], 3)})

    def test_up_is_told_a_number(self):
        tier = self.up(2, self.source)
        told = ringside("topology", "set", 3, "--admin", tier.admin).stdout
        self.assertIn("replicas   2 -> 3\n", told)
        refused = ringside("topology", "add", "x=h:1", "--admin", tier.admin, expect=1).stderr
        self.assertIn("ringside scale", refused)


class Status(Commands):
    def test_of_up(self):
        tier = self.up(2, self.source)
        tier.get("/a")
        told = ringside("status", "--admin", tier.admin).stdout
        self.assertTrue(told.startswith(f"{tier.admin}\n  ready\n"), told)
        self.assertRegex(told, r"\n  cache-0 +\d+\.\d % +\d+ +0\.\d +0\n")
        page = json.loads(ringside("status", "--json", "--admin", tier.admin).stdout)
        self.assertEqual(page["wrong"], [])
        self.assertEqual(sum(one["stored_responses"] for one in page["processes"][0]["replicas"]), 1)

    def test_the_exit_code_says_whether_it_is_well(self):
        replicas = self.caches(2, self.source)
        front = self.sidecar(replicas)
        admins = f"{front.admin},{replicas[0].admin},{replicas[1].admin}"
        replicas[1].stop()
        for number in range(20):
            self.assertEqual(front.get(f"/{number}").status, 200)
        done = ringside("status", "--admin", admins, expect=1)
        self.assertIn(f"{front.admin} does not ask 1 of its replicas", done.stderr)
        self.assertIn(f"replica cache-1 at {replicas[1].address} does not answer", done.stdout)
        self.assertIn(replicas[1].admin, done.stderr)


class Config(Commands):
    def test_what_is_in_effect_is_printed_without_a_tier(self):
        path = self.file("f.yaml", "replicas: a=h:1,b=h:2;weight=3\ninsecure_peers: true\n")
        told = ringside("config", "sidecar", "--config", path, "--listen", "[::1]:1", "--without-replica", "origin",
                        "--origin", "http://o").stdout  # fmt: skip
        page = json.loads(told)
        self.assertIn("h:2", told)
        self.assertEqual(page["without_replica"], "origin")
        self.assertIn("of what?", ringside("config", "--config", path, expect=2).stderr)
        wrong = self.file("wrong.yaml", "replica: a=h:1\n")
        self.assertIn("replica", ringside("config", "cache", "--config", wrong, expect=2).stderr)


class Purge(Commands):
    def test_by_url_and_of_everything(self):
        tier = self.up(3, self.source)
        for path in ("/page", "/other"):
            for client in ("81.2.69.160", "53.1.2.3"):
                tier.get(path, client, Host="www.example.com")
        admin = ("--admin", tier.admin)
        self.assertEqual(ringside("purge", URL, *admin).stdout, f"removed    2 of {URL}\n")
        again = ringside("purge", URL, "http://www.example.com:8080/*", *admin).stdout
        self.assertIn(f"removed    0 of {URL}\n", again)
        self.assertEqual(again.count("Nothing is stored of it"), 1)
        self.assertEqual(again.count("there are no patterns"), 1)
        below = "http://www.example.com/ot"
        self.assertEqual(
            ringside("purge", below, "--prefix", *admin).stdout,
            f"removed    2 of all that begins with {below}\n",
        )
        self.wait_for_line(tier, 'purged all that begins with "www.example.com/ot": 2 responses; by')
        tier.get("/other", "81.2.69.160", Host="www.example.com")
        everything = ringside("purge", "--all", *admin).stdout
        self.assertEqual(everything, "removed    1 of everything\n")
        self.wait_for_line(tier, 'purged "www.example.com/page": 2 responses; by POST /purge\n')
        self.wait_for_line(tier, "purged everything: 1 responses; by POST /purge\n")
        tier.ask("PURGE", "/page", fields={"Host": "www.example.com"})
        self.wait_for_line(
            tier, 'purged "www.example.com/page": 0 responses; by PURGE from 127.0.0.1\n'
        )
        self.assertIn("is no URL with a host", ringside("purge", "/page", *admin, expect=1).stderr)

    def test_of_one_replica_it_says_so(self):
        replica = self.cache("cache-0", self.source)
        told = ringside("purge", "--all", "--admin", replica.admin).stdout
        self.assertIn("At cache-0 alone; a sidecar's admin page tells all replicas", told)

    def test_an_address_for_clients_is_no_admin_address(self):
        self.source.on["/topology"] = lambda turn: turn.reply(
            200, b"<html></html>", Content_Type="text/html; charset=utf-8"
        )
        tier = self.up(1, self.source)
        told = ringside("topology", "get", "--admin", tier.address, expect=2).stderr
        self.assertIn('give --admin the one that the process printed behind "admin on"', told)

    def test_explain_is_asked_of_a_sidecar(self):
        replica = self.cache("cache-0", self.source)
        told = ringside("explain", URL, "--admin", replica.admin, expect=1).stderr
        self.assertIn("has no POST /explain; ask a sidecar, or `ringside up`", told)

    def test_replicas_that_refuse_are_named_with_the_remedy(self):
        front = self.sidecar(self.caches(1, self.source), *PURGE_FROM)
        refused = ringside("purge", URL, "--admin", front.admin, expect=1).stderr
        self.assertIn("not confirmed by cache-0: takes no purges from this sidecar; give it", refused)


if __name__ == "__main__":
    unittest.main()
