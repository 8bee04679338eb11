#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "tier/buckets.h"
#include "tier/cut_buckets.h"
#include "tier/holdings.h"
#include "tier/membership.h"
#include "tier/takers.h"

namespace ringside::tier {

// What one replica knows of who has the authority over each bucket, and what follows from it. The
// rules:
//
//   1. The authority over a bucket is one replica's: it alone asks the origin. A bucket's taker is
//      the first of its owners that neither drains nor is gone (tier/takers.h). A taker that misses
//      asks the holder, and so does whoever is asked in its place.
//   2. Holdings are heard from each peer, and not remembered beyond the incarnation that told them.
//   3. The taker takes a bucket over when every peer has been heard or cannot be reached, and none
//      that was heard has the authority; twice in a row for each bucket, since one that changed
//      hands between two of them was said to be nobody's. It raises the epoch above all that it has
//      heard of.
//   4. Where two have it (after a partition, or for a moment under different topologies), the
//      higher epoch wins, then the owner in the newest topology, then the name that is first. The
//      loser lets go; what it has stored are mere copies, which the taker is given too. A replica
//      that has heard of a higher epoch, even of an incarnation that has ended, does not believe a
//      lower one: it asks the taker. The taker does when it finds by rule 3 that nobody has the
//      higher one any more. Where the taker cannot be reached, a lower one is better than none.
//   5. A holder gives a bucket to its taker: with the last of what it has stored of it
//      (cache/bucket_moves.h), or at once where it has nothing stored and the taker asks for
//      something of it. It goes on saying that it has the authority, and sends who asks to that
//      one, until it knows that it arrived: at every moment one of the two says it. A gift that the
//      taker does not say it has may be on its way still. So it is taken back first: the taker is
//      told, and does not take it any more. What went without a batch is nobody's then, since it
//      may have been passed on. A taker that can't be reached is told when it can be again.
//   6. Who was a member and may hold something is a leaver: heard and asked like a member until it
//      holds nothing and has no gift of ours to come, or could not be reached for
//      limits::leaver_patience. Those who came after it left hear of it from those who hear it. Its
//      name is its own until a member has it. Whom we gave something is told of from then on:
//      others may not know it yet, or where it is.
//
// A value: time is given, peers are spoken to by who owns it (cache/peer_talk.h). Not thread-safe.
class Authority {
 public:
  Authority(std::string own_name, Incarnation incarnation);

  // The newest membership: peers that came are to be heard, those that went are forgotten. Null, or
  // a scheme that is not by bucket: nobody has the authority over anything, and each asks the
  // origin.
  void follow(const MembershipPointer& membership);
  // This replica leaves: others take what it holds, and it takes nothing any more.
  void drain();
  // Of how many buckets it holds something that another one is to take, and could.
  [[nodiscard]] std::size_t to_be_given() const;

  // --- Where a request for a bucket goes that the store has nothing for.

  enum class Way {
    origin,  // this replica has the authority, or nobody whom it could ask
    holder,  // the peer that has it
    unknown  // not all that may have it have been heard
  };
  struct Direction {
    Way way = Way::origin;
    std::optional<Peer> holder{};
  };
  [[nodiscard]] Direction direction(shard::Bucket bucket) const;
  // Whether this replica may ask the origin for a peer, which asks nobody else.
  [[nodiscard]] bool answers_for(shard::Bucket bucket) const noexcept;

  // Who is to be asked in the place of this replica by who is no peer: it neither has the authority
  // over the bucket nor is to take it. Where it asks nothing more of holders now (`fills` is
  // false), it sends others to the holder of what it is to take, too. Nullopt: it answers itself.
  [[nodiscard]] std::optional<std::string> elsewhere(shard::Bucket bucket, bool fills) const;

  // Whether what is fetched for a bucket may be stored here, for which another one was asked first.
  // `is_filled`: that one gave it. No purge would reach what one stores that is no member and holds
  // nothing. Who was given the bucket meanwhile holds it, member or not.
  [[nodiscard]] bool may_keep(shard::Bucket bucket, bool is_filled) const noexcept {
    if (!takers_.has_any() || takes(bucket) || own_.epochs[bucket] > 0) return true;
    return takers_.has(own_name_) && !is_filled;
  }

  // --- When a peer asks, which has nothing stored.

  struct Other {
    std::string name;  // empty: some other one
    // To the asker, if it is that one; 0: what is stored of it is on its way, or it was taken back.
    Epoch given = 0;
    bool is_undecided = false;  // not all that may have it have been heard; then it has no name
    bool operator==(const Other&) const = default;
  };
  // Who is to answer in our place; nullopt: we are. `is_empty`: nothing is stored here of the
  // bucket, nor under way. Asked again, it says the same again, until a gift is taken back.
  [[nodiscard]] std::optional<Other> other_holder(shard::Bucket bucket, std::string_view asker,
                                                  bool is_empty);
  // The bucket was given to us, its taker as far as the giver knows. Where we know better, its
  // taker asks us next. Who has not heard of a cut gives what was cut of it, too:
  // the giver knows so many buckets. Not for what is_taken_back(). False: it stays with another
  // one, which is known to hold it with a higher epoch.
  bool take(shard::Bucket bucket, Epoch given, std::string_view giver,
            std::size_t known_buckets = shard::bucket_count);

