"""Writes country databases of a few networks (https://maxmind.github.io/MaxMind-DB/)."""

import ipaddress
import os
import pathlib
import time

# Public networks, so that no special-purpose range hides them.
COUNTRIES = {
    "81.2.69.0/24": "GB",
    "53.0.0.0/8": "DE",
    "89.160.20.0/24": "SE",
    "41.0.0.0/11": "ZA",
    "2a02:d280::/32": "CZ",
    "2a02:cf40::/29": "NO",
}

MARKER = b"\xab\xcd\xefMaxMind.com"
UTF8, UINT16, UINT32, MAP, UINT64, ARRAY = 2, 5, 6, 7, 9, 11


def control(kind: int, size: int) -> bytes:
    assert size < 285
    low = min(size, 29)
    head = bytes([kind << 5 | low]) if kind <= 7 else bytes([low, kind - 7])
    return head + (bytes([size - 29]) if low == 29 else b"")


def text(value: str) -> bytes:
    return control(UTF8, len(value)) + value.encode()


def number(kind: int, value: int) -> bytes:
    size = {UINT16: 2, UINT32: 4, UINT64: 8}[kind]
    return control(kind, size) + value.to_bytes(size, "big")


def mapping(**members: bytes) -> bytes:
    return control(MAP, len(members)) + b"".join(text(k) + v for k, v in members.items())


def record(country: str, nested: bool) -> bytes:
    if nested:
        return mapping(country=mapping(iso_code=text(country)))
    return mapping(country_code=text(country))


def build_tree(networks: dict[str, str]) -> list:
    """Nodes of two branches each: the number of a node, a country, or None."""
    nodes = [[None, None]]
    for name, country in sorted(networks.items()):
        network = ipaddress.ip_network(name)
        bits = f"{int(network.network_address):0128b}"  # IPv4 hangs at ::/96
        depth = network.prefixlen + (96 if network.version == 4 else 0)
        at = 0
        for bit in bits[: depth - 1]:
            below = nodes[at][int(bit)]
            assert not isinstance(below, str), f"{name} lies in another network"
            if below is None:
                nodes.append([None, None])
                below = nodes[at][int(bit)] = len(nodes) - 1
            at = below
        nodes[at][int(bits[depth - 1])] = country
    return nodes


def write_mmdb(path: pathlib.Path, networks=None, nested: bool = False) -> pathlib.Path:
    """`nested`: as country.iso_code, else country_code. A file that is there is replaced whole."""
    nodes = build_tree(COUNTRIES if networks is None else networks)
    data, offsets = b"", {}
    for country in sorted({b for node in nodes for b in node if isinstance(b, str)}):
        offsets[country] = len(data)
        data += record(country, nested)

    def branch(value) -> bytes:
        if isinstance(value, str):
            value = len(nodes) + 16 + offsets[value]
        return (len(nodes) if value is None else value).to_bytes(4, "big")

    tree = b"".join(branch(one) + branch(other) for one, other in nodes)
    metadata = mapping(
        node_count=number(UINT32, len(nodes)),
        record_size=number(UINT16, 32),
        ip_version=number(UINT16, 6),
        database_type=text("Ringside-Test-Country"),
        languages=control(ARRAY, 0),
        binary_format_major_version=number(UINT16, 2),
        binary_format_minor_version=number(UINT16, 0),
        build_epoch=number(UINT64, int(time.time())),
        description=mapping(),
    )
    new = path.with_name(path.name + ".new")
    new.write_bytes(tree + bytes(16) + data + MARKER + metadata)
    os.replace(new, path)
    return path
