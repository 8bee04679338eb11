"""What a change would move is told before it is made, of a running tier and of files."""

import json
import unittest

from support import Tier, ringside

PATHS = 200


class Plans(Tier):
    def plan(self, *arguments, expect: int = 0) -> dict:
        return json.loads(ringside("plan", "--json", *arguments, expect=expect).stdout)

    def topology(self, name: str, scheme: str, members: int) -> str:
        page = {
            "scheme": scheme,
            "members": [{"name": f"cache-{number}"} for number in range(members)],
        }
        return str(self.file(name, json.dumps(page)))


class OfARunningTier(Plans):
    def setUp(self):
        super().setUp()
        self.tier = self.up(4, self.origin(), "--move-rate", 7, "--scheme", "vbucket")
        for number in range(PATHS):
            self.assertEqual(self.tier.get(f"/{number}").status, 200)

    def test_it_is_what_the_change_then_does(self):
        planned = self.plan("--to", 5, "--admin", self.tier.admin)
        self.assertEqual(planned["moved"], 16384 // 5)
        self.assertEqual({move["to"] for move in planned["moves"]}, {"cache-4"})
        self.assertEqual(planned["move_rate_mib_s"], 7)
        self.assertEqual(planned["stores_not_known"], [])
        self.assertGreater(planned["stored_bytes"], planned["estimated_bytes"])
        self.assertGreater(planned["estimated_bytes"], 0)
        self.assertAlmostEqual(
            planned["origin_without_handoff"]["stored_responses"], PATHS / 5, delta=PATHS / 10
        )
        self.assertAlmostEqual(
            planned["origin_without_handoff"]["share_of_requests"], 0.2, delta=0.1
        )
        self.assertEqual(self.topology_now()["id"], planned["before"]["id"], "it changed something")
        ringside("scale", 5, "--admin", self.tier.admin)
        self.assertEqual(self.topology_now()["id"], planned["after"]["id"])

    def topology_now(self) -> dict:
        return self.tier.json("/topology")

    def test_a_dry_run_of_scale_is_the_same_and_changes_nothing(self):
        before = self.topology_now()

        def dry(*arguments, expect: int = 0) -> str:
            words = ("scale", "--dry-run", 5, "--admin", self.tier.admin, *arguments)
            return ringside(*words, expect=expect).stdout

        self.assertIn("3,276 of 16,384 get another owner (20.0 %)", dry())
        self.assertIn("(estimated", dry())
        planned = self.plan("--to", 5, "--admin", self.tier.admin)
        self.assertEqual(json.loads(dry("--json", "--at-most", "20%")), planned)
        self.assertIn("3,276 of 16,384", dry("--at-most", "19%", expect=1))
        self.assertEqual(self.topology_now(), before)

    def test_what_it_tells_can_be_a_file(self):
        page = self.file("now.json", json.dumps(self.topology_now()))
        of_file = self.plan("--to", 5, "--from", page)
        of_tier = self.plan("--to", 5, "--admin", self.tier.admin)
        self.assertEqual(of_file["after"], of_tier["after"])
        self.assertEqual(of_file["moved"], of_tier["moved"])
        self.assertIsNone(of_file["estimated_bytes"])


class OfShards(Plans):
    def ranges(self, *owners: str) -> dict:
        begins = zip(("", "ZZ\n/m", "ZZ\n/x"), owners, strict=True)
        return {"shards": [{"at": at, "owner": owner} for at, owner in begins]}

    def test_a_shard_counts_by_what_is_stored_of_it(self):
        state = {"format": 1, "scheme": "range", "state": self.ranges("cache-0", "cache-1", "cache-1")}
        tier = self.up(
            2, self.origin(), "--scheme", "range", "--state", self.file("s.json", json.dumps(state))
        )
        for number in range(100):
            path = "/a" if number < 10 else "/m" if number < 90 else "/x"
            self.assertEqual(tier.get(f"{path}/{number}").status, 200)
        page = tier.json("/shards")
        self.assertEqual(page["topology_id"], tier.json("/topology")["id"])
        self.assertEqual(
            [shard["stored"] for shard in page["shards"]],
            [{"cache-0": 10}, {"cache-1": 80}, {"cache-1": 10}],
        )
        wanted = {
            "scheme": "range",
            "members": [{"name": "cache-0"}, {"name": "cache-1"}],
            "state": self.ranges("cache-0", "cache-0", "cache-1"),
        }
        to = f"@{self.file('to.json', json.dumps(wanted))}"
        planned = self.plan("--to", to, "--admin", tier.admin)
        self.assertEqual((planned["moved"], planned["units"]), (1, 3))
        self.assertEqual(planned["moved_share_of"], "stored responses")
        self.assertAlmostEqual(planned["moved_share"], 0.8)
        self.assertEqual(planned["origin_without_handoff"]["stored_responses"], 80)
        done = ringside("plan", "--to", to, "--admin", tier.admin, "--at-most", "50%", expect=1)
        self.assertIn("1 of 3 get another owner (80.0 % of what is stored)", done.stdout)
        of_file = self.plan("--to", to, "--from", self.file("t.json", json.dumps(tier.json("/topology"))))
        self.assertAlmostEqual(of_file["moved_share"], 1 / 3)
        self.assertEqual(of_file["moved_share_of"], "units")

    def test_a_cut_counts_by_what_is_on_either_side(self):
        owners = ("cache-0", "cache-0", "cache-1")
        state = {"format": 1, "scheme": "range", "state": self.ranges(*owners)}
        tier = self.up(
            2, self.origin(), "--scheme", "range", "--state", self.file("s.json", json.dumps(state))
        )
        for number in range(100):
            path = "/a" if number < 20 else "/m" if number < 90 else "/x"
            self.assertEqual(tier.get(f"{path}/{number}").status, 200)
        cut = self.ranges(*owners)
        cut["shards"].append({"at": "ZZ\n/m/60", "owner": "cache-1", "parent": 1})
        wanted = {
            "scheme": "range",
            "members": [{"name": "cache-0"}, {"name": "cache-1"}],
            "state": cut,
        }
        planned = self.plan("--to", f"@{self.file('to.json', json.dumps(wanted))}", "--admin", tier.admin)
        self.assertEqual((planned["moved"], planned["units"]), (1, 4))
        self.assertEqual(planned["moved_share_of"], "stored responses")
        self.assertAlmostEqual(planned["moved_share"], 0.3)
        self.assertEqual(planned["origin_without_handoff"]["stored_responses"], 30)
        page = json.loads(tier.administer("POST", "/shards", wanted).body)
        self.assertEqual(
            [shard["stored"] for shard in page["shards"]],
            [{"cache-0": 20}, {"cache-0": 40}, {"cache-1": 10}, {"cache-0": 30}],
        )
        self.assertEqual(tier.administer("POST", "/shards", {"scheme": "range"}).status, 400)


class OfSeparateProcesses(Plans):
    def test_each_replica_tells_of_its_own_store(self):
        origin = self.origin()
        caches = self.caches(2, origin)
        sidecar = self.sidecar(caches)
        for number in range(50):
            sidecar.get(f"/{number}")
        admins = [sidecar.admin, *(cache.admin for cache in caches)]
        alone = self.plan("--to", 3, "--admin", admins[0])
        self.assertIsNone(alone["estimated_bytes"])
        all_of_them = self.plan("--to", 3, "--admin", ",".join(admins))
        self.assertGreater(all_of_them["estimated_bytes"], 0)
        self.assertEqual(all_of_them["stores_not_known"], [])
        some = self.plan("--to", 3, "--admin", ",".join(admins[:2]))
        self.assertEqual(some["stores_not_known"], ["cache-1"])


class OfFiles(Plans):
    def test_a_budget_decides_the_exit_code(self):
        ten = self.topology("ten.json", "vbucket", 10)
        for budget, code in (("9.08%", 1), ("9.1%", 0), ("100%", 0), ("0%", 1)):
            with self.subTest(budget):
                planned = self.plan("--from", ten, "--to", 11, "--at-most", budget, expect=code)
                self.assertEqual(planned["moved"], 1489)
        done = ringside("plan", "--from", ten, "--to", 11, "--at-most", "5%", expect=1)
        self.assertIn("1,489 of 16,384", done.stdout)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("9.09 % would move, more than --at-most 5.00%", done.stderr)

    def test_to_may_be_a_list_a_file_or_a_scheme(self):
        ten = self.topology("ten.json", "ring", 10)
        eleven = self.topology("eleven.json", "ring", 11)
        counted = self.plan("--from", ten, "--to", 11)
        names = ",".join(f"cache-{number}" for number in range(11))
        for to in (f"@{eleven}", names, names.replace("cache-0", "cache-0=10.0.0.1:80;weight=1")):
            self.assertEqual(self.plan("--from", ten, "--to", to), counted)
        drained = self.plan("--from", ten, "--to", names.replace("cache-3", "cache-3;weight=0"))
        self.assertNotEqual(drained["after"]["id"], counted["after"]["id"])
        changed = self.plan("--from", ten, "--scheme", "nginx")
        self.assertEqual((changed["unit"], changed["has_handoff"]), ("sampled key", False))
        self.assertEqual(self.plan("--from", ten, "--to", 10)["moved"], 0)

    def test_modulo_shows_its_split_and_its_merge(self):
        ten = self.topology("ten.json", "modulo", 10)
        text = ringside("plan", "--from", ten, "--to", 11).stdout
        self.assertIn("split: each of 10 by 11, which makes 110 small shards", text)
        self.assertIn("cache-1 -> 1, 11, 21, …, 101", text)
        self.assertIn("merge: of the 110 small ones 10 make each of 11", text)
        self.assertIn("cache-10 <- 10, 21, 32, …, 109", text)

    def test_bad_input_is_one_line_and_2(self):
        ten = self.topology("ten.json", "ring", 10)
        cut = self.file("cut.json", '{"scheme": "ring", "members": [')
        unknown = self.file("unknown.json", '{"scheme": "rung", "members": []}')
        jump = self.topology("jump.json", "jump", 3)
        for arguments, words in (
            (["--from", ten], "give --to, --scheme or both"),
            (["--from", ten, "--to", 0], "--to: "),
            (["--from", ten, "--to", "a,a"], '"a" stands twice'),
            (["--from", ten, "--to", "@/nonexistent.json"], "--to: /nonexistent.json"),
            (["--from", "/nonexistent.json", "--to", 3], "--from: /nonexistent.json"),
            (["--from", cut, "--to", 3], "cut.json: "),
            (["--from", ten, "--to", f"@{unknown}"], "unknown.json: scheme: "),
            (["--from", ten, "--scheme", "rung"], "--scheme: there is no scheme"),
            (["--from", jump, "--to", "cache-0,cache-2"], "cache-2"),
            (["--from", jump, "--to", "cache-0;weight=-1"], "weight"),
            (["--from", ten, "--to", 3, "--at-most", "lots"], "--at-most: "),
            (["--from", ten, "--to", 3, "--admin", "127.0.0.1:1"], "--from"),
        ):
            with self.subTest(arguments):
                done = ringside("plan", *arguments, expect=2)
                self.assertEqual(done.stdout, "")
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertTrue(done.stderr.startswith("ringside plan: "), done.stderr)
                self.assertIn(words, done.stderr)

    def test_nobody_to_ask_is_a_failure(self):
        done = ringside("plan", "--to", 3, "--admin", "127.0.0.1:1", expect=1)
        self.assertIn("127.0.0.1:1", done.stderr)


if __name__ == "__main__":
    unittest.main()
