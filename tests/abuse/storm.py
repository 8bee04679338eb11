"""Connections that send the same few messages as fast as they are answered, and anew when closed.

Tells of each message how often each status came, 0 where the connection ended instead.
"""

import collections

from support.wire import Wire
from working import specification, tell, work


class Storm:
    def __init__(self, address: str, source: str, messages: list[str]):
        self.address, self.source = address, source
        self.messages = [message.encode("latin-1") for message in messages]
        self.statuses = [collections.Counter() for _ in messages]

    def work(self, worker: int, is_over) -> None:
        wire, number = None, worker
        while not is_over():
            which = number % len(self.messages)
            try:
                wire = wire or Wire(self.address, source=self.source)
                wire.send(self.messages[which])
                answer = wire.answer()
                self.statuses[which][answer.status] += 1
                goes_on = answer.field("Connection") != "close"
            except OSError:
                self.statuses[which][0] += 1
                goes_on = False
            if not goes_on and wire:
                wire.close()
                wire = None
            number += 1
        if wire:
            wire.close()


def main() -> None:
    said = specification()
    connections = said.pop("connections")
    storm = Storm(**said)
    work(storm.work, connections)
    tell(statuses=storm.statuses)


if __name__ == "__main__":
    main()