  // The giver has taken back what it gave us in earlier versions of its holdings (rule 5): what we
  // have not taken yet, we do not take any more.
  void hear_of_taking_back(std::string_view giver, const HoldingsVersion& since);
  // Whether that may be so of what it gave in this version. Who does not know the giver any more
  // may not know that either.
  [[nodiscard]] bool is_taken_back(std::string_view giver,
                                   const HoldingsVersion& given) const noexcept;

  // --- When buckets move (cache/bucket_moves.h).

  // What is stored here of buckets that are neither held here nor to be taken are copies, however
  // they came here: with a batch of which the rest went elsewhere, or with a fetch that ended late.
  // True: there are some that were not known.
  bool note_strays(const std::function<bool(shard::Bucket)>& is_stored);

  // Who holds something that this replica is to take.
  [[nodiscard]] std::vector<Peer> givers() const;
  // The buckets of which `taker` is to have what is stored here.
  [[nodiscard]] std::vector<shard::Bucket> to_give(std::string_view taker) const;
  // It is given the bucket; nullopt: it is not the taker, or another one was before it.
  struct Gift {
    Epoch epoch = 0;                                  // 0: there are mere copies here
    bool is_new = false;                              // nobody was told of it yet
    std::size_t known_buckets = shard::bucket_count;  // by who gives it
  };
  [[nodiscard]] std::optional<Gift> give(shard::Bucket bucket, std::string_view taker);
  // It is not, after all. For a new gift that nobody was told of.
  void withdraw(shard::Bucket bucket) { given_.erase(bucket); }
  // It has what it was given: it holds the bucket, and what is stored here are copies. False: the
  // gift was forgotten meanwhile. Then the bucket is ours, with all that is stored of it, until we
  // hear that the taker has it with a higher epoch.
  [[nodiscard]] bool given_over(shard::Bucket bucket, std::string_view taker);
  // Nothing is left here of a bucket that another one holds.
  void emptied(shard::Bucket bucket);

  // --- What peers say.

  // `told`: the version of our holdings that it knows since.
  void heard(std::string_view peer, Holdings holdings, const HoldingsVersion& told,
             SteadyPoint now);
  // It has said that it still holds what it held.
  void heard_again(std::string_view peer, const HoldingsVersion& told, SteadyPoint now);
  // With its answer: whether it knows of us.
  void heard_of_us(std::string_view peer, bool knows_us);
  // This replica is no member, and everybody whom it hears has forgotten it and was told since what
  // it holds: what it stored too late, or was given when nobody expected it any more, nobody takes,
  // and no purge reaches.
  [[nodiscard]] bool is_forgotten() const noexcept;
  // It holds nothing any more, and what is stored here is nobody's. False: it held nothing before.
  bool give_up();
  // It did not answer. Where nothing listens there (`is_gone`) it can't be reached; else, or where
  // it has talked to us meanwhile, it is asked once more, and for limits::unreachable_after at
  // least, before it counts as such.
  void failed(std::string_view peer, bool is_gone, SteadyPoint now);
  // It has told its version: asked again if that is another than the one that was heard, or if it
  // could not be reached.
  void hint(std::string_view peer, const HoldingsVersion& version);
  // It does not do what its holdings promise: it counts for nothing until it was heard anew.
  void doubt(std::string_view peer);
  // It says that it does not have the bucket: in doubt where it had said that it does; else it is
  // asked whether that is news.
  void denies(std::string_view peer, shard::Bucket bucket);
  // It is slow: it is asked whether it is there.
  void suspect(std::string_view peer);
  // Where this replica drains: so are all that are to take something. One that has ended meanwhile
  // asks for nothing, and nobody would notice.
  void suspect_takers();
  [[nodiscard]] bool is_unreachable(std::string_view peer) const noexcept;
  // Whether it has the authority over the bucket, by what was heard of it.
  [[nodiscard]] bool has_said_to_hold(std::string_view peer, shard::Bucket bucket) const noexcept {
    const Known* const known = find(peer);
    return known != nullptr && known->holdings.epoch(bucket) > 0;
  }
  // Whether it is a member or a leaver.
  [[nodiscard]] bool knows(std::string_view peer) const noexcept { return find(peer) != nullptr; }
  // It is about to end.
  [[nodiscard]] bool is_draining(std::string_view peer) const noexcept;
  // Nullopt: there is none of that name, or it can't be reached.
  [[nodiscard]] std::optional<Peer> peer(std::string_view name) const;
  [[nodiscard]] bool has_peers() const noexcept { return !peers_.empty(); }
  // Who can be reached: leavers, or all.
  enum class Among { leavers, all };
  [[nodiscard]] std::vector<Peer> reachable(Among among) const;
  // The names of those who can't be.
  [[nodiscard]] std::vector<std::string> unreachable() const;

