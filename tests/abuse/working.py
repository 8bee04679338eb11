"""What programs beside a test are made of: workers, until the input ends."""

import json
import sys
import threading


def work(worker, count: int) -> None:
    """Runs worker(number, is_over) in `count` threads; `is_over` tells when they are to end."""
    over = threading.Event()
    workers = [threading.Thread(target=worker, args=(n, over.is_set)) for n in range(count)]
    for one in workers:
        one.start()
    sys.stdin.read()
    over.set()
    for one in workers:
        one.join()


def specification() -> dict:
    return json.loads(sys.stdin.readline())


def tell(**figures) -> None:
    print(json.dumps(figures))
