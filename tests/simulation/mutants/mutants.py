#!/usr/bin/env python3
"""python3 mutants.py SOURCES OUT: the handoff's sources with wrong decisions in them, for a test build.

Each mutant is a switch (mutants.h): where it is chosen, the code does what stands here in the place
of what it does. Its scene (handoff_scenes.cc) must object within so many seeds, which
handoff_mutant_test.cc sees to. Writes a copy of each source, and rows.inc, the table of them all. An
edit whose text is not found exactly once in its source is an error: it has to follow the code.
"""

import collections
import dataclasses
import pathlib
import sys


@dataclasses.dataclass(frozen=True)
class Edit:
    source: str
    text: str
    mutated: str  # MUTANT: it is chosen


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    scene: str
    seeds: int
    edits: tuple[Edit, ...]


AUTHORITY, TALK = "tier/authority.cc", "tier/authority_talk.cc"
FOLLOW = "tier/authority_follow.cc"
SOURCE, MOVES = "cache/bucket_source.cc", "cache/bucket_moves.cc"
HOLDER, HANDLER = "cache/holder.cc", "cache/handler.cc"
BUCKETS = "cache/handler_buckets.cc"
RELAY, STORE = "cache/purge_relay.cc", "cache/store.cc"

MUTANTS = (
    Mutant(
        "PurgesThatABatchMissedAreIgnored",
        "LeaverMissedAPurge",
        100,
        (
            Edit(
                MOVES,
                "core_.shared.purges.use_if_done(batch.purges_done, core_.core.steady_now(), "
                "restore_all);",
                "MUTANT ? (restore_all(), true) : core_.shared.purges.use_if_done("
                "batch.purges_done, core_.core.steady_now(), restore_all);",
            ),
        ),
    ),
    Mutant(
        "PurgesThatAFillMissedAreIgnored",
        "LeaverMissedAPurge",
        100,
        (
            Edit(
                HOLDER,
                "if (!tier::are_done(begun, done)) {",
                "if (!MUTANT && !tier::are_done(begun, done)) {",
            ),
        ),
    ),
    Mutant(
        "NobodyWaitsForAHolderToHearOfAPurge",
        "OthersAreFilledBesideAPurge",
        200,
        (
            Edit(
                HOLDER,
                "is_behind_ = is_waited_for && now < purges_patience_;",
                "is_behind_ = !MUTANT && is_waited_for && now < purges_patience_;",
            ),
        ),
    ),
    Mutant(
        "ABucketIsGivenOverBeforeTheTakerSaysThatItHasIt",
        "NewcomerDies",
        100,
        (
            Edit(
                SOURCE,
                "Answer answer{make_batch(giving, taker, now), giving.serial, left_out};",
                "Answer answer{make_batch(giving, taker, now), giving.serial, left_out};"
                "if (MUTANT) { note_arrival(giving, taker); remove_some(giving, taker); }",
            ),
        ),
    ),
    Mutant(
        "HoldingsOfAnOldIncarnationAreBelieved",
        "AnyCrashesAndComesBack",
        100,
        (
            Edit(
                TALK,
                "known->holdings = std::move(holdings);",
                "if (!MUTANT || known->holdings.version.incarnation == 0) "
                "known->holdings = std::move(holdings);",
            ),
        ),
    ),
    Mutant(
        "WhoIsAskedByAPeerAsksOn",
        "SlicesMove",
        100,
        (
            Edit(HANDLER, "if (fetches_for_bucket(decision)) {",
                 "if (!(MUTANT && context.fills_peer) && fetches_for_bucket(decision)) {"),
            Edit(HOLDER, "if (context.fills_peer) {", "if (!MUTANT && context.fills_peer) {"),
        ),
    ),
    Mutant(
        "WhoIsNotKnownStoresWhatItIsGiven",
        "NewcomerIsNotKnownYet",
        20,
        (
            Edit(
                HOLDER,
                "notes_.is_passing = head.fields.has(http::internal::unknown_asker);",
                "notes_.is_passing = !MUTANT && head.fields.has(http::internal::unknown_asker);",
            ),
        ),
    ),
    Mutant(
        "WhoIsAskedAfterAnotherRefusesAllTheSame",
        "ChangesOverlap",
        100,
        (
            Edit(
                BUCKETS,
                "if (fields.has(http::internal::instead_of)) return std::nullopt;",
                "if (!MUTANT && fields.has(http::internal::instead_of)) return std::nullopt;",
            ),
        ),
    ),
    Mutant(
        "AMoveMakesYoung",
        "GrowsAfterAWhile",
        100,
        (
            Edit(
                "cache/moved_response.cc",
                "freshness.received = asked - Milliseconds(static_cast<std::int64_t>"
                "(numbers[Number::kept_ms]));",
                "freshness.received = MUTANT ? asked : asked - Milliseconds("
                "static_cast<std::int64_t>(numbers[Number::kept_ms]));",
            ),
        ),
    ),
    Mutant(
        "LeaversAreForgotten",
        "Shrinks",
        100,
        (
            Edit(
                FOLLOW,
                "if (!is_there || known.peer.name == own_name_) continue;",
                "if (MUTANT || !is_there || known.peer.name == own_name_) continue;",
            ),
        ),
    ),
    Mutant(
        "ABucketIsTakenOverAtTheFirstLook",
        "ChangesOverlap",
        200,
        (
            Edit(
                AUTHORITY,
                "if (known.state == State::heard && known.heard_in != round_) return;",
                "if (!MUTANT && known.state == State::heard && known.heard_in != round_) return;",
            ),
        ),
    ),
    Mutant(
        "WhoDrainsIsGivenTo",
        "RestartsOneAfterTheOther",
        20,
        (
            Edit(
                FOLLOW,
                "return is_gone || known->holdings.is_draining;",
                "return is_gone || (!MUTANT && known->holdings.is_draining);",
            ),
        ),
    ),
    Mutant(
        "ABucketIsGivenWhileSomethingOfItIsFetched",
        "ColdRequestsAreInFlight",
        100,
        (
            Edit(
                SOURCE,
                "const bool is_busy = flights_.size() > 0",
                "const bool is_busy = !MUTANT && flights_.size() > 0",
            ),
        ),
    ),
    Mutant(
        "WhatLiesWhereNobodyLooksIsForgotten",
        "ChangesOverlap",
        100,
        (
            Edit(
                AUTHORITY,
                "if (!is_stored(bucket) || own_.has(bucket) || takes(bucket)) continue;",
                "if (MUTANT || !is_stored(bucket) || own_.has(bucket) || takes(bucket)) continue;",
            ),
        ),
    ),
    Mutant(
        "WhoMissesAsksTheOriginAtOnce",
        "Grows",
        20,
        (
            Edit(
                HOLDER,
                "if (!bucket || holders.answers_for(*bucket)) co_return nullptr;",
                "if (MUTANT || !bucket || holders.answers_for(*bucket)) co_return nullptr;",
            ),
        ),
    ),
    Mutant(
        "ABucketIsGivenToWhoIsNowhere",
        "NewcomerIsAwaited",
        100,
        (
            Edit(
                AUTHORITY,
                "if (is_unreachable(taker)) return std::nullopt;",
                "if (!MUTANT && is_unreachable(taker)) return std::nullopt;",
            ),
            # One more that keeps what may have died with its taker.
            Edit(
                SOURCE,
                "std::erase_if(giving.arrived,",
                "if (!MUTANT) std::erase_if(giving.arrived,",
            ),
        ),
    ),
    Mutant(
        "WhatWasGivenInVainIsRemoved",
        "WeightsChange",
        500,
        (
            Edit(
                SOURCE,
                "return !authority.given_over(given->bucket, taker);",
                "return !authority.given_over(given->bucket, taker) && !MUTANT;",
            ),
            Edit(
                SOURCE,
                "return !holders_.may_remove(arrived->bucket, taker);",
                "return !holders_.may_remove(arrived->bucket, taker) && !MUTANT;",
            ),
            # Two more that keep what has come back.
            Edit(
                STORE,
                "if (is_later) note_change(stripe, row);",
                "if (is_later && !MUTANT) note_change(stripe, row);",
            ),
            Edit(
                STORE,
                "note_change(stripe, row);  // as in holds_later",
                "if (!MUTANT) note_change(stripe, row);  // as in holds_later",
            ),
        ),
    ),
    Mutant(
        "WhatAPurgeKeepsOutOfTheStoreCountsAsKept",
        "PagesChangeMeanwhile",
        100,
        (
            Edit(
                MOVES,
                "const bool is_stored = store.purge_count() == batch.purges_seen;",
                "const bool is_stored = MUTANT || store.purge_count() == batch.purges_seen;",
            ),
        ),
    ),
    Mutant(
        "ANumberIsToldToLeaversAlone",
        "UnsafeMethodsInMidMove",
        100,
        (
            Edit(
                RELAY,
                "return is_of_our_topology(transaction) && "
                "transaction.settings->membership->size() > 1;",
                "return !MUTANT && is_of_our_topology(transaction) && "
                "transaction.settings->membership->size() > 1;",
            ),
            Edit(
                RELAY,
                "const Holders::Peers peers = core.shared.holders.peers();",
                "Holders::Peers peers = core.shared.holders.peers();\n"
                "  if (MUTANT) peers.reachable = core.shared.holders.reachable(Among::leavers);",
            ),
        ),
    ),
    Mutant(
        "WhoMissesAReplicasPurgeIsNotTold",
        "OneMissesWhatAnotherIsAsked",
        100,
        (
            Edit(
                RELAY,
                "for (const std::string& name : missing) core.shared.own_purges.missed(name);",
                "for (const std::string& name : missing) {\n"
                "    if (!MUTANT) core.shared.own_purges.missed(name);\n"
                "  }",
            ),
        ),
    ),
    Mutant(
        "ABucketIsTakenBeforeWhatIsStoredOfItHasCome",
        "NewPagesInMovingBuckets",
        100,
        (
            Edit(
                AUTHORITY,
                "to == asker && given->second.is_all_there && given->second.taken_back_in == 0;",
                "to == asker && (MUTANT || given->second.is_all_there) "
                "&& given->second.taken_back_in == 0;",
            ),
        ),
    ),
    Mutant(
        "AGiverGoesOnAnswering",
        "Grows",
        20,
        (
            Edit(
                AUTHORITY,
                "(own_.epochs[bucket] > 0 && !given_.contains(bucket))",
                "(own_.epochs[bucket] > 0 && (MUTANT || !given_.contains(bucket)))",
            ),
        ),
    ),
    Mutant(
        "SlicesHaveNoBucket",
        "SlicesMove",
        20,
        (
            Edit(
                "cache/cache_key.cc",
                "key.bucket = object.bucket;",
                "if (!MUTANT) key.bucket = object.bucket;",
            ),
        ),
    ),
)


def switch(number: int) -> str:
    return f"::ringside::simulation::is_chosen({number})"


def mutated(text: str, edits: list[tuple[int, Edit]]) -> str:
    for number, edit in edits:
        if text.count(edit.text) != 1:
            name = MUTANTS[number].name
            sys.exit(f"mutants.py: {name}: not once in {edit.source}: {edit.text}")
        text = text.replace(edit.text, edit.mutated.replace("MUTANT", switch(number)))
    return '#include "tests/simulation/mutants/mutants.h"\n' + text


def main(sources: pathlib.Path, out: pathlib.Path) -> None:
    by_source = collections.defaultdict(list)
    for number, mutant in enumerate(MUTANTS):
        for edit in mutant.edits:
            by_source[edit.source].append((number, edit))
    out.mkdir(parents=True, exist_ok=True)
    for source, edits in by_source.items():
        text = mutated((sources / source).read_text(), edits)
        (out / pathlib.Path(source).name).write_text(text)
    rows = (
        f'{{{number}, "{one.name}", "{one.scene}", {one.seeds}}},\n'
        for number, one in enumerate(MUTANTS)
    )
    (out / "rows.inc").write_text("".join(rows))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
