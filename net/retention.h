// What a directed stream keeps: the sender every frame until it is acknowledged or nobody needs it
// any more, the receiver the last sequence number of each sender. Pure: no socket, clock or bytes.
#ifndef NET_RETENTION_H_
#define NET_RETENTION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace bspnow {

/// To whom a retained frame belongs, and how much it is.
struct RetainedFrame {
  JobId job{};
  Epoch epoch{};
  GroupId group = kRootGroup;
  Superstep superstep{};
  std::uint64_t bytes = 0;
  std::uint64_t sequence = 0;  ///< Given by Retention.
};

/// The sender's side. Numbers frames from 1, which are sent in this order; on each new connection
/// sending starts again after the last frame that the receiver has. Invariant: frames_ ascends by
/// sequence, with gaps where some were removed, and holds nothing that was acknowledged.
class Retention {
 public:
  /// Keeps the frame, to be sent. Returns its sequence.
  std::uint64_t Add(RetainedFrame frame);

  /// The next frame to send on this connection, if there is one.
  std::optional<RetainedFrame> NextToSend() const;

  /// The next frame goes out. True if it does so for the first time.
  bool Sent();

  /// The receiver has all up to `sequence`: removes and returns them. Nothing, and no change, if
  /// `sequence` was never sent: the peer lies.
  std::optional<std::vector<RetainedFrame>> OnAck(std::uint64_t sequence);

  /// As OnAck, on a new connection: everything else goes out (again).
  std::optional<std::vector<RetainedFrame>> OnWelcome(std::uint64_t sequence);

  /// Removes frames that nobody waits for any more, and returns them. PruneTo: those of the group
  /// up to that superstep, and all of older epochs.
  std::vector<RetainedFrame> PruneTo(JobId job, Epoch epoch, GroupId group, Superstep superstep);
  std::vector<RetainedFrame> DropGroup(JobId job, GroupId group);
  std::vector<RetainedFrame> Drop(std::uint64_t sequence);

  /// Whether any frame of that group is kept.
  bool Holds(JobId job, GroupId group) const;

  bool empty() const { return frames_.empty(); }
  std::size_t frames() const { return frames_.size(); }

  /// The sequence of the oldest frame that is kept; 0 if none is.
  std::uint64_t oldest() const { return frames_.empty() ? 0 : frames_.front().sequence; }

  /// Something was sent on this connection and is not acknowledged.
  bool AwaitsAck() const { return sent_frames_ != 0; }

 private:
  void CountSent();
  template <typename Predicate>
  std::vector<RetainedFrame> RemoveIf(Predicate unwanted);

  std::deque<RetainedFrame> frames_;
  std::size_t sent_frames_ = 0;  ///< Of frames_, those up to sent_.
  std::uint64_t last_added_ = 0;
  std::uint64_t sent_ever_ = 0;  ///< The largest sequence that was ever sent.
  std::uint64_t sent_ = 0;       ///< The largest that the receiver has, or was sent since.
};

/// The receiver's side, one for each sending worker: what it has of each of the sender's last few
/// incarnations (an old one's connection may come up late). Those with proven frames are forgotten
/// last: who has only the cluster's key may say Hello in the sender's name, as often as he likes.
class Reception {
 public:
  /// A connection has sent Hello; its frames are of this incarnation. Returns Welcome's sequence.
  std::uint64_t OnHello(std::uint64_t incarnation);

  /// A frame has come whole. True if it is news; then it counts as taken.
  bool Take(std::uint64_t sequence);
  bool IsNews(std::uint64_t sequence) const { return sequence > last(); }

  /// A frame was taken whose sender has proven that it is of a job here.
  void OnProven() {
    if (!known_.empty()) known_.back().proven = true;
  }

  /// The frame came, and not as it was sent. Its program may write where it is placed.
  void OnDamaged(std::uint64_t sequence) { damaged_ = sequence; }
  bool MayPlace(std::uint64_t sequence) const { return IsNews(sequence) && sequence != damaged_; }

  /// The last sequence that was taken.
  std::uint64_t last() const { return known_.empty() ? 0 : known_.back().last; }

 private:
  static constexpr std::size_t kIncarnationsMax = 4;
  struct Incarnation {
    std::uint64_t id;
    std::uint64_t last;
    bool proven = false;
  };

  std::vector<Incarnation> known_;  ///< The present one is the last.
  std::uint64_t damaged_ = 0;
};

}  // namespace bspnow

#endif  // NET_RETENTION_H_
