#include "runtime/pub/pub_object.h"

#include <algorithm>
#include <new>

#include "base/check.h"
#include "runtime/transfers/shared_messages.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kObjectOffset = 64;  // In its memory, after the PubPlace.

}  // namespace

// ---- Life -------------------------------------------------------------------------------------

PubObject::PubObject(Process& process, Group& group, PubObject* parent, std::byte* memory)
    : process_(process),
      group_(group),
      first_(parent == nullptr ? *this : parent->first_),
      memory_(memory),
      superstep_mark_(group.inbox().superstep_mark()) {
  before_ = first_.newest_;
  first_.newest_ = this;
  group_.StartWithTagBytes(sizeof(PubTag));
  process_.spare_regions().Lend(listed_);
}

PubObject& PubObject::Make(Process& process, Group& group, PubObject* parent) {
  static_assert(sizeof(PubPlace) <= kObjectOffset && alignof(PubObject) <= kObjectOffset);
  constexpr std::size_t kBytes = kObjectOffset + sizeof(PubObject);
  std::byte* const memory = process.named_memory().Take(kBytes);
  if (memory == nullptr) OutOfMemory(kBytes);
  void* const at = memory + kObjectOffset;
  PubObject& object =
      *new (at) PubObject(process, group, parent, memory);  // tidy: it owns its memory
  object.place() = {.number = process.named_memory().Count(), .object = &object};
  return object;
}

PubObject& PubObject::MakeRoot(Process& process) { return Make(process, process.root(), nullptr); }

PubObject& PubObject::MakePartition(const std::uint32_t* parts) {
  return Make(process_, process_.Partition(group_, parts), this);
}

PubObject& PubObject::MakeDuplicate() { return Make(process_, process_.Duplicate(group_), this); }

PubObject& PubObject::MakeForThread() {
  return Make(process_, process_.Duplicate(group_), nullptr);
}

PubObject& PubObject::MakeOfSection(Process& process) {
  return Make(process, process.Duplicate(process.group()), nullptr);
}

void PubObject::Close() {
  first_.newest_ = before_;
  process_.Leave(group_);
  place().number = 0;
  NamedMemory& named = process_.named_memory();
  std::byte* const memory = memory_;
  process_.spare_regions().TakeBack(listed_);
  this->~PubObject();
  named.GiveBack(memory);
}

// ---- Supersteps -------------------------------------------------------------------------------

void PubObject::Sync(Call call) {
  ListAll(call);
  process_.Sync(group_, call.site, [&] { TakeUpMessages(call); });
}

void PubObject::SyncCounted(Call call, std::uint64_t messages) {
  ListAll(call);
  if (messages < reductions_.called()) {
    ReportMisuse(
        call,
        "n is %llu, and this process takes part in %llu reductions and scans, each of which"
        " counts as one message; count these, too",
        static_cast<unsigned long long>(messages),
        static_cast<unsigned long long>(reductions_.called()));
  }
  process_.SyncCounted(group_, call, messages - reductions_.called() + reductions_.values_due(),
                       [&] { TakeUpMessages(call); });
}

void PubObject::CatchUp(Call call) {
  if (reductions_.called() != 0) {
    ReportMisuse(
        call,
        "a call of BSPlib has ended a superstep with reductions or scans of this object; end"
        " it by bsp_sync of pub.h, which combines their values");
  }
  TakeUpMessages(call);
}

// After an image, if one was taken: what was listed before it lies elsewhere in a process that has
// been restored. And before the superstep begins in which others may reach for results.
void PubObject::TakeUpMessages(Call call) {
  if (group_.tag_bytes() != sizeof(PubTag)) {
    ReportMisuse(
        call,
        "bsp_set_tagsize has set the tag size; in a program that begins with bsplib_init it"
        " is the library's");
  }
  listed_.clear();
  superstep_mark_ = group_.inbox().superstep_mark();
  count_ = group_.inbox().count();
  if (reductions_.called() == 0) return;
  List(call, count_, Values::kWanted);
  count_ = listed_.size();
  reductions_.Finish(call, process_, group_.p());
}

