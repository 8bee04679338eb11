"""Routes by regular expression, method, header and query: who answers, and what is stored for whom."""

import unittest

from support import Tier, ringside

ROUTES = """
routes:
  - {{name: posts, methods: [POST], shard_key: host, origin: {posts}}}
  - {{name: preview, headers: {{X-Preview: {{present: true}}}}, origin: {preview}}}
  - {{name: mobile, headers: {{User-Agent: {{regex: '.*Mobi.*'}}}}, near_ttl: on, origin: {mobile}}}
  - {{name: beta, query: {{beta: {{present: true}}}}, shard_key: "path", origin: {beta}}}
  - {{name: images, path_regex: '.*\\.(png|jpg)', origin: {images}}}
  - {{name: account, path: /account, cache: {{bypass: true}}, origin: {account}}}
  - {{name: rest, near_ttl: on, cache: {{query: {{drop: [utm_*]}}}}, origin: {rest}}}
"""
NAMES = ("posts", "preview", "mobile", "beta", "images", "account", "rest")
PREVIEW = {"X-Preview": "1"}
MOBILE = {"User-Agent": "A Mobile browser"}


class Named(dict):
    """What an origin does with any path: it tells its name and how often it was asked for it."""

    def __init__(self, name: str):
        super().__init__()
        self.name, self.times = name, {}

    def get(self, path, default=None):
        return self.tell

    def tell(self, turn) -> None:
        target = turn.request.target
        self.times[target] = self.times.get(target, 0) + 1
        turn.reply(body=f"{self.name} {self.times[target]}".encode())


class Routes(Tier):
    def setUp(self):
        super().setUp()
        self.origins = {}
        for name in NAMES:
            self.origins[name] = self.origin()
            self.origins[name].on = Named(name)
        urls = {name: origin.url for name, origin in self.origins.items()}
        path = self.file("routes.yaml", ROUTES.format(**urls))
        self.tier = self.up(3, self.origins["rest"], "--config", path)

    def ask(self, target: str, fields=None, method: str = "GET") -> str:
        body = b"x" if method == "POST" else None
        answer = self.tier.ask(method, target, body, fields)
        self.assertEqual(answer.status, 200, answer.text)
        return answer.text

    def test_each_request_goes_where_its_route_says(self):
        for target, fields, method, name in (
            ("/a", None, "GET", "rest"),
            ("/a", None, "POST", "posts"),
            ("/a", PREVIEW, "GET", "preview"),
            ("/a", PREVIEW, "POST", "posts"),
            ("/a", MOBILE, "GET", "mobile"),
            ("/a?x=1&beta", None, "GET", "beta"),
            ("/a?x=beta", None, "GET", "rest"),
            ("/a/b.png", None, "GET", "images"),
            ("/a/b.png/c", None, "GET", "rest"),
            ("/account/b.png", PREVIEW, "GET", "account"),
            ("/account", None, "POST", "account"),
        ):
            with self.subTest(method=method, target=target, fields=fields):
                self.assertEqual(self.ask(target, fields, method).split()[0], name)

    def test_what_a_header_chose_is_stored_apart_from_what_others_are_given(self):
        for _ in range(3):  # the second one is asked for near, the third may be given from there
            self.assertEqual(self.ask("/page"), "rest 1")
            self.assertEqual(self.ask("/page", PREVIEW), "preview 1")
            self.assertEqual(self.ask("/page", MOBILE), "mobile 1")
            self.assertEqual(self.ask("/page?utm_id=1"), "rest 1")
            self.assertEqual(self.ask("/page?beta"), "beta 1")
        self.assertEqual(self.tier.ask("HEAD", "/page", None, MOBILE).status, 200)
        self.assertEqual(self.origins["mobile"].count(), 1)

    def test_an_unsafe_method_reaches_what_every_route_has_stored(self):
        for _ in range(2):
            for fields in (None, PREVIEW, MOBILE):
                self.ask("/page", fields)
        self.ask("/other")
        self.assertEqual(self.ask("/page?utm_id=2", method="POST"), "posts 1")
        self.assertEqual(self.ask("/page"), "rest 2")
        self.assertEqual(self.ask("/page", PREVIEW), "preview 2")
        self.assertEqual(self.ask("/page", MOBILE), "mobile 2")
        self.assertEqual(self.ask("/other"), "rest 1")

    def test_a_purge_does_too(self):
        for fields in (None, PREVIEW, MOBILE):
            self.ask("/page", fields)
        purged = self.tier.ask("PURGE", "/page?utm_id=3")
        self.assertEqual(purged.status, 200)
        self.assertIn("purged 3 ", purged.text)
        self.assertEqual(self.ask("/page", MOBILE), "mobile 2")

    def test_a_new_replica_gets_by_its_route_what_another_one_has_stored(self):
        pages = [f"/page/{number}" for number in range(40)]
        for page in pages:
            self.assertEqual(self.ask(page), "rest 1")
            self.assertEqual(self.ask(page, PREVIEW), "preview 1")
        ringside("scale", 4, "--admin", self.tier.admin)
        for page in pages:
            self.assertEqual(self.ask(page, PREVIEW), "preview 1")
            self.assertEqual(self.ask(page), "rest 1")

    def test_shard_and_config_show_them(self):
        route = next(one for one in self.tier.json("/config")["routes"] if one["name"] == "mobile")
        self.assertEqual(route["headers"], {"User-Agent": {"regex": ".*Mobi.*"}})
        done = ringside(
            "shard", "--geo", self.countries(), "--config", self.folder / "routes.yaml",
            "--header", "X-Preview: 1", "/a", "/a.png", "/account",
        )  # fmt: skip
        routes = [line.split()[1] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(routes, ["preview", "preview", "account"])


if __name__ == "__main__":
    unittest.main()
