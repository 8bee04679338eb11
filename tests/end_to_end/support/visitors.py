"""Clients of five countries, who go on asking while a tier changes."""

import concurrent.futures
import dataclasses
import http.client
import itertools
import threading

from .client import Client, Response, each_in_a_thread
from .origin import page_for

COUNTRY_OF = {
    "81.2.69.160": "GB",
    "53.1.2.3": "DE",
    "89.160.20.1": "SE",
    "41.0.0.1": "ZA",
    "2a02:d280::7": "CZ",
}
CLIENTS = tuple(COUNTRY_OF)
HOST = "www.example.com"
THREADS = 4
BROKEN_OFF = 0  # in the place of a status: the answer did not end


@dataclasses.dataclass(frozen=True)
class Visit:
    """A client asks for a page, and `body` is the right answer; empty: what the origin gives of itself."""

    target: str
    client: str
    body: bytes = b""
    language: str = ""

    def make(self, client: Client) -> Response:
        fields = {"Accept_Language": self.language} if self.language else {}
        return client.get(self.target, self.client, Host=HOST, **fields)

    def is_right(self, answer: Response) -> bool:
        right = self.body or page_for(COUNTRY_OF[self.client], self.target)
        return answer.status == 200 and answer.body == right


def wrong_visits(address: str, visits: list[Visit]) -> list[tuple[Visit, int]]:
    """Makes each once: those that were not answered right, with their statuses."""

    def work(thread: int) -> list:
        with Client(address) as client:
            answers = [(visit, visit.make(client)) for visit in visits[thread::THREADS]]
        return [(visit, answer.status) for visit, answer in answers if not visit.is_right(answer)]

    return list(itertools.chain(*each_in_a_thread(work, range(THREADS), THREADS)))


class Visitors:
    """One at each sidecar, who goes on making the visits, and asks each time for a page that nobody
    has asked for yet, below `cold`."""

    def __init__(self, fronts, visits: list[Visit], cold: str = "/cold"):
        self._over = threading.Event()
        self._visits = visits
        self._cold = cold
        self._pool = concurrent.futures.ThreadPoolExecutor(len(fronts))
        self._working = [self._pool.submit(self._work, front.address) for front in fronts]

    def _work(self, address: str) -> tuple[list[Visit], list[tuple[Visit, int]]]:
        cold, wrong = [], []
        with Client(address) as client:
            while not self._over.is_set():
                number = len(cold)
                cold.append(Visit(f"{self._cold}/{number}", CLIENTS[number % len(CLIENTS)]))
                for visit in (self._visits[number * 7 % len(self._visits)], cold[-1]):
                    try:
                        answer = visit.make(client)
                    except (http.client.HTTPException, OSError):
                        client.close()  # the next request opens another connection
                        wrong.append((visit, BROKEN_OFF))
                        continue
                    if not visit.is_right(answer):
                        wrong.append((visit, answer.status))
        return cold, wrong

    def _end(self) -> list[tuple[list[Visit], list[tuple[Visit, int]]]]:
        self._over.set()
        self._pool.shutdown()
        return [one.result() for one in self._working]

    def end(self) -> list[tuple[Visit, int]]:
        """The visits that were not answered right, with their statuses."""
        return list(itertools.chain(*(wrong for _, wrong in self._end())))

    def cold_visits(self) -> list[Visit]:
        """Ends, too: what was asked for that nobody had asked for."""
        return max((cold for cold, _ in self._end()), key=len)
