"""The tier changes while keys are warm, and the origin is not asked for any of them again: here
nothing moves by itself, so that what is asked for is fetched from who holds it."""

import itertools
import signal
import threading
import unittest

from explain_test import explain
from support import WAIT_S, Client, Tier, each_in_a_thread, ringside, wait_until

CLIENTS = ("81.2.69.160", "53.1.2.3", "2a02:d280::7", "10.0.0.1")
PATHS = [f"/item/{number}" for number in range(250)]
KEYS = [(path, client) for path in PATHS for client in CLIENTS]
HOST = "www.example.com"
THREADS = 4
NOTHING_MOVES = ("--move-rate", 0)


def is_fill(answer) -> bool:
    return "detail=peer-fill" in answer.cache_status


class Handoff(Tier):
    def ask_all(self, front) -> list:
        """Each key once."""

        def work(thread: int) -> list:
            with Client(front.address) as client:
                return [client.get(path, ip, Host=HOST) for path, ip in KEYS[thread::THREADS]]

        answers = list(itertools.chain(*each_in_a_thread(work, range(THREADS), THREADS)))
        self.assertEqual({answer.status for answer in answers}, {200})
        return answers


class OfOneProcess(Handoff):
    def test_ten_become_twenty_and_nothing_is_fetched_again(self):
        origin = self.origin()
        tier = self.up(10, origin, *NOTHING_MOVES)
        self.ask_all(tier)
        self.assertEqual(origin.count(), len(KEYS))
        for replicas in (11, 20):
            ringside("scale", replicas, "--admin", tier.admin)
            filled = [answer for answer in self.ask_all(tier) if is_fill(answer)]
            self.assertGreater(len(filled), len(KEYS) // 40)
            self.assertTrue(all(answer.field("Age") for answer in filled), "no origin was asked")
            self.assertEqual(origin.count(), len(KEYS))
        self.assert_all_hits(tier, self.ask_all)

    def test_an_empty_bucket_is_given_to_its_owner(self):
        origin = self.origin()
        tier = self.up(2, origin, *NOTHING_MOVES)
        self.assertEqual(tier.get("/warm").status, 200)
        ringside("scale", 4, "--admin", tier.admin)
        for number in range(100):
            self.assertEqual(tier.get(f"/cold/{number}").status, 200)

        def holder_requests(result: str) -> float:
            return tier.metric("ringside_holder_requests_total", result=result)

        self.assertGreater(holder_requests("gave"), 10)
        self.assertEqual(origin.count(), 101)
        self.assertEqual(holder_requests("failed") + holder_requests("unknown"), 0)
        self.assertEqual(tier.metric("ringside_holder_fallbacks_total"), 0)


class OfProcesses(Handoff):
    """Four replicas, of which the last one is new, and two sidecars."""

    def setUp(self):
        super().setUp()
        self.source = self.origin()
        purge_from = ("--purge-from", "127.0.0.0/8")
        rules = self.file("rules.yaml", 'cache: {no_store: ["header:X-Session"]}\n')
        options = ("--config", rules, *NOTHING_MOVES, *purge_from)
        self.replicas = self.caches(4, self.source, *options)
        self.old, self.new = self.replicas[:3], self.replicas[3]
        for replica in self.old:
            self.tell(replica, self.old)
        self.fronts = [self.sidecar(self.old, *purge_from) for _ in range(2)]

    def tell(self, process, replicas) -> None:
        members = [{"name": one.name, "address": one.address} for one in replicas]
        topology = {"scheme": "ring", "members": members}
        answer = process.administer("PUT", "/topology", topology)
        self.assertEqual(answer.status, 200, answer.text)

    def add_replica(self, *fronts) -> None:
        for process in (*self.replicas, *fronts):
            self.tell(process, self.replicas)

    def moved(self, path: str, count: int) -> list[str]:
        """Paths of keys that the new replica gets of the first one."""
        paths = (f"{path}/{number}" for number in itertools.count())
        asked = [(CLIENTS[0], f"http://{HOST}{next(paths)}") for _ in range(count * 60)]
        owners = [
            [told["owners"][0] for told in self.shard(asked, "--replicas", replicas)]
            for replicas in ("cache-0=h:1,cache-1=h:2,cache-2=h:3",
                             "cache-0=h:1,cache-1=h:2,cache-2=h:3,cache-3=h:4")
        ]  # fmt: skip
        moved = [
            url.removeprefix(f"http://{HOST}")
            for (_, url), before, after in zip(asked, *owners)
            if (before, after) == ("cache-0", "cache-3")
        ]
        self.assertGreaterEqual(len(moved), count)
        return moved[:count]

    def get(self, path: str, front=None, **fields):
        return (front or self.fronts[0]).get(path, CLIENTS[0], Host=HOST, **fields)

    def test_sidecars_that_know_different_topologies_cost_no_fetch(self):
        self.ask_all(self.fronts[0])
        self.assertEqual(self.source.count(), len(KEYS))
        self.add_replica(self.fronts[0])
        for front in self.fronts:
            self.ask_all(front)
        self.tell(self.fronts[1], self.replicas)
        self.assert_all_hits(self.fronts[1], self.ask_all)
        self.assertEqual(self.source.count(), len(KEYS))

    def test_a_sidecar_that_follows_an_older_topology_is_refused_and_answered(self):
        self.add_replica(self.fronts[0])
        # What nobody has stored is given to its new owner with the first request for it.
        cold = self.moved("/cold", 1)[0]
        self.assertEqual(self.get(cold, self.fronts[0]).replica, "cache-3")
        self.assertEqual(self.old[0].metric("ringside_refusals_total"), 0)
        # This one does not know who holds it by now: the first one answers after all.
        answer = self.get(cold, self.fronts[1])
        self.assertEqual((answer.status, answer.replica, self.source.count(cold)), (200, "cache-0", 1))
        self.assertEqual(self.old[0].metric("ringside_refusals_total"), 1)
        self.tell(self.fronts[1], self.replicas)
        self.assertTrue(self.get(cold, self.fronts[1]).is_hit)
        self.assertEqual(self.old[0].metric("ringside_refusals_total"), 1)

    def test_cold_keys_are_fetched_once_whoever_is_asked(self):
        self.add_replica(self.fronts[0])
        path = self.moved("/cold", 1)[0]
        go_on = threading.Event()

        def slow(turn):
            go_on.wait(WAIT_S)
            turn.reply(200, b"late")

        self.source.on[path] = slow
        # So that its bucket is not empty at the holder, which would give it.
        answers = []
        asking = [threading.Thread(target=lambda: answers.append(self.get(path, self.fronts[1])))]
        asking[0].start()
        wait_until(lambda: self.source.count(path) == 1, "the holder to ask the origin")
        for _ in range(3):
            asking.append(threading.Thread(target=lambda: answers.append(self.get(path))))
            asking[-1].start()
        wait_until(lambda: self.old[0].metric("ringside_connections") > 0, "the new owner to ask")
        go_on.set()
        for one in asking:
            one.join(WAIT_S)
        self.assertEqual([(one.status, one.body) for one in answers], [(200, b"late")] * 4)
        self.assertEqual(self.source.count(path), 1)

    def test_a_fill_makes_nothing_fresher_and_keeps_what_was_stored(self):
        aged, varied, part = self.moved("/what", 3)
        self.source.on[aged] = lambda turn: turn.reply(
            200, b"old", age="100", cache_control="max-age=400", surrogate_key="a b"
        )
        self.source.on[varied] = lambda turn: turn.reply(
            200, (turn.request.field("Accept-Language") or "-").encode(), vary="Accept-Language"
        )
        self.source.on[part] = lambda turn: turn.reply(200, b"0123456789", etag='"x"')
        for language in ("de", "fr"):
            self.get(varied, Accept_Language=language)
        for path in (aged, part):
            self.get(path)
        asked = self.source.count()
        self.add_replica(*self.fronts)

        answer = self.get(aged)
        self.assertTrue(is_fill(answer), answer.cache_status)
        self.assertEqual(answer.replica, "cache-3")
        self.assertEqual(answer.field("Surrogate-Key"), "a b")
        self.assertGreaterEqual(int(self.get(aged).field("Age")), 100)
        for language in ("fr", "de"):
            answer = self.get(varied, Accept_Language=language)
            self.assertEqual((answer.body, is_fill(answer)), (language.encode(), True))
            self.assertTrue(self.get(varied, Accept_Language=language).is_hit)
        answer = self.get(part, Range="bytes=2-4")
        self.assertEqual((answer.status, answer.body), (206, b"234"))
        self.assertTrue(is_fill(answer), answer.cache_status)
        self.assertEqual(self.get(part, If_None_Match='"x"').status, 304)
        self.assertEqual(self.source.count(), asked)

    def test_head_is_answered_of_what_get_has_stored_elsewhere(self):
        path, cold = self.moved("/head", 2)
        self.source.on[path] = lambda turn: turn.reply(200, b"0123456789", etag='"x"')
        self.get(path)
        self.add_replica(*self.fronts)
        for front in self.fronts:
            fields = {"Host": HOST, "X-Forwarded-For": CLIENTS[0]}
            answer = front.ask("HEAD", path, fields=fields)
            self.assertEqual((answer.status, answer.body, answer.field("ETag")), (200, b"", '"x"'))
            self.assertEqual(answer.field("Content-Length"), "10")
            self.assertTrue(is_fill(answer), answer.cache_status)
        self.assertEqual(self.source.count(path), 1)
        self.assertEqual(front.ask("HEAD", cold, fields=fields).status, 200)
        self.assertEqual(self.source.count(cold), 1)
        self.assertTrue(is_fill(self.get(path)))
        self.assertEqual(self.source.count(path), 1)

    def test_what_uses_the_store_and_does_not_fill_it_is_answered_of_what_is_stored_elsewhere(self):
        path, cold = self.moved("/used", 2)
        self.source.on[path] = lambda turn: turn.reply(200, b"0123456789", etag='"x"')
        several, one = "bytes=0-1,4-5", "bytes=2-3"
        kinds = (
            ({"Range": several}, 206),
            ({"Range": one, "If-Range": '"x"'}, 206),
            ({"Cache-Control": "no-store"}, 200),
            ({"X-Session": "1"}, 200),
            ({"Cache-Control": "only-if-cached"}, 200),
        )
        whole = self.get(path).body
        before = [self.get(path, **fields).body for fields, _ in kinds]
        self.assertEqual(before[1:], [b"23", whole, whole, whole])
        self.add_replica(*self.fronts)
        for (fields, status), body in zip(kinds, before):
            with self.subTest(fields):
                answer = self.get(path, **fields)
                self.assertEqual(answer.status, status)
                self.assertEqual(self.without_boundary(answer), self.without_boundary(body))
                self.assertTrue(is_fill(answer), answer.cache_status)
        self.assertEqual(self.source.count(path), 1)
        self.assertIn("holder is asked", self.explained(path, "only-if-cached")["because"])
        self.assertTrue(self.explained(path, "no-store")["asks"]["holder_first"])
        # Nobody has this one, and it is asked for in vain of all.
        self.assertEqual(self.get(cold, **{"Cache-Control": "only-if-cached"}).status, 504)
        self.assertEqual(self.source.count(cold), 0)
        self.assertEqual(self.get(cold, Range=several).status, 200)
        self.assertEqual(self.source.count(cold), 1)

    def explained(self, path: str, cache_control: str) -> dict:
        """What the replica would do that is asked."""
        told = explain(self.fronts[0], CLIENTS[0], path, fields={"Cache-Control": cache_control})
        return told["replica"]

    @staticmethod
    def without_boundary(answer) -> bytes:
        """Of several ranges: each answer separates them by other bytes."""
        body = answer if isinstance(answer, bytes) else answer.body
        return body.replace(body[2:].partition(b"\r\n")[0], b"") if body[:2] == b"--" else body

    def test_a_holder_that_was_killed_is_followed_by_the_owner(self):
        paths = self.moved("/lost", 20)
        for path in paths:
            self.get(path)
        asked = self.source.count()
        self.add_replica(*self.fronts)
        self.assertTrue(is_fill(self.get(paths[0])))
        self.old[0].kill()
        for path in paths:
            self.assertEqual(self.get(path).status, 200)
        self.assertEqual(self.source.count(), asked + len(paths) - 1)
        for path in paths:
            self.assertTrue(self.get(path, self.fronts[1]).is_hit)
        failed = self.new.metric("ringside_holder_requests_total", result="failed")
        self.assertEqual(failed, 1, "one wait a holder, and not one a request")
        self.assertEqual(self.new.metric("ringside_holder_fallbacks_total"), 1)

    def test_what_was_purged_does_not_come_back_from_a_holder_that_was_stopped(self):
        path = self.moved("/purged", 1)[0]
        self.source.on[path] = lambda turn: turn.reply(200, b"old")
        self.assertEqual(self.get(path).body, b"old")
        self.add_replica(*self.fronts)
        self.old[0].freeze()
        self.source.on[path] = lambda turn: turn.reply(200, b"new")
        purged = self.fronts[0].ask("PURGE", path, fields={"Host": HOST})
        self.assertEqual(purged.status, 502, purged.text)
        self.assertIn("cache-0", purged.text)
        self.old[0].signal(signal.SIGCONT)
        for front in self.fronts:
            answer = self.get(path, front)
            self.assertEqual((answer.body, answer.replica), (b"new", "cache-3"))

    def test_a_purge_that_is_asked_of_one_replica_alone_reaches_its_peers(self):
        def by_client(path):
            return self.new.ask("PURGE", path, fields={"Host": HOST})

        def by_admin(path):
            return self.new.administer("POST", "/purge", {"url": f"http://{HOST}{path}"})

        def by_prefix(path):
            return self.new.administer("POST", "/purge", {"prefix": f"http://{HOST}{path}"})

        def by_unsafe_method(path):
            return self.new.ask("POST", path, fields={"Host": HOST})

        paths = self.moved("/purged", 5)
        for path in paths:
            self.source.on[path] = lambda turn: turn.reply(200, b"old")
            self.assertEqual(self.get(path).body, b"old")
        self.add_replica(*self.fronts)
        for path, purge in zip(paths, (by_client, by_admin, by_prefix, by_unsafe_method)):
            self.source.on[path] = lambda turn: turn.reply(200, b"new")
            purged = purge(path)
            self.assertEqual(purged.status, 200, purged.text)
            answer = self.get(path)
            self.assertEqual((answer.body, answer.replica), (b"new", "cache-3"))
        self.assertTrue(is_fill(self.get(paths[4])), "what is not purged is asked of its holder")
        self.old[0].freeze()
        purged = by_client(paths[0])
        self.assertEqual((purged.status, "not confirmed by cache-0" in purged.text), (502, True))
        self.old[0].signal(signal.SIGCONT)

    def test_a_holder_that_hangs_costs_one_wait_and_gives_way_when_it_returns(self):
        paths = self.moved("/held", 20)
        for path in paths:
            self.get(path)
        self.add_replica(*self.fronts)
        self.assertTrue(is_fill(self.get(paths[0])))
        self.old[0].freeze()
        answers = each_in_a_thread(self.get, paths)
        self.assertEqual({answer.status for answer in answers}, {200})
        self.old[0].signal(signal.SIGCONT)

        def away() -> bool:
            # What was taken over from it, it does not hold any more.
            return all(is_fill(answer) or answer.is_hit for answer in map(self.get, paths))

        wait_until(away, "the tier to answer from what it has")
        asked = self.source.count()
        for path in paths:
            self.assertTrue(self.get(path).is_hit)
        self.assertEqual(self.source.count(), asked)


if __name__ == "__main__":
    unittest.main()
