"""An id of the path chooses the replica; a path without it is refused, or goes by the fallback."""

import unittest

from support import Tier, ringside

ROUTES = """
routes:
  - {name: users, path: "/users/{id}", shard_key: "id:{id}"}
  - {name: shops, path: "/shops/{id}", shard_key: "id:{id}", key_fallback: [country, path]}
  - {name: items, path: /items, shard_key: "id:2"}
  - {name: rest}
"""


class Ids(Tier):
    def setUp(self):
        super().setUp()
        self.configuration = self.file("routes.yaml", ROUTES)
        self.tier = self.up(5, self.origin(), "--config", self.configuration)

    def test_what_has_the_id_lies_on_one_replica_and_shard_tells_which(self):
        replicas = set()
        for user in ("7", "anna", "%41", "18446744073709551616"):
            paths = [f"/users/{user}", f"/users/{user}/", f"/users/{user}/orders/1?q=1"]
            answers = [self.tier.get(path) for path in paths]
            self.assertEqual([answer.status for answer in answers], [200, 200, 200])
            told = {answer.field("Cache-Status").split(";")[0] for answer in answers}
            self.assertEqual(len(told), 1, told)
            asked = [("127.0.0.1", f"http://{self.tier.address}{path}") for path in paths]
            shown = self.shard(asked, "--replicas", 5, "--config", self.configuration)
            self.assertEqual({one["owners"][0] for one in shown}, told)
            self.assertEqual(shown[0]["shard_key"], "id:{id}")
            replicas |= told
        self.assertGreater(len(replicas), 1)

    def test_without_the_id_it_is_refused_and_told_why(self):
        for path, segment in (("/users", 2), ("/users/", 2), ("/items", 2)):
            with self.subTest(path):
                answer = self.tier.get(path)
                self.assertEqual(answer.status, 400)
                self.assertIn(f"the path has no segment {segment}", answer.body.decode())
                self.assertEqual(self.tier.get("/").status, 200)

    def test_or_goes_by_the_fallback(self):
        for path in ("/shops", "/shops/", "/shops/3"):
            self.assertEqual(self.tier.get(path).status, 200)
        shown = self.shard(
            [("127.0.0.1", "/shops"), ("127.0.0.1", "/shops/3")], "--config", self.configuration
        )
        self.assertEqual([one["is_fallback"] for one in shown], [True, False])
        self.assertEqual(shown[0]["shard_key"], "country,path")

    def test_shard_refuses_what_the_sidecar_refuses(self):
        done = ringside(
            "shard", "--geo", self.countries(), "--config", self.configuration,
            "--replicas", 5, "/items", expect=2
        )  # fmt: skip
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("the path has no segment 2, the id:2", done.stderr)


if __name__ == "__main__":
    unittest.main()
