// The reductions and scans that one process has called in a superstep of a PUB object (Bonorden et
// al. 2003, section 3.1). They do not block: each member sends its value to those that need it, as
// a message beside the program's; whoever gets a result combines the values when the superstep is
// over. So any processes may call any number of them, and nobody else takes part.
#ifndef RUNTIME_PUB_PUB_REDUCTIONS_H_
#define RUNTIME_PUB_PUB_REDUCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "base/grow_array.h"
#include "base/mapped_region.h"
#include "runtime/link/records.h"
#include "runtime/link/report.h"
#include "runtime/process.h"
#include "runtime/pub.h"

namespace bspnow::runtime {

/// Who takes part, in the order in which the values are combined: those that `table` lists, or if
/// that is null the `count` processes from `first` on.
struct PubMembers {
  const int* table;
  int first;
  int count;

  std::uint32_t operator[](int i) const {
    return static_cast<std::uint32_t>(table == nullptr ? first + i : table[i]);
  }
};

enum class PubReduction : std::uint32_t {
  kToLast,       ///< The combination of all values, on the last member.
  kToAll,        ///< The same on all.
  kPrefix,       ///< On each member that of the values up to its own.
  kAllPrefixes,  ///< All of these on all members, one after the other.
};

/// A call, as the program wrote it.
struct PubReductionCall {
  PubReduction kind;
  PubMembers members;
  const void* value;
  void* result;
  int count;  ///< Of elements of a value.
  t_bspop operation;
  void* parameter;

  /// Whether the member of this place has a result.
  bool HasResultAt(int place) const {
    return kind != PubReduction::kToLast || place == members.count - 1;
  }
  std::uint64_t bytes() const {
    return static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(operation.size);
  }
};

class PubReductions {
 public:
  /// The places of the members that need the value of place `place`.
  struct Receivers {
    int first;
    int end;
  };
  static Receivers ReceiversOf(const PubReductionCall& call, int place);
  /// What the messages of all members of one call have in their tags. Not 0.
  static std::uint32_t DigestOf(const PubReductionCall& call);

  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  /// One of the `p` processes of the group that a table names more than once.
  std::uint32_t FirstTwice(const PubMembers& members, std::uint32_t p);

  /// This process, the member of place `place`, has made the call.
  void Add(const PubReductionCall& call, int place);

  std::uint64_t called() const { return called_; }
  std::uint64_t values_due() const { return values_due_; }  ///< Messages to this process.

  /// After the superstep: a message with a value, by ascending source.
  void TakeValue(const MessageRecord& message) { values_.push_back(&message); }
  /// Then, with all that came: the results. `p` processes are in the group.
  void Finish(Call call, Process& process, std::uint32_t p);

 private:
  struct Pending {
    PubReductionCall call;
    std::uint32_t digest;
    std::size_t first_source;  ///< In sources_: members that send this process their values.
    std::size_t sources;
  };

  void ListBySource(std::uint32_t p);
  const std::byte* ValueOf(Call call, const Pending& pending, std::size_t i);
  void FinishOne(Call call, Process& process, const Pending& pending);

  std::uint64_t called_ = 0;
  std::uint64_t values_due_ = 0;
  GrowArray<Pending> pending_;  ///< Those that have a result here.
  GrowArray<std::uint32_t> sources_;
  GrowArray<const MessageRecord*> values_;
  GrowArray<std::size_t> next_of_source_;  ///< In values_, by pid.
  GrowArray<std::uint64_t> table_of_;      ///< The last one that named it, by pid.
  std::uint64_t tables_ = 0;               ///< So far.
  MappedRegion scratch_;
};

}  // namespace bspnow::runtime

#endif  // RUNTIME_PUB_PUB_REDUCTIONS_H_
