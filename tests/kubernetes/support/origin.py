"""python3 -m support.origin ADDRESS PORT LOG: the origin, a process of its own.

Answers each GET with its page, to be kept for an hour, and writes a line to LOG for each request:
time.monotonic(), path, country. The first line of stdout is its port. Ends with its stdin.
"""

import asyncio
import sys
import time
from typing import TextIO

from .pages import page

HEAD_BYTES = 64 * 1024


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, log: TextIO) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.split("\r\n")
            path = first.split(" ")[1]
            fields = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
            country = fields.get("x-country", "").upper()
            log.write(f"{time.monotonic():.6f}\t{path}\t{country}\n")
            log.flush()
            body = page(path, country)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=3600\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
        pass  # the other side has gone, or we end
    finally:
        writer.close()


async def main(address: str, port: str, path: str) -> None:
    with open(path, "a", encoding="ascii") as log:
        server = await asyncio.start_server(
            lambda reader, writer: serve(reader, writer, log), address, int(port), limit=HEAD_BYTES
        )
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
