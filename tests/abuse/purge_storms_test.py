"""Purges and invalidations without a pause, by one who may and by one who may not.

Prints what it measures.
"""

import unittest

from abuse import GREEDY, Abuse
from support import wait_until
from support.wire import request

PURGING = 4
METHODS = ("PURGE", "POST", "FOO")
PAGES = 50  # what honest clients ask for, too
ALL = b'{"all": true}'


def purge_all() -> bytes:
    head = request("POST", "/purge", f"Content-Length: {len(ALL)}")
    return head.replace(b"a.example", b"127.0.0.1") + ALL


class PurgeStorms(Abuse):
    def test_cost_fetches_and_no_answer(self):
        allowed = ("--purge-from", f"{GREEDY}/32")
        front = self.tier(*allowed, of_replicas=allowed)
        honest = self.honest(front)
        pages = [f"/{number}" for number in range(PAGES)]
        messages = [
            request(method, page, "Content-Length: 0") for page in pages for method in METHODS
        ]
        storms = [
            self.storm(front.address, messages, PURGING),
            self.storm(front.admin, [purge_all()], 1),
        ]
        self.watch()
        wait_until(
            lambda: front.metric("ringside_errors_total", source="client", kind="overloaded") > 0,
            "the unknown method to go beyond its rate",
        )
        singly, (wholly,) = map(self.end, storms)
        of_methods = [set().union(*singly[n :: len(METHODS)]) for n in range(len(METHODS))]
        count = sum(one.total() for one in singly)
        self.judge(honest, f"{count} purges and the like, {wholly.total()} purges of all")
        # All are obeyed but those by a method that nobody knows, beyond its rate.
        self.assertEqual(of_methods, [{200}, {200}, {200, 429}])
        self.assertEqual(set(wholly), {200})


if __name__ == "__main__":
    unittest.main()
