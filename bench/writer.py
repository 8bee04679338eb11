"""A client that changes what the caches store, while others read."""

import http.client
import threading
import time

EVERY_S = 0.01
SLACK_S = 30


class Writer:
    """Goes on until it is stopped, one request at a time: fetches what nobody has stored, makes it
    invalid by a POST, and fetches it anew. Each answer is the origin's."""

    def __init__(self, port: int, size: int, name: str):
        self._port, self._size, self._name = port, size, name
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self.took_s: list[float] = []
        self.wrong = 0

    def __enter__(self) -> "Writer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def p99_us(self) -> float:
        ordered = sorted(self.took_s)
        return ordered[len(ordered) * 99 // 100] * 1e6 if ordered else 0.0

    def _work(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SLACK_S)
        number = 0
        while not self._over.wait(EVERY_S):
            target = f"/{self._size}/{self._name}-{number // 3}"
            self._ask(connection, "POST" if number % 3 == 1 else "GET", target)
            number += 1
        connection.close()

    def _ask(self, connection: http.client.HTTPConnection, method: str, target: str) -> None:
        begun = time.monotonic()
        try:
            connection.request(method, target)
            answer = connection.getresponse()
            size = len(answer.read())
        except (OSError, http.client.HTTPException):
            connection.close()
            self.wrong += 1
            return
        if (answer.status, size) == ((204, 0) if method == "POST" else (200, self._size)):
            self.took_s.append(time.monotonic() - begun)
        else:
            self.wrong += 1