// ---- Communication ----------------------------------------------------------------------------

int PubObject::PlaceAmong(Call call, const PubMembers& members) {
  const std::uint32_t self = Value(group_.self());
  const std::uint32_t twice = reductions_.FirstTwice(members, group_.p());
  if (twice != PubReductions::kNobody) {
    ReportMisuse(call, "pid %u is in the table twice; name each process once", twice);
  }
  for (int place = 0; place < members.count; ++place)
    if (members[place] == self) return place;
  return -1;
}

void PubObject::Reduce(Call call, const PubReductionCall& reduction, int place) {
  reductions_.Add(reduction, place);
  const std::uint32_t digest = PubReductions::DigestOf(reduction);
  const PubReductions::Receivers to = PubReductions::ReceiversOf(reduction, place);
  const PubMembers receivers{
      .table = reduction.members.table == nullptr ? nullptr : reduction.members.table + to.first,
      .first = reduction.members.first + to.first,
      .count = to.end - to.first};
  SendTaggedToAll(call, receivers, digest, reduction.value, reduction.bytes());
}

void PubObject::SendTaggedToAll(Call call, const PubMembers& to, std::uint32_t reduction,
                                const void* payload, std::uint64_t bytes) {
  if (to.count < 2 || bytes < kSharedBytesMin) {
    for (int i = 0; i < to.count; ++i)
      SendTagged(call, static_cast<std::int32_t>(to[i]), reduction, payload, bytes);
    return;
  }
  group_.RequireSendable(call, "size", bytes);
  receivers_.clear();
  for (int i = 0; i < to.count; ++i) {
    group_.CheckPid(call, static_cast<std::int32_t>(to[i]));
    receivers_.push_back(to[i]);
  }
  const PubTag tag{.source = Value(group_.self()), .reduction = reduction};
  runtime::SendToAll(group_.segment(), group_.self(), group_.outbox(), receivers_.begin(),
                     receivers_.size(), {.tag = &tag, .payload = payload, .bytes = bytes});
}

// ---- Messages ---------------------------------------------------------------------------------

// Not all at once: a program that looks at them in turn finds each while its sender's memory is
// still in the caches.
void PubObject::List(Call call, std::uint64_t count, Values values) {
  for (BsmpInbox& inbox = group_.inbox(); listed_.size() < count && !inbox.empty(); inbox.Pop()) {
    const MessageRecord& message = inbox.FrontRecord();
    if (TagOf(message).reduction == 0) {
      if (__builtin_expect(message.is_shared(), 0)) SharedPayloadOf(message).group = &group_;
      listed_.push_back(&message);
    } else if (values == Values::kWanted) {
      reductions_.TakeValue(message);
    } else {
      ReportMisuse(
          call,
          "pid %u has called a reduction or scan in which this process takes part, and which"
          " it has not called, in the last superstep; all that take part make the same call"
          " in the same superstep",
          TagOf(message).source);
    }
  }
}

const MessageRecord* PubObject::Message(Call call, std::uint64_t i) {
  if (i >= count_) return nullptr;
  List(call, i + 1, Values::kNobodyAskedFor);
  return listed_[i];
}

const MessageRecord* PubObject::MessageFrom(Call call, std::uint32_t source, std::uint64_t i) {
  ListAll(call);
  const auto is_before = [](const MessageRecord* message, std::uint32_t pid) {
    return TagOf(*message).source < pid;
  };
  const MessageRecord* const* const first =
      std::lower_bound(listed_.begin(), listed_.end(), source, is_before);
  if (i >= static_cast<std::uint64_t>(listed_.end() - first)) return nullptr;
  return TagOf(*first[i]).source == source ? first[i] : nullptr;
}

std::byte* PubObject::DataOf(Call call, const MessageRecord& message) {
  if (__builtin_expect(message.is_shared(), 0)) {
    Group& group = *static_cast<Group*>(SharedPayloadOf(message).group);
    return OwnPayload(call.name, group.delivery(), message);
  }
  // It lies in shared memory that both may write.
  return const_cast<std::byte*>(ContentOf(message, 0));
}

}  // namespace bspnow::runtime
