"""hits.py ADDRESS TARGET PAUSE_S: asks for something stored, again and again, until its input ends.

A process of its own, so that what it measures is not the test's own work. Prints one line of JSON.
"""

import hashlib
import http.client
import json
import select
import sys
import time


def main() -> None:
    address, target, pause_s = sys.argv[1], sys.argv[2], float(sys.argv[3])
    host, port = address.rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    took_s, seen = [], set()
    began = time.monotonic()
    worst_at_s = 0.0
    while not select.select([sys.stdin], [], [], pause_s)[0]:
        asked = time.monotonic()
        connection.request("GET", target, headers={"Host": "a.example"})
        answer = connection.getresponse()
        seen.add((answer.status, hashlib.sha256(answer.read()).hexdigest()))
        took_s.append(time.monotonic() - asked)
        if took_s[-1] == max(took_s):
            worst_at_s = asked - began
    took_s.sort()
    print(
        json.dumps(
            {
                "count": len(took_s),
                "median_ms": 1000 * took_s[len(took_s) // 2],
                "p99_ms": 1000 * took_s[len(took_s) * 99 // 100],
                "worst_ms": 1000 * took_s[-1],
                "worst_at_s": worst_at_s,
                "seen": sorted(seen),
            }
        )
    )


if __name__ == "__main__":
    main()
