"""python3 -m support.generator LOG RATE CONNECTIONS PATHS FRONT…: the clients, in one process.

They ask for every path of every country once, then for random ones, RATE a second however long the
answers take, until stdin ends. A request that gets no answer or a wrong one is not repeated: it has
failed. LOG has a line for each, see records.py; the body must be the page of its path and country.
"""

import asyncio
import itertools
import random
import sys
import time
from collections.abc import Iterator
from typing import TextIO

from .pages import COUNTRIES, page

ANSWER_S = 15
WAITING_MOST = 5000  # requests that are due and have no connection yet


class Wrong(Exception):
    """An answer that is none, or not to what was asked."""


class Connection:
    """To one front, opened when it is needed."""

    def __init__(self, front: str):
        self.front = front
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(self, path: str, client: str) -> tuple[int, str]:
        """(status, Cache-Status); raises Wrong or what the connection did."""
        try:
            if self._writer is None:
                host, port = self.front.rsplit(":", 1)
                self._reader, self._writer = await asyncio.open_connection(host, int(port))
            head = f"GET {path} HTTP/1.1\r\nHost: shop.example\r\nX-Forwarded-For: {client}\r\n\r\n"
            self._writer.write(head.encode())
            return await self._answer(path, client)
        except BaseException:
            self.close()
            raise

    async def _answer(self, path: str, client: str) -> tuple[int, str]:
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        fields = {}
        for line in lines:
            if ": " in line:
                name, value = line.split(": ", 1)
                fields[name.lower()] = value
        status = int(first.split(" ")[1])
        body = await self._reader.readexactly(int(fields["content-length"]))
        if fields.get("connection", "").lower() == "close":
            self.close()
        if status == 200 and body != page(path, COUNTRIES[client]):
            raise Wrong(f"the body is not of {path} for {COUNTRIES[client]}: {body[:60]!r}")
        return status, fields.get("cache-status", "")

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


def wishes(paths: int) -> Iterator[tuple[str, str]]:
    """(path, client): all of them once, in a random order that is always the same, then any."""
    chance = random.Random(7)
    names = [f"/articles/{number}" for number in range(paths)]
    everything = list(itertools.product(names, COUNTRIES))
    yield from chance.sample(everything, len(everything))
    while True:
        yield chance.choice(everything)


def write(
    log: TextIO,
    start: float,
    front: str,
    path: str,
    client: str,
    status: int = 0,
    cache_status: str = "",
    trouble: str = "",
) -> None:
    times = (f"{start:.6f}", f"{time.monotonic():.6f}")
    line = (*times, front, path, COUNTRIES[client], str(status), cache_status, trouble)
    log.write("\t".join(line) + "\n")


async def work(front: str, due: asyncio.Queue, log: TextIO) -> None:
    connection = Connection(front)
    while True:
        path, client = await due.get()
        start, status, cache_status, trouble = time.monotonic(), 0, "", ""
        try:
            status, cache_status = await asyncio.wait_for(connection.ask(path, client), ANSWER_S)
        except (Wrong, OSError, EOFError, ValueError, KeyError, TimeoutError) as error:
            trouble = f"{type(error).__name__} {error}".replace("\n", " ").replace("\t", " ")
        write(log, start, front, path, client, status, cache_status, trouble)


async def send(rate: float, paths: int, due: asyncio.Queue, log: TextIO) -> None:
    begin = time.monotonic()
    for number, wish in enumerate(wishes(paths)):
        while (wait_s := begin + number / rate - time.monotonic()) > 0:
            log.flush()
            await asyncio.sleep(wait_s)
        try:
            due.put_nowait(wish)
        except asyncio.QueueFull:
            write(log, time.monotonic(), "", *wish, trouble="no connection is free for it")


async def main(path: str, rate: str, connections: str, paths: str, *fronts: str) -> None:
    with open(path, "a", encoding="utf-8") as log:
        due: asyncio.Queue = asyncio.Queue(WAITING_MOST)
        workers = [
            asyncio.create_task(work(front, due, log))
            for _, front in zip(range(int(connections)), itertools.cycle(fronts))
        ]
        sender = asyncio.create_task(send(float(rate), int(paths), due, log))
        ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        await asyncio.wait([sender, *workers, ended], return_when=asyncio.FIRST_COMPLETED)
        for task in (sender, *workers):
            if task.done():
                task.result()  # a mistake of ours is not swallowed
        sender.cancel()
        while not due.empty():
            due.get_nowait()
        await asyncio.sleep(1)  # what is on its way
        for task in workers:
            task.cancel()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
