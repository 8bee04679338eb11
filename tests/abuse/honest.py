"""Clients that ask for what anybody may and check every answer, while others misuse the tier.

Of their requests most are for few targets, hits after the first time; one in ten is a miss.
Connections are kept for a while and then made anew, so that who is not let in is noticed.
They go on until `enough` has been asked to judge by, however slow the machine is.
"""

import http.client
import time

from support import WAIT_S
from support.origin import Request, page
from working import specification, tell, work

WORKERS = 2
PAUSE_S = 0.002
STORED = 50
MISS_EVERY = 10
REQUESTS_OF_A_CONNECTION = 20
SHOWN = 5


class Honest:
    def __init__(self, address: str, source: str, country: str, enough: int):
        self.host, port = address.rsplit(":", 1)
        self.port, self.source, self.country, self.enough = int(port), source, country, enough
        self.took_s: list[float] = []
        self.took_hits_s: list[float] = []
        self.wrong: list[str] = []
        self.failed: list[str] = []

    def work(self, worker: int, is_over) -> None:
        connection = None
        number = 0
        while not (is_over() and self.has_enough()):
            if number % REQUESTS_OF_A_CONNECTION == 0:
                if connection:
                    connection.close()
                connection = http.client.HTTPConnection(
                    self.host, self.port, WAIT_S, source_address=(self.source, 0)
                )
            is_miss = number % MISS_EVERY == MISS_EVERY - 1
            self.ask(connection, f"/miss/{worker}-{number}" if is_miss else f"/{number % STORED}")
            number += 1
            time.sleep(PAUSE_S)  # as clients do; nothing is waited for
        if connection:
            connection.close()

    def has_enough(self) -> bool:
        return len(self.took_s) + len(self.failed) >= self.enough

    def ask(self, connection: http.client.HTTPConnection, target: str) -> None:
        began = time.monotonic()
        try:
            connection.request("GET", target, headers={"Host": "a.example"})
            answer = connection.getresponse()
            body = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.failed.append(f"{target}: {error!r}")
            connection.close()  # the next request makes another
            return
        self.took_s.append(time.monotonic() - began)
        if "hit" in (answer.getheader("Cache-Status") or ""):
            self.took_hits_s.append(self.took_s[-1])
        if answer.status != 200:
            why = answer.getheader("Proxy-Status")
            self.failed.append(f"{target}: {answer.status} {body[:100]!r}, {why}")
        elif body != page(Request("GET", target, [("X-Country", self.country)], b"", b"")):
            self.wrong.append(f"{target}: {body[:100]!r}")


def main() -> None:
    clients = Honest(**specification())
    work(clients.work, WORKERS)
    took_ms = sorted(1000 * one for one in clients.took_s) or [0.0]
    tell(
        count=len(clients.took_s),
        hits=len(clients.took_hits_s),
        p50_ms=took_ms[len(took_ms) // 2],
        p99_ms=took_ms[len(took_ms) * 99 // 100],
        worst_ms=took_ms[-1],
        worst_hit_ms=1000 * max(clients.took_hits_s, default=0.0),
        wrong=len(clients.wrong),
        failed=len(clients.failed),
        shown=(clients.wrong + clients.failed)[:SHOWN],
    )


if __name__ == "__main__":
    main()
