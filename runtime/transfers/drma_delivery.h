// What a process does for DRMA after the barrier: answer the gets addressed to it from its memory
// before anything is written; then write its own gets, then the puts it was sent, each in the order
// of the source pid and of issue, so that a run is deterministic (BSPlib 1997, "Copy from remote
// memory", steps 2 and 3; docs/semantics.md).
#ifndef RUNTIME_TRANSFERS_DRMA_DELIVERY_H_
#define RUNTIME_TRANSFERS_DRMA_DELIVERY_H_

#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "base/poll_wait.h"
#include "runtime/link/link_segment.h"
#include "runtime/transfers/registration_table.h"

namespace bspnow::runtime {

class DrmaDelivery {
 public:
  void Attach(const Segment& segment, const RegistrationTable& registrations, Pid self,
              std::uint32_t p, std::size_t site_bytes);

  /// Copies what the others' gets ask for to heap 2. Reads this process's memory, writes none.
  void AnswerGets(unsigned parity);

  /// After a barrier: the answers of the superstep before have been read. Memory that neither they
  /// nor the ones before them needed is given back.
  void AnswersWereRead() {
    has_own_ = false;
    if (answers_.peak != 0) segment_->GiveBack(self_, kAnswerHeap, answers_.bytes, answers_);
    answers_.Restart();
  }

  /// Memory for this process alone until it ends the superstep, beside the answers. In each
  /// superstep it is the same, so that it stays in the caches.
  std::byte* TakeOwn(const char* call, std::uint64_t bytes);
  /// That is over. Others may be reading the answers still.
  void DropOwn() {
    if (!has_own_) return;
    has_own_ = false;
    segment_->GiveBack(self_, kAnswerHeap, answers_.bytes, answers_);
    answers_.head = before_own_.head;
    answers_.bytes = before_own_.bytes;
  }

  /// As Outbox has them, of the answers.
  std::uint64_t GiveBackAll() { return answers_.TakeAll(); }
  bool UsesMore() const { return answers_.peak != 0; }

  /// Whether this process asked `pid` for anything that it answers.
  bool Awaits(Pid pid, unsigned parity) const {
    return segment_->entry(self_, pid, parity).gets != 0;
  }

  /// Writes the answers of `pid` to where this process's gets want them.
  void WriteGets(Pid pid, unsigned parity);

  /// Writes the puts that all processes sent here.
  void WritePuts(unsigned parity);

  /// Writes the unbuffered puts that have come from other nodes so far. In bsp_sync, also before
  /// the barrier.
  void WriteEarly(unsigned parity);

  /// Where an unbuffered put of `source` that comes by itself goes; and a buffered one.
  std::byte* DirectTarget(Pid source, const PutRecord& range) const;
  std::byte* PutTarget(Pid source, const PutRecord& range) const;

  /// Changes when there is more of them, from the moment of the last WriteEarly.
  Watched EarlyNews(unsigned parity) const {
    const EarlyPuts& early = segment_->cell(self_).early[parity];
    return {early.offered, early.taken.load(std::memory_order_relaxed)};
  }

 private:
  std::uint64_t AnswersTo(Pid asker, const DirectoryEntry& asked) const;
  void Answer(Pid asker, const DirectoryEntry& asked, std::byte* to) const;
  [[noreturn]] __attribute__((cold)) void ReportNoMemory(Pid asker, std::uint64_t bytes) const;
  void WritePuts(Pid source, const DirectoryEntry& entry);
  std::byte* Target(const char* call, Pid source, const PutRecord& range) const;
  std::byte* InArea(const RegisteredArea& area, const char* call, Pid source,
                    const PutRecord& range) const;
  void WriteRun(Pid source, const PutRun& run) const;
  static void WriteRun(const GetRun& run, const std::byte* answers);
  void AnswerRun(Pid asker, const GetRun& run, std::byte* to) const;

  const Segment* segment_ = nullptr;
  const RegistrationTable* registrations_ = nullptr;
  Pid self_{};
  std::uint32_t p_ = 0;
  std::size_t site_bytes_ = 0;
  HeapUse answers_;  ///< Of heap 2.
  bool has_own_ = false;
  HeapUse before_own_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_TRANSFERS_DRMA_DELIVERY_H_
