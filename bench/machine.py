"""Where things run, and one deployment: the servers that stand in one row of the table."""

import dataclasses
import pathlib

from cases import Case
from processes import Group


@dataclasses.dataclass
class Machine:
    """The servers under test run on one core, wrk and the origin on the other."""

    tested_core: int
    load_core: int
    directory: pathlib.Path
    programs: dict[str, str]  # by the server's name; those that are there
    replicas: int
    shard_key: str
    origin: int = 0  # its port
    origin_group: Group = dataclasses.field(default_factory=Group)


@dataclasses.dataclass(frozen=True)
class Key:
    """What tells deployments apart: cases with the same one are measured at the same processes."""

    server: str
    shape: str
    size: int  # of the bodies, so that the memory shown is for them
    many: bool = False  # room for more than a few hundred connections
    memory: str = "1G"  # of each cache
    canned: tuple[str, ...] = ()  # the floor: what it answers


@dataclasses.dataclass
class Deployment:
    key: Key
    name: str  # of its files
    group: Group
    port: int = 0
    clients: int = 0  # so many connections it has to have room for
    warmed: bool = False


def key_of(server: str, case: Case) -> Key:
    shape = case.shape
    canned: tuple[str, ...] = ()
    if server == "floor":
        shape = "one" if shape == "near" else shape
        # A miss has to ask the origin: its floor is a relay.
        canned = (("origin",) if case.misses == 1 and shape == "one" else
                  (str(case.answer_bytes()), str(case.status), case.manner))
    elif shape == "near" and server not in ("ringside", "other"):
        shape = "two"
    memory = "4G" if case.kind == "fill" else "1G"
    return Key(server, shape, case.size, case.connections > 1000, memory, canned)
