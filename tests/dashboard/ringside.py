"""What the end-to-end tests have, for this folder's: the program, tiers, origins."""

import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))

from support import WAIT_S, Client, Tier, each_in_a_thread, ringside, wait_until
from support.memory import is_sanitized
from support.program import BUILD, ROOT, die_with_parent

__all__ = [
    "BUILD",
    "ROOT",
    "WAIT_S",
    "Client",
    "Tier",
    "die_with_parent",
    "each_in_a_thread",
    "is_sanitized",
    "ringside",
    "wait_until",
]
