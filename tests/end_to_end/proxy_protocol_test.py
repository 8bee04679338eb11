"""The PROXY protocol: who may say it, what is believed of it, and what it costs to get it wrong."""

import socket
import struct
import unittest

from support import Tier
from support.wire import Wire, request

GB, DE = "81.2.69.160", "53.1.2.3"


def v1(client: str) -> bytes:
    family = "TCP6" if ":" in client else "TCP4"
    to = "::1" if ":" in client else "192.0.2.1"
    return f"PROXY {family} {client} {to} 4711 80\r\n".encode()


def v2(client: str, tlvs: bytes = b"", command: int = 1) -> bytes:
    addresses = socket.inet_aton(client) + socket.inet_aton("192.0.2.1")
    rest = addresses + struct.pack("!HH", 4711, 80) + tlvs
    start = b"\r\n\r\n\0\r\nQUIT\n" + bytes([0x20 | command, 0x11])
    return start + struct.pack("!H", len(rest)) + rest


# ALPN, an authority, and 1,000 bytes of padding (NOOP).
TLVS = b"\x01\x00\x02h2" + b"\x02\x00\x06a.test" + b"\x04\x03\xe8" + bytes(1000)


class ProxyProtocol(Tier):
    def setUp(self):
        super().setUp()
        self.source = self.origin()
        self.replica = self.cache("cache-0", self.source)
        # 127.0.0.2 is the load balancer, 127.0.0.1 anybody.
        self.front = self.sidecar(
            [self.replica], "--proxied-from", "127.0.0.2", "--trust", "10.0.0.0/8"
        )

    def say(self, raw: bytes, source: str = "127.0.0.2") -> Wire:
        wire = Wire(self.front.address, source=source)
        self.addCleanup(wire.close)
        wire.send(raw)
        return wire

    def test_the_client_is_whom_the_load_balancer_names(self):
        for name, header, country, client in (
            ("v1", v1(GB), "GB", GB),
            ("v1, IPv6", v1("2a02:d280::1"), "CZ", "2a02:d280::1"),
            ("v2", v2(GB), "GB", GB),
            ("v2 with TLVs", v2(DE, TLVS), "DE", DE),
            ("v2, LOCAL", v2(GB, command=0), "ZZ", "127.0.0.2"),
            ("v1, UNKNOWN", b"PROXY UNKNOWN\r\n", "ZZ", "127.0.0.2"),
        ):
            with self.subTest(name):
                target = f"/{name.replace(' ', '-')}"
                answer = self.say(header + request("GET", target)).answer()
                self.assertEqual(answer.status, 200)
                told = self.source.last()
                self.assertEqual((told.target, told.field("X-Country")), (target, country))
                self.assertEqual(told.field("X-Forwarded-For"), client)

    def test_all_requests_of_the_connection_are_the_clients(self):
        wire = self.say(v1(GB) + request("GET", "/one"))
        self.assertEqual(wire.answer().status, 200)
        wire.send(request("GET", "/two"))
        self.assertEqual(wire.answer().status, 200)
        self.assertEqual(
            [seen.field("X-Forwarded-For") for seen in self.source.seen()], [GB, GB]
        )

    def test_byte_by_byte_it_is_the_same(self):
        for header in (v1(GB), v2(GB, b"\x04\x00\x01x")):
            wire = self.say(b"")
            for at in range(len(header)):
                wire.send(header[at : at + 1])
            wire.send(request("GET", f"/cut/{len(header)}"))
            self.assertEqual(wire.answer().status, 200)
            self.assertEqual(self.source.last().field("X-Forwarded-For"), GB)

    def test_a_client_whom_the_proxy_names_is_trusted_no_more_than_any(self):
        wire = self.say(v1(GB) + request("GET", "/forged", f"X-Forwarded-For: {DE}"))
        self.assertEqual(wire.answer().status, 200)
        self.assertEqual(self.source.last().field("X-Country"), "GB")

    def test_from_others_it_is_no_http(self):
        for header in (v1(GB), v2(GB)):
            answer = self.say(header + request("GET", "/forged"), "127.0.0.1").answer()
            self.assertEqual(answer.status, 400)
        self.assertEqual(self.front.get("/plain").status, 200)
        self.assertEqual(self.source.last().field("X-Forwarded-For"), "127.0.0.1")
        self.assertEqual(self.source.count("/forged"), 0)

    def test_a_load_balancer_without_one_is_closed_without_a_word(self):
        for raw in (
            request("GET", "/forgotten"),
            b"PROXY TCP4 1.2.3.4\r\n" + request("GET", "/forgotten"),
            v2(GB)[:-1] + b"",
            v2(GB, b"\x04\x00\x09x") + request("GET", "/forgotten"),  # a TLV beyond the end
        ):
            wire = self.say(raw)
            wire.end_sending()
            self.assertEqual(wire.read_to_end(), b"")
        self.assertEqual(self.source.count(), 0)


if __name__ == "__main__":
    unittest.main()