  // --- Whom to ask for their holdings, telling them of our own.

  struct Call {
    Peer peer;
    HoldingsVersion known;            // of its holdings
    HoldingsVersion own;              // that it is told
    std::uint64_t taken_back_in = 0;  // what it was given before this version of ours; 0: nothing
  };
  // Those that are due, each of which counts as asked until one of the above tells how it went.
  [[nodiscard]] std::vector<Call> take_due(SteadyPoint now);
  // When the next one is due; nullopt: nobody, until something happens.
  [[nodiscard]] std::optional<SteadyPoint> next_due() const noexcept;

  [[nodiscard]] const Holdings& own() const noexcept { return own_; }
  // How many buckets this replica is to take that another one holds.
  [[nodiscard]] std::size_t away() const noexcept;
  // How many may hold something and have not answered yet.
  [[nodiscard]] std::size_t unheard() const noexcept;

 private:
  enum class State { unheard, heard, unreachable };
  struct Known {
    Peer peer;
    State state = State::unheard;
    Holdings holdings;              // of the incarnation that was heard last
    std::size_t known_buckets = 0;  // that these speak of, those that were cut since among them
    HoldingsVersion told;           // our version that it knows
    bool is_wanted = false;         // to be asked though it was heard
    unsigned asked_in = 0;          // the round in which it was asked last
    unsigned heard_in = 0;          // likewise, and has answered
    bool is_asked = false;          // at this moment
    bool is_doubted = false;        // since it was asked: what it answers was said before
    bool has_talked = false;        // since it was asked: it is there, whatever we hear of it
    Incarnation waited_for = 0;     // that talked when it was unreachable, and was not heard since
    bool is_by_hearsay = false;     // a peer has told its address, and our source has not yet
    bool is_leaver = false;
    bool was_given = false;           // something, by us
    std::uint64_t taken_back_in = 0;  // what it was given before this version of ours; 0: nothing
    HoldingsVersion gives_since;      // what it gave in earlier versions than this, it took back
    bool was_heard_since = false;     // since it left
    bool was_heard = false;           // ever
    bool has_forgotten_us = false;
    unsigned failures = 0;  // in a row
    SteadyPoint failing_since{};
    SteadyPoint not_before{};
  };

  [[nodiscard]] Known* find(std::string_view peer) noexcept;
  [[nodiscard]] const Known* find(std::string_view peer) const noexcept;
  void renumber(const MembershipPointer& before);
  bool take_one(shard::Bucket bucket, Epoch given, std::string_view giver);
  void keep_leavers(std::vector<Known> before);
  void forget_leavers(SteadyPoint now);
  void choose_takers();
  [[nodiscard]] bool takes(shard::Bucket bucket) const noexcept {
    return takers_.is(own_name_, bucket);
  }
  void let_go(shard::Bucket bucket);
  // Whether more belongs to the bucket as it knows it than as we do.
  [[nodiscard]] bool is_wider_for(const Known& known, shard::Bucket bucket) const;
  void note_gift(std::string_view taker);
  [[nodiscard]] bool is_given_any(std::string_view taker) const;
  void hear_former_takers();
  void drop_gifts_to_nowhere();
  [[nodiscard]] Known new_known() const;
  void hear_of_leavers(const std::vector<Peer>& leavers);
  void tell_of_leavers();
  [[nodiscard]] const Known* holder_of(shard::Bucket bucket,
                                       bool even_lower = false) const noexcept;
  [[nodiscard]] bool is_due(const Known& known) const noexcept;
  [[nodiscard]] bool wins(const Known& known, shard::Bucket bucket) const noexcept;
  [[nodiscard]] bool comes_first(const std::string& name, const std::string& other,
                                 shard::Bucket bucket) const;
  void look_at_gifts(Known& known, SteadyPoint now);
  void settle();
  [[nodiscard]] bool is_unclaimed(shard::Bucket bucket) const noexcept;
  [[nodiscard]] bool has_unclaimed() const noexcept;
  void begin_round();
  void yield_to(const Known& known);

  std::string own_name_;
  Takers takers_;
  std::vector<shard::Bucket> ours_;  // that we are the taker of
  std::vector<Known> peers_;         // in the membership's order, then leavers
  std::vector<Epoch> highest_;       // that was heard of, by bucket
  std::vector<Epoch> ended_;         // the highest when we found that nobody has it any more
  Holdings own_;
  unsigned round_ = 0;  // of hearing all; the present one
  // What it is for: of ours, nobody's when it began and ever since. Empty: there is no round.
  std::vector<shard::Bucket> unclaimed_;
  struct Given {
    std::string to;                   // who has not said yet that it has it
    std::uint64_t taken_back_in = 0;  // in this version of ours; 0: it has not been
    bool is_all_there = false;        // there was nothing to send along
    unsigned heard_without = 0;       // how often it was heard since, and did not say so
    SteadyPoint without_since{};      // when that was the first time
  };
  std::map<shard::Bucket, Given> given_;
  std::uint64_t taken_back_in_ = 0;  // the version of ours in which a gift last was
};

}  // namespace ringside::tier
