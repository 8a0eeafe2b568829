// A BSP object of PUB, as one member of its group sees it (Bonorden et al. 2003, section 4.1): to
// the group it adds random access to messages, and reductions that do not block.
#ifndef RUNTIME_PUB_PUB_OBJECT_H_
#define RUNTIME_PUB_PUB_OBJECT_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "runtime/process.h"
#include "runtime/pub/pub_message.h"
#include "runtime/pub/pub_reductions.h"

namespace bspnow::runtime {

class PubObject;

/// What a t_bsp names: an object, as long as it has this number.
struct PubPlace {
  std::uint64_t number;  ///< 0: the object that was here is closed. The program may have a t_bsp of
                         ///< it, copied before.
  PubObject* object;
};

class PubObject {
 public:
  /// Without a parent: the first object of a thread.
  PubObject(Process& process, Group& group, PubObject* parent, std::byte* memory);

  /// The object of all processes of the job, in which nothing has been sent yet.
  static PubObject& MakeRoot(Process& process);
  /// As Process::Partition and Duplicate.
  PubObject& MakePartition(const std::uint32_t* parts);
  PubObject& MakeDuplicate();
  /// The same, for a thread of its own: its objects and those of other threads need not be closed
  /// in any order.
  PubObject& MakeForThread();
  /// The same of the group on which BSPlib's calls act.
  static PubObject& MakeOfSection(Process& process);
  bool IsRoot() const { return &group_ == &process_.root(); }
  /// A thread's objects are closed in the opposite order of their making: this is the next.
  bool IsNewest() const { return this == first_.newest_; }
  /// Not of the root. The object is gone.
  void Close();

  PubPlace& place() { return *reinterpret_cast<PubPlace*>(memory_); }
  Process& process() { return process_; }
  Group& group() { return group_; }

  // ---- Supersteps

  /// At each call that names the object: a call of BSPlib may have ended a superstep of the root
  /// group.
  void KeepUp(Call call) {
    if (__builtin_expect(group_.inbox().superstep_mark() != superstep_mark_, 0)) CatchUp(call);
  }
  void Sync(Call call);
  /// `messages` as the program counts them: a reduction is one for each that takes part.
  void SyncCounted(Call call, std::uint64_t messages);

  // ---- Communication

  void Send(Call call, std::int64_t pid, const void* payload, std::uint64_t bytes) {
    SendTagged(call, pid, 0, payload, bytes);
  }
  void SendToAll(Call call, const PubMembers& members, const void* payload, std::uint64_t bytes) {
    SendTaggedToAll(call, members, 0, payload, bytes);
  }
  /// The place of this process among the members of a reduction; -1: it is none. Error: some
  /// process is there twice.
  int PlaceAmong(Call call, const PubMembers& members);
  /// This process is the member of place `place`. The value has been copied on return.
  void Reduce(Call call, const PubReductionCall& reduction, int place);

  // ---- Messages of the program that were received

  std::uint64_t messages() const { return count_; }
  /// The i-th; null: there is none.
  const MessageRecord* Message(Call call, std::uint64_t i);
  /// The i-th of those from `source`.
  const MessageRecord* MessageFrom(Call call, std::uint32_t source, std::uint64_t i);
  /// Of a message that one of these has returned: the program may change it.
  static std::byte* DataOf(Call call, const MessageRecord& message);

 private:
  static PubObject& Make(Process& process, Group& group, PubObject* parent);

  void SendTagged(Call call, std::int64_t pid, std::uint32_t reduction, const void* payload,
                  std::uint64_t bytes) {
    const PubTag tag{.source = Value(group_.self()), .reduction = reduction};
    group_.Send(call, pid, &tag, payload, bytes);
  }
  void SendTaggedToAll(Call call, const PubMembers& to, std::uint32_t reduction,
                       const void* payload, std::uint64_t bytes);
  /// What the values of reductions among the messages are.
  enum class Values { kWanted, kNobodyAskedFor };

  void CatchUp(Call call);
  void TakeUpMessages(Call call);
  void List(Call call, std::uint64_t count, Values values);
  /// Of this superstep, which ends: also what the program has not looked at.
  void ListAll(Call call) { List(call, count_, Values::kNobodyAskedFor); }

  Process& process_;
  Group& group_;
  PubObject& first_;                        ///< Of the thread.
  PubObject* newest_ = nullptr;             ///< In the first one: of the thread's open objects.
  PubObject* before_ = nullptr;             ///< The one that was the newest before this one was.
  std::byte* memory_;                       ///< Of this object itself.
  std::uint64_t superstep_mark_;            ///< Of the inbox, when its messages were taken up.
  std::uint64_t count_ = 0;                 ///< The program's messages;
  GrowArray<const MessageRecord*> listed_;  ///< the first ones of them, as far as they were asked.
  PubReductions reductions_;
  GrowArray<std::uint32_t> receivers_;  ///< Of the long message that is being sent.
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PUB_PUB_OBJECT_H_
