#!/usr/bin/env python3
"""Writes ring.csv and topology_id.csv beside itself, from the rules alone: none of our C++ runs.

The hashes come from the system's libxxhash. What it writes is pinned: run it to add rows, never to
change one, for a changed row means that every replica's keys move at the next upgrade.
"""
import bisect
import ctypes
import ctypes.util
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
BUCKET_BITS = 14
POINTS_PER_WEIGHT = 160


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash"))
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
xxhash.XXH3_128bits.restype = Hash128
xxhash.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def hash64(data):
    return xxhash.XXH3_64bits(data, len(data))


def hash128_hex(data):
    value = xxhash.XXH3_128bits(data, len(data))
    return f"{value.high:016x}{value.low:016x}"


def shard_key(*values):
    """Each value escaped and ended by a newline."""
    return b"".join(v.encode().replace(b"\\", b"\\\\").replace(b"\n", b"\\\n") + b"\n" for v in values)


def points_of(members):
    return sorted(
        (hash64(name.encode() + b"\0" + str(number).encode()), index)
        for index, (name, weight, _) in enumerate(members)
        for number in range(POINTS_PER_WEIGHT * weight))


def owners(points, bucket, n):
    middle = (bucket << 64 - BUCKET_BITS) + (1 << 63 - BUCKET_BITS)
    start = bisect.bisect_left(points, (middle, 0))
    found = []
    for _, index in points[start:] + points[:start]:
        if index not in found:
            found.append(index)
            if len(found) == n:
                break
    return found


def topology_id(scheme, members):
    """`members` in natural order of their names."""
    u32 = lambda value: value.to_bytes(4, "little")
    text = lambda value: u32(len(value.encode())) + value.encode()
    table = []
    if scheme == "ring" and members:
        points = points_of(members)
        table = [owners(points, bucket, 1)[0] for bucket in range(1 << BUCKET_BITS)]
    form = text(scheme) + u32(len(members))
    form += b"".join(text(name) + u32(weight) + text(zone) for name, weight, zone in members)
    return hash128_hex(form + u32(len(table)) + b"".join(map(u32, table)))


def caches(n):
    return [(f"cache-{i}", 1, "") for i in range(n)]


WEIGHTED = [("cache-0", 1, "a"), ("cache-1", 2, "b"), ("cache-2", 5, "")]


def keys():
    yield from [("ZZ", "/"), ("DE", "/"), ("FR", "/"), ("US", "/index.html"), ("", ""),
                ("DE", "/a\\b"), ("ZZ", "/%D0%BA%D0%BB%D1%8E%D1%87"), ("JP", "/鍵"),
                ("BR", "/" + "x" * 300)]
    dice = random.Random(20)
    for _ in range(491):
        yield dice.choice(["DE", "FR", "US", "JP", "BR", "ZZ"]), f"/page/{dice.randrange(10**6)}.html"


def write_ring():
    rings = {f"n={n}": (caches(n), points_of(caches(n))) for n in (1, 2, 3, 10, 11)}
    rings["weights 1 2 5"] = (WEIGHTED, points_of(WEIGHTED))
    with open(HERE / "ring.csv", "w", encoding="utf-8") as out:
        print("country,path,hash,bucket", *rings, "n=11 in order", sep=",", file=out)
        for country, path in keys():
            key_hash = hash64(shard_key(country, path))
            bucket = key_hash >> 64 - BUCKET_BITS
            row = [members[owners(points, bucket, 1)[0]][0] for members, points in rings.values()]
            members, points = rings["n=11"]
            row.append(" ".join(members[i][0] for i in owners(points, bucket, 11)))
            print(country, path, f"{key_hash:016x}", bucket, *row, sep=",", file=out)


def write_topology_ids():
    with open(HERE / "topology_id.csv", "w", encoding="utf-8") as out:
        print("scheme,members,id", file=out)
        for scheme, members in [
                ("ring", []), ("jedis-ring", []), ("ring", caches(1)), ("ring", caches(3)),
                ("ring", caches(10)), ("ring", caches(11)), ("ring", WEIGHTED),
                ("ring", [("cache-0", 1, "a"), ("cache-1", 1, "a")]),
                ("ring", [("cache-0", 1, "a"), ("cache-1", 1, "b")]),
                ("jedis-ring", caches(11)), ("simple-sha1", caches(11))]:
            text = " ".join(f"{name}/{weight}/{zone}" for name, weight, zone in members)
            print(scheme, text, topology_id(scheme, members), sep=",", file=out)


if __name__ == "__main__":
    write_ring()
    write_topology_ids()
