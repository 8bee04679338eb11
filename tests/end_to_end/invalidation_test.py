"""After an unsafe method nobody is given what it has made invalid, whatever country and replica."""

import signal
import unittest

from support import Client, Tier, wait_until
from support.tier import members

HOST = "www.example.com"
GB, DE, SE = "81.2.69.160", "53.1.2.3", "89.160.20.112"
FAILED = "ringside_invalidations_failed_total"


class ReplicasOfTheirOwn(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.start_tier()
        self.client = Client(self.front.address)
        self.addCleanup(self.client.close)
        self.owners = self.owners_of([f"/page/{number}" for number in range(100)])
        self.pages = [  # on one replica for GB, on another for DE, and on the third for SE
            page for page, owners in self.owners.items() if len(set(owners.values())) == 3
        ]
        self.assertGreater(len(self.pages), 5)

    def start_tier(self):
        self.replicas = self.caches(3, self.source)
        self.front = self.sidecar(self.replicas)
        self.membership = ("--replicas", members(self.replicas))

    def owners_of(self, pages: list[str]) -> dict[str, dict[str, str]]:
        """The replica of each page and client."""
        asked = [(client, f"http://{HOST}{page}") for page in pages for client in (GB, DE, SE)]
        told = iter(self.shard(asked, *self.membership))
        return {
            page: {client: next(told)["owners"][0] for client in (GB, DE, SE)} for page in pages
        }

    def get(self, page: str, client: str):
        answer = self.client.get(page, client, Host=HOST)
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.replica, self.owners[page][client])
        return answer

    def ask(self, method: str, target: str, client: str = SE):
        return self.client.ask(method, target, b"x", {"Host": HOST, "X-Forwarded-For": client})

    def store(self, page: str) -> None:
        for client in (GB, DE):
            self.get(page, client)
            self.assertTrue(self.get(page, client).is_hit)

    def assert_forgotten(self, page: str) -> None:
        for client, country in ((GB, "GB"), (DE, "DE")):
            before = self.source.count(page, country)
            self.assertFalse(self.get(page, client).is_hit, country)
            self.assertEqual(self.source.count(page, country), before + 1)
            self.assertTrue(self.get(page, client).is_hit, country)

    def assert_kept(self, page: str) -> None:
        for client in (GB, DE):
            self.assertTrue(self.get(page, client).is_hit)

    def test_a_page_is_forgotten_by_the_replicas_of_all_countries(self):
        for page, method in zip(self.pages, ("POST", "PUT", "DELETE", "PATCH", "REFRESH")):
            with self.subTest(method):
                self.store(page)
                answer = self.ask(method, page)
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.replica, self.owners[page][SE])
                self.assert_forgotten(page)
        self.assertEqual(self.front.metric(FAILED), 0)

    def test_so_is_what_location_and_content_location_name(self):
        for page, (name, value) in zip(
            self.pages,
            (
                ("location", "{page}"),
                ("content_location", "{page}"),
                ("location", "page/../.{page}#part"),
                ("location", f"http://{HOST}{{page}}"),
                ("location", f"https://{HOST.upper()}:443{{page}}"),
            ),
        ):
            with self.subTest(f"{name}: {value}"):
                fields = {name: value.format(page=page)}
                self.source.on["/form"] = lambda turn, fields=fields: turn.reply(201, **fields)
                self.store(page)
                self.assertEqual(self.ask("POST", "/form").status, 201)
                self.assert_forgotten(page)

    def test_another_origins_location_is_not_heard(self):
        page = self.pages[0]
        self.store(page)
        for value in (f"http://other.example.com{page}", f"http://{HOST}:81{page}"):
            with self.subTest(value):
                self.source.on["/form"] = lambda turn, to=value: turn.reply(303, location=to)
                self.assertEqual(self.ask("POST", "/form").status, 303)
                self.assert_kept(page)

    def test_errors_and_safe_methods_make_nothing_invalid(self):
        page, other = self.pages[:2]
        self.store(page)
        self.store(other)
        for status in (404, 500):

            def failing(turn, status=status):
                turn.reply(status, location=other)

            with self.subTest(status):
                self.source.on[page] = failing
                self.assertEqual(self.ask("DELETE", page).status, status)
                self.assert_kept(page)
                self.assert_kept(other)
        self.source.on["/options"] = lambda turn: turn.reply(location=page)
        self.assertEqual(self.ask("OPTIONS", "/options").status, 200)
        self.assert_kept(page)


class Up(ReplicasOfTheirOwn):
    """All of the above again, in one process."""

    def start_tier(self):
        self.front = self.up(3, self.source)
        self.membership = ("--replicas", 3)


class Failures(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replicas = self.caches(3, self.source)
        self.front = self.sidecar(self.replicas)
        self.owner = self.front.ask("POST", "/form", b"x").replica
        self.other = next(one for one in self.replicas if one.name != self.owner)

    def test_a_silent_replica_is_waited_for_once_and_forgets_everything(self):
        page = next(path for path in (f"/page-{n}" for n in range(100)) if self.is_of_other(path))
        self.assertTrue(self.front.get(page).is_hit)
        self.other.freeze()
        for number in range(1, 4):
            self.assertEqual(self.front.ask("POST", "/form", b"x").status, 200)
            self.assertEqual(self.front.metric(FAILED, shard=self.other.name), number)
        self.assertEqual(self.front.metric(FAILED), 3)
        self.other.signal(signal.SIGCONT)
        wait_until(lambda: self.other.metric("ringside_store_entries") == 0, "it to be told")

    def is_of_other(self, page: str) -> bool:
        return self.front.get(page).replica == self.other.name

    def test_a_dead_one_is_counted(self):
        self.other.stop()
        self.assertEqual(self.front.ask("POST", "/form", b"x").status, 200)
        self.assertEqual(self.front.metric(FAILED, shard=self.other.name), 1)
        self.assertEqual(self.front.metric(FAILED), 1)


if __name__ == "__main__":
    unittest.main()
