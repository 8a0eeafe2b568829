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
  /// A step in which `send` sends, and which brings values of `known` processes together.
  template <typename SendAll>
  void Step(std::uint64_t known, const SendAll& send) {
    const bool last = known >= team_.p();
    if (last) landing_.Close();
    last ? team_.LastSync(send) : team_.Sync(send);
    arrived_ = landing_.data() + room_ * ways_ * stride_;
    room_ ^= 1;
  }
  /// That of `place`, after the last Step.
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
    team_.Operate(op_, result, left, right, bytes_);
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
  team.LastSync();
  if (src != dst) Copy(dst, src, team.what().bytes);
  return true;
}

/// Vectors in pieces: each process gets its piece of all vectors, combines them, and sends to every
/// process the result that this one needs. Two supersteps, in which a process moves no more than
/// two vectors, however many there are (scatter and gather, as Bonorden et al. 2003, section 4.3,
/// have it for a broadcast).
class VectorsInPieces {
 public:
  enum class Results : std::uint8_t { kOneForAll, kPrefixes };

  VectorsInPieces(Team& team, Operation op, Results results, void* dst)
      : team_(team),
        op_(op),
        results_(results),
        pieces_{.p = team.p(),
                .elements = team.what().bytes / team.what().element_bytes,
                .element_bytes = team.what().element_bytes},
        stride_((pieces_.bytes_max() + kValueAlign - 1) / kValueAlign * kValueAlign),
        places_(team.p() + (results == Results::kPrefixes ? team.p() : 2u)),
        dst_(static_cast<std::byte*>(dst)),
        lands_in_scratch_(team.HasRoom(places_ * stride_ + team.what().bytes)),
        landing_(team, Announced(dst)) {}

  void Run(const void* src) {
    const auto* const values = static_cast<const std::byte*>(src);
    team_.Sync([&] {
      for (std::uint32_t i = 1; i < p(); ++i) {  // Not all at once to the same one.
        const std::uint32_t to = (self() + i) % p();
        team_.Put(to, values + pieces_.Begin(to), landing_.data(), self() * stride_,
                  pieces_.Bytes(to));
      }
    });
    own_ = const_cast<std::byte*>(values + pieces_.Begin(self()));
    CombineAll();
    for (std::uint32_t i = 1; i < p(); ++i) Send((self() + i) % p());
    const std::byte* const result = ResultOf(self());
    if (result != MyPlace()) Copy(MyPlace(), result, pieces_.Bytes(self()));
    landing_.Close();
    if (!lands_in_scratch_) team_.Unregister(dst_);
    team_.LastSync();
    if (lands_in_scratch_) CopyOut();
  }

 private:
  std::uint32_t p() const { return team_.p(); }
  std::uint32_t self() const { return team_.self(); }
  std::byte* Place(std::uint64_t i) const { return landing_.data() + i * stride_; }
  std::byte* Incoming() const { return Place(places_); }

  // How much lands in the library's memory; else `dst` is registered with that.
  std::size_t Announced(void* dst) {
    if (lands_in_scratch_) return places_ * stride_ + team_.what().bytes;
    team_.RegisterWithNext(dst, team_.what().bytes);
    const std::size_t bytes = places_ * stride_;
    return team_.HasRoom(bytes) ? team_.scratch_bytes() + 1
                                : bytes;  // So that there is a next one.
  }

  // Piece i arrived at place i, but for this process's own; the results are after them, or where
  // this process wants them.
  void CombineAll() {
    const std::size_t bytes = pieces_.Bytes(self());
    if (bytes == 0) return;
    for (std::uint32_t i = 1; i < p(); ++i)
      team_.Operate(op_, Result(i), Result(i - 1), Operand(i), bytes);
  }
  std::byte* Operand(std::uint32_t i) const { return i == self() ? own_ : Place(i); }
  std::byte* MyPlace() const { return dst_ + pieces_.Begin(self()); }
  /// Of the first i + 1 pieces.
  std::byte* Result(std::uint32_t i) const {
    if (i == 0) return Operand(0);
    const std::uint32_t mine = results_ == Results::kPrefixes ? self() : p() - 1;
    if (i == mine && own_ != MyPlace()) return MyPlace();
    return Place(p() + (results_ == Results::kPrefixes ? i : i % 2));
  }
  const std::byte* ResultOf(std::uint32_t pid) const {
    return Result(results_ == Results::kPrefixes ? pid : p() - 1);
  }
  void Send(std::uint32_t to) {
    const std::byte* const area = lands_in_scratch_ ? landing_.data() : dst_;
    const std::size_t offset = lands_in_scratch_ ? places_ * stride_ : 0;
    team_.Put(to, ResultOf(to), area, offset + pieces_.Begin(self()), pieces_.Bytes(self()));
  }
  void CopyOut() {
    const std::size_t begin = pieces_.Begin(self()), end = pieces_.Begin(self() + 1);
    Copy(dst_, Incoming(), begin);
    Copy(dst_ + end, Incoming() + end, team_.what().bytes - end);
  }

  Team& team_;
  Operation op_;
  Results results_;
  VectorPieces pieces_;
  std::size_t stride_;
  std::size_t places_;
  std::byte* dst_;
  std::byte* own_ = nullptr;  ///< This process's piece of its own vector.
  bool lands_in_scratch_;
  Landing landing_;
};

