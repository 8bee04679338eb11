"""slow_origin.py PORT: what nginx as an origin cannot give. A process of its own, behind it.

GET /slow/anything is 1 KiB that may be stored, DELAY_S after it was asked for. GET /echo becomes a
WebSocket (RFC 6455) that sends back what came, byte for byte. Nothing here is checked: only
bench/run asks, through the servers under test.
"""

import asyncio
import base64
import hashlib
import sys

DELAY_S = 0.2
BODY = b"ringside" * 128
SLOW = (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nCache-Control: max-age=3600\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY))
GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def accepted(head: bytes) -> bytes:
    """The answer that opens the WebSocket which this head asks for."""
    key = next(line for line in head.split(b"\r\n")
               if line.lower().startswith(b"sec-websocket-key"))
    proof = base64.b64encode(hashlib.sha1(key.partition(b":")[2].strip() + GUID).digest())
    return (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + proof + b"\r\n\r\n")


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if b" /echo " in head.partition(b"\r\n")[0]:
                break
            await asyncio.sleep(DELAY_S)
            writer.write(SLOW)
        writer.write(accepted(head))
        while bytes_ := await reader.read(65536):
            writer.write(bytes_)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]), backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
