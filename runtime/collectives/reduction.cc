// Folds and prefixes of values that only an operation of the user's knows: it is associative, and
// gets them in the order of pids. Values go about whole; results are never where operands are.
#include "base/copy.h"
#include "runtime/collectives/team.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kValueAlign = 16;

/// Where the values of one call arrive and are combined. Arrivals of one step are read while those
/// of the next may come without a buffer: two rooms, in turn.
class Values {
 public:
  Values(Team& team, Operation op, std::uint32_t ways)
      : team_(team),
        op_(op),
        bytes_(team.what().bytes),
        stride_((bytes_ + kValueAlign - 1) / kValueAlign * kValueAlign),
        ways_(ways),
        landing_(team, (2 * std::size_t{ways} + kResults) * stride_) {}

  void Send(std::uint32_t pid, std::uint32_t place, const std::byte* value) const {
    team_.Put(pid, value, landing_.data(), (room_ * ways_ + place) * stride_, bytes_);
  }
  /// After a step that brings values of `known` processes together.
  void Sync(std::uint64_t known) {
    if (known >= team_.p()) landing_.Close();
    team_.Sync();
    arrived_ = landing_.data() + room_ * ways_ * stride_;
    room_ ^= 1;
  }
  /// That of `place`, after the last Sync.
  const std::byte* Arrived(std::uint32_t place) const { return arrived_ + place * stride_; }

  /// `left` null: `right`. Else their combination: at `wanted`, or if that is null or an operand
  /// elsewhere until the second call after it. `own`, the value that was sent, is not written over.
  const std::byte* Combine(const std::byte* left, const std::byte* right, const std::byte* own,
                           void* wanted) {
    if (left == nullptr) return right;
    auto* result = static_cast<std::byte*>(wanted);
    if (result == left || result == right || result == own) result = nullptr;
    for (std::uint32_t i = 0; result == nullptr; ++i) {
      std::byte* const place = landing_.data() + (2 * std::size_t{ways_} + i) * stride_;
      if (place != left && place != right && place != own) result = place;
    }
    int bytes = static_cast<int>(bytes_);  // The calls take an int.
    op_(result, const_cast<std::byte*>(left), const_cast<std::byte*>(right), &bytes);
    return result;
  }

 private:
  static constexpr std::uint32_t kResults = 3;  // Beside left and own; right arrived, or is own.

  Team& team_;
  Operation op_;
  std::size_t bytes_;
  std::size_t stride_;
  std::size_t ways_;
  Landing landing_;
  std::size_t room_ = 0;
  const std::byte* arrived_ = nullptr;
};

bool IsTrivial(Team& team, const void* src, void* dst) {
  if (team.p() > 1 && team.what().bytes != 0) return false;
  team.Sync();
  if (src != dst) Copy(dst, src, team.what().bytes);
  return true;
}

}  // namespace

// In each step `ways` blocks become one: a process gets the value of each other block from a
// process there, all of which have it.
void Fold(Team& team, Operation op, const void* src, void* dst) {
  if (IsTrivial(team, src, dst)) return;
  const std::uint32_t ways = team.Choose().ways(), p = team.p(), self = team.self();
  Values values(team, op, ways);
  const auto* mine = static_cast<const std::byte*>(src);
  for (std::uint64_t block = 1; block < p; block *= ways) {
    const FoldStep step{.p = p, .ways = ways, .block = static_cast<std::uint32_t>(block)};
    const std::uint32_t begin = step.Begin(self), part = step.Part(self);
    const std::uint32_t place = self - begin - part * step.block;
    const std::uint32_t size = step.Size(begin, part);
    for (std::uint32_t other = 0; other < ways; ++other) {
      if (other == part) continue;
      for (std::uint32_t at = place; at < step.Size(begin, other); at += size) {
        values.Send(begin + other * step.block + at, part, mine);
      }
    }
    values.Sync(block * ways);
    const std::byte* result = nullptr;
    const std::uint32_t last = step.Part(p - 1);  // Of the only block, in the last step.
    for (std::uint32_t other = 0; other < ways; ++other) {
      if (step.Size(begin, other) == 0) break;
      result = values.Combine(result, other == part ? mine : values.Arrived(other), mine,
                              block * ways >= p && other == last ? dst : nullptr);
    }
    mine = result;
  }
  if (mine != dst) Copy(dst, mine, team.what().bytes);
}

// Before a step each process has the fold of the `known` values up to its own.
void Scan(Team& team, Operation op, const void* src, void* dst) {
  if (IsTrivial(team, src, dst)) return;
  const std::uint32_t ways = team.Choose().ways(), p = team.p(), self = team.self();
  Values values(team, op, ways);
  const auto* mine = static_cast<const std::byte*>(src);
  for (std::uint64_t known = 1; known < p; known *= ways) {
    for (std::uint32_t i = 1; i < ways && self + i * known < p; ++i) {
      values.Send(static_cast<std::uint32_t>(self + i * known), i, mine);
    }
    values.Sync(known * ways);
    const std::byte* result = nullptr;
    for (std::uint32_t i = ways - 1; i > 0; --i) {
      if (self >= i * known) result = values.Combine(result, values.Arrived(i), mine, nullptr);
    }
    mine = values.Combine(result, mine, mine, known * ways >= p ? dst : nullptr);
  }
  if (mine != dst) Copy(dst, mine, team.what().bytes);
}

}  // namespace bspnow::runtime