/// A prefix of vectors in pieces: each process gets from the one before it, piece by piece, the
/// fold of all vectors before its own, combines that with its own, and passes the result on. A
/// process moves one vector, in p + pieces - 2 supersteps.
class PrefixInPipeline {
 public:
  PrefixInPipeline(Team& team, Operation op, std::uint32_t pieces, const void* src, void* dst)
      : team_(team),
        op_(op),
        pieces_(Cut(team.what(), pieces)),
        stride_((pieces_.bytes_max() + kValueAlign - 1) / kValueAlign * kValueAlign),
        src_(static_cast<const std::byte*>(src)),
        dst_(static_cast<std::byte*>(dst)),
        landing_(team, kRooms * stride_) {}

  void Run() {
    const std::uint32_t last = team_.p() + pieces_.p - 3;  // Of the supersteps.
    for (std::uint32_t step = 0; step <= last; ++step) {
      if (step == last) landing_.Close();
      const auto pass = [&] { Pass(step); };  // The first step only sends.
      step == last ? team_.LastSync(pass) : team_.Sync(pass);
    }
    Pass(last + 1);  // The last piece, on the last process.
  }

 private:
  // Arrivals of one step are read while those of the next may come without a buffer; the third room
  // is for a result that may not be written over an operand.
  static constexpr std::size_t kRooms = 3;

  static VectorPieces Cut(const CollectiveCall& what, std::uint32_t pieces) {
    const std::size_t elements = what.bytes / what.element_bytes;
    return {.p = elements < pieces ? static_cast<std::uint32_t>(elements) : pieces,
            .elements = elements,
            .element_bytes = what.element_bytes};
  }
  std::byte* Room(std::size_t i) const { return landing_.data() + i * stride_; }

  void Pass(std::uint32_t step) {
    const std::uint32_t self = team_.self();
    if (self == 0 && step > 0) KeepFirst(step - 1);
    if (step < self || step - self >= pieces_.p) return;
    const std::size_t begin = pieces_.Begin(step - self), bytes = pieces_.Bytes(step - self);
    if (self > 0) Combine(Room((step - 1) % 2), begin, bytes);
    const std::byte* const result = self == 0 ? src_ : dst_;
    if (self + 1 < team_.p())
      team_.Put(self + 1, result + begin, landing_.data(), step % 2 * stride_, bytes);
  }
  // The first process's prefix is its own vector. A step late: in the first one the program's own
  // puts and gets may still be due at `dst`.
  void KeepFirst(std::uint32_t piece) {
    if (src_ == dst_ || piece >= pieces_.p) return;
    Copy(dst_ + pieces_.Begin(piece), src_ + pieces_.Begin(piece), pieces_.Bytes(piece));
  }
  void Combine(std::byte* before, std::size_t begin, std::size_t bytes) {
    std::byte* const result = src_ == dst_ ? Room(2) : dst_ + begin;
    team_.Operate(op_, result, before, src_ + begin, bytes);
    if (src_ == dst_) Copy(dst_ + begin, result, bytes);
  }

  Team& team_;
  Operation op_;
  VectorPieces pieces_;
  std::size_t stride_;
  const std::byte* src_;
  std::byte* dst_;
  Landing landing_;
};

}  // namespace

// In each step `ways` blocks become one: a process gets the value of each other block from a
// process there, all of which have it.
void Fold(Team& team, Operation op, const void* src, void* dst) {
  if (IsTrivial(team, src, dst)) return;
  const Plan plan = team.Choose();
  if (plan.algorithm == Algorithm::kTwoPhase)
    return VectorsInPieces(team, op, VectorsInPieces::Results::kOneForAll, dst).Run(src);
  const std::uint32_t ways = plan.ways(), p = team.p(), self = team.self();
  Values values(team, op, ways);
  const auto* mine = static_cast<const std::byte*>(src);
  for (std::uint64_t block = 1; block < p; block *= ways) {
    const FoldStep step{.p = p, .ways = ways, .block = static_cast<std::uint32_t>(block)};
    const std::uint32_t begin = step.Begin(self), part = step.Part(self);
    const std::uint32_t place = self - begin - part * step.block;
    const std::uint32_t size = step.Size(begin, part);
    values.Step(block * ways, [&] {
      for (std::uint32_t other = 0; other < ways; ++other) {
        if (other == part) continue;
        for (std::uint32_t at = place; at < step.Size(begin, other); at += size) {
          values.Send(begin + other * step.block + at, part, mine);
        }
      }
    });
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
  const Plan plan = team.Choose();
  if (plan.algorithm == Algorithm::kTwoPhase)
    return VectorsInPieces(team, op, VectorsInPieces::Results::kPrefixes, dst).Run(src);
  if (plan.algorithm == Algorithm::kPipeline)
    return PrefixInPipeline(team, op, plan.ways(), src, dst).Run();
  const std::uint32_t ways = plan.ways(), p = team.p(), self = team.self();
  Values values(team, op, ways);
  const auto* mine = static_cast<const std::byte*>(src);
  for (std::uint64_t known = 1; known < p; known *= ways) {
    values.Step(known * ways, [&] {
      for (std::uint32_t i = 1; i < ways && self + i * known < p; ++i)
        values.Send(static_cast<std::uint32_t>(self + i * known), i, mine);
    });
    const std::byte* result = nullptr;
    for (std::uint32_t i = ways - 1; i > 0; --i) {
      if (self >= i * known) result = values.Combine(result, values.Arrived(i), mine, nullptr);
    }
    mine = values.Combine(result, mine, mine, known * ways >= p ? dst : nullptr);
  }
  if (mine != dst) Copy(dst, mine, team.what().bytes);
}

}  // namespace bspnow::runtime
