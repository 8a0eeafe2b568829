#include "runtime/pub/pub_object.h"

#include <algorithm>
#include <new>

#include "base/check.h"

namespace bspnow::runtime {

// ---- Life -------------------------------------------------------------------------------------

PubObject::PubObject(Process& process, Group& group, PubObject* parent, MappedRegion memory)
    : process_(process),
      group_(group),
      first_(parent == nullptr ? *this : parent->first_),
      memory_(static_cast<MappedRegion&&>(memory)) {
  before_ = first_.newest_;
  first_.newest_ = this;
  group_.StartWithTagBytes(sizeof(PubTag));
  process_.spare_regions().Lend(listed_);
}

PubObject& PubObject::Make(Process& process, Group& group, PubObject* parent) {
  MappedRegion memory = process.spare_regions().Take(sizeof(PubObject));
  if (!memory.valid()) OutOfMemory(sizeof(PubObject));
  void* const place = memory.data();
  return *new (place)  // tidy: it owns its memory
      PubObject(process, group, parent, static_cast<MappedRegion&&>(memory));
}

PubObject& PubObject::MakeRoot(Process& process) { return Make(process, process.root(), nullptr); }

PubObject& PubObject::MakePartition(const std::uint32_t* parts) {
  return Make(process_, process_.Partition(group_, parts), this);
}

PubObject& PubObject::MakeDuplicate() { return Make(process_, process_.Duplicate(group_), this); }

PubObject& PubObject::MakeForThread() {
  return Make(process_, process_.Duplicate(group_), nullptr);
}

void PubObject::Close() {
  first_.newest_ = before_;
  process_.Leave(group_);
  SpareRegions& spare = process_.spare_regions();
  spare.TakeBack(listed_);
  MappedRegion memory = static_cast<MappedRegion&&>(memory_);
  this->~PubObject();
  spare.GiveBack(static_cast<MappedRegion&&>(memory));
}

// ---- Supersteps -------------------------------------------------------------------------------

void PubObject::Sync(Call call) {
  process_.Sync(group_, call.site);
  TakeUpMessages(call);
}

void PubObject::SyncCounted(Call call, std::uint64_t messages) {
  if (messages < reductions_.called()) {
    ReportMisuse(
        call,
        "n is %llu, and this process takes part in %llu reductions and scans, each of which"
        " counts as one message; count these, too",
        static_cast<unsigned long long>(messages),
        static_cast<unsigned long long>(reductions_.called()));
  }
  process_.SyncCounted(group_, call, messages - reductions_.called() + reductions_.values_due());
  TakeUpMessages(call);
}

// After an image, if one was taken: what was listed before it lies elsewhere in a process that has
// been restored.
void PubObject::TakeUpMessages(Call call) {
  if (group_.tag_bytes() != sizeof(PubTag)) {
    ReportMisuse(
        call,
        "bsp_set_tagsize has set the tag size; in a program that begins with bsplib_init it"
        " is the library's");
  }
  listed_.clear();
  count_ = group_.inbox().count();
  if (reductions_.called() == 0) return;
  List(call, count_);
  count_ = listed_.size();
  reductions_.Finish(call, group_.p());
}

// ---- Communication ----------------------------------------------------------------------------

void PubObject::Reduce(Call call, const PubReductionCall& reduction) {
  const std::uint32_t self = Value(group_.self());
  int place = 0;
  while (place < reduction.members.count && reduction.members[place] != self) ++place;
  if (place == reduction.members.count) return;
  reductions_.Add(reduction, place);
  const std::uint32_t digest = PubReductions::DigestOf(reduction);
  const PubReductions::Receivers to = PubReductions::ReceiversOf(reduction, place);
  for (int i = to.first; i < to.end; ++i) {
    SendTagged(call, reduction.members[i], digest, reduction.value, reduction.bytes());
  }
}

// ---- Messages ---------------------------------------------------------------------------------

// Not all at once: a program that looks at them in turn finds each while its sender's memory is
// still in the caches.
void PubObject::List(Call call, std::uint64_t count) {
  for (BsmpInbox& inbox = group_.inbox(); listed_.size() < count && !inbox.empty(); inbox.Pop()) {
    const MessageRecord& message = inbox.FrontRecord();
    if (TagOf(message).reduction == 0) {
      listed_.push_back(&message);
    } else if (reductions_.called() != 0) {
      reductions_.TakeValue(message);
    } else {
      ReportMisuse(call,
                   "pid %u has called a reduction or scan in which this process takes part, and has"
                   " not called; all that take part make the same call, in the same superstep",
                   TagOf(message).source);
    }
  }
}

const MessageRecord* PubObject::Message(Call call, std::uint64_t i) {
  if (i >= count_) return nullptr;
  List(call, i + 1);
  return listed_[i];
}

const MessageRecord* PubObject::MessageFrom(Call call, std::uint32_t source, std::uint64_t i) {
  List(call, count_);
  const auto is_before = [](const MessageRecord* message, std::uint32_t pid) {
    return TagOf(*message).source < pid;
  };
  const MessageRecord* const* const first =
      std::lower_bound(listed_.begin(), listed_.end(), source, is_before);
  if (i >= static_cast<std::uint64_t>(listed_.end() - first)) return nullptr;
  return TagOf(*first[i]).source == source ? first[i] : nullptr;
}

}  // namespace bspnow::runtime
