#include "runtime/pub/pub_reductions.h"

#include "base/check.h"
#include "base/copy.h"
#include "runtime/pub/pub_message.h"
#include "runtime/transfers/bsmp_inbox.h"

namespace bspnow::runtime {
namespace {

// FNV-1a, a word at a time: it only tells apart calls that the program mixes up.
class Digest {
 public:
  void Add(std::uint32_t word) { digest_ = (digest_ ^ word) * 16'777'619; }
  std::uint32_t value() const { return digest_ | 1; }

 private:
  std::uint32_t digest_ = 2'166'136'261;
};

}  // namespace

PubReductions::Receivers PubReductions::ReceiversOf(const PubReductionCall& call, int place) {
  switch (call.kind) {
    case PubReduction::kToLast:
      return {.first = call.members.count - 1, .end = call.members.count};
    case PubReduction::kPrefix:
      return {.first = place, .end = call.members.count};
    case PubReduction::kToAll:
    case PubReduction::kAllPrefixes:
      break;
  }
  return {.first = 0, .end = call.members.count};
}

std::uint32_t PubReductions::DigestOf(const PubReductionCall& call) {
  Digest digest;
  digest.Add(static_cast<std::uint32_t>(call.kind));
  digest.Add(static_cast<std::uint32_t>(call.count));
  digest.Add(static_cast<std::uint32_t>(call.operation.size));
  for (int i = 0; i < call.members.count; ++i) digest.Add(call.members[i]);
  return digest.value();
}

std::uint32_t PubReductions::FirstTwice(const PubMembers& members, std::uint32_t p) {
  if (members.table == nullptr) return kNobody;
  if (table_of_.empty()) table_of_.Resize(p);
  tables_ += 1;
  for (int i = 0; i < members.count; ++i) {
    if (table_of_[members[i]] == tables_) return members[i];
    table_of_[members[i]] = tables_;
  }
  return kNobody;
}

void PubReductions::Add(const PubReductionCall& call, int place) {
  called_ += 1;
  if (!call.HasResultAt(place)) return;
  const int sources = call.kind == PubReduction::kPrefix ? place + 1 : call.members.count;
  pending_.push_back({.call = call,
                      .digest = DigestOf(call),
                      .first_source = sources_.size(),
                      .sources = static_cast<std::size_t>(sources)});
  for (int i = 0; i < sources; ++i) sources_.push_back(call.members[i]);
  values_due_ += static_cast<std::uint64_t>(sources);
}

// ---- After the superstep ----------------------------------------------------------------------

void PubReductions::Finish(Call call, Process& process, std::uint32_t p) {
  if (called_ != 0) {
    ListBySource(p);
    for (const Pending& pending : pending_) FinishOne(call, process, pending);
  }
  if (values_.size() != values_due_) {
    ReportMisuse(
        call,
        "values of %zu processes came for reductions and scans, and %llu were due; all that"
        " take part in one make the same call, in the same superstep",
        values_.size(), static_cast<unsigned long long>(values_due_));
  }
  called_ = values_due_ = 0;
  pending_.clear();
  sources_.clear();
  values_.clear();
}

void PubReductions::ListBySource(std::uint32_t p) {
  next_of_source_.clear();
  next_of_source_.Resize(p);
  for (std::size_t i = values_.size(); i-- > 0;) next_of_source_[TagOf(*values_[i]).source] = i;
}

// Those of one source are taken in the order of its calls.
const std::byte* PubReductions::ValueOf(Call call, const Pending& pending, std::size_t i) {
  const std::uint32_t source = sources_[pending.first_source + i];
  std::size_t& next = next_of_source_[source];
  if (next >= values_.size() || TagOf(*values_[next]).source != source) {
    ReportMisuse(call,
                 "no value of pid %u came for a reduction or scan in which it should take part; all"
                 " that do make the same call, in the same superstep",
                 source);
  }
  const MessageRecord& value = *values_[next++];
  if (TagOf(value).reduction != pending.digest || value.payload_bytes() != pending.call.bytes()) {
    ReportMisuse(call,
                 "pid %u has called another reduction or scan than this process: members, count,"
                 " size of an element or kind differ; make the same calls in the same order",
                 source);
  }
  return PayloadToRead(value);
}

// The result of a step is never where its operands are, so that an operation need not think of
// that.
void PubReductions::FinishOne(Call call, Process& process, const Pending& pending) {
  const PubReductionCall& wanted = pending.call;
  const std::uint64_t bytes = wanted.bytes();
  auto* const result = static_cast<std::byte*>(wanted.result);
  const bool keep_all = wanted.kind == PubReduction::kAllPrefixes;
  if (!keep_all && pending.sources > 2 && scratch_.bytes() < bytes) {
    scratch_ = MappedRegion::Private(bytes);
    if (!scratch_.valid()) OutOfMemory(bytes);
  }
  const std::byte* combined = ValueOf(call, pending, 0);
  if (bytes != 0 && (keep_all || pending.sources == 1)) Copy(result, combined, bytes);
  for (std::size_t i = 1; i < pending.sources; ++i) {
    const std::byte* const value = ValueOf(call, pending, i);
    if (bytes == 0) continue;
    const bool into_result = (pending.sources - i) % 2 == 1;  // As the last one is.
    std::byte* const place = keep_all ? result + i * bytes : into_result ? result : scratch_.data();
    process.CallOperation(
        [&] { wanted.operation.combine(place, combined, value, wanted.count, wanted.parameter); });
    combined = place;
  }
}

}  // namespace bspnow::runtime
