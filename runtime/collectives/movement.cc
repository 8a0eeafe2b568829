// Broadcast, scatter, gather and total exchange. What arrives lies in the scratch area, or if it is
// larger in the user's, which is registered for that time. None of these is written before the
// first Sync: puts and gets of the superstep that it ends may still be due there.
#include <cstring>

#include "runtime/collectives/team.h"

namespace bspnow::runtime {
namespace {

constexpr std::size_t kPieceAlign = 64;

std::size_t Smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

// NULL with 0 bytes is legal here; areas may be the same.
void CopyOwn(void* to, const void* from, std::size_t bytes) {
  if (bytes != 0 && to != from) std::memmove(to, from, bytes);
}

const std::byte* At(const void* area, std::size_t offset) {
  return static_cast<const std::byte*>(area) + offset;
}

/// The blocks that a process gets from all, where its own goes among them.
struct Blocks {
  std::byte* to;
  std::size_t own;  ///< Where that begins.
  std::size_t bytes;
  std::size_t all;

  /// `arrived` null: the others are there already.
  void Complete(const void* arrived, const void* own_block) const {
    if (arrived != nullptr) {
      CopyOwn(to, arrived, own);
      CopyOwn(to + own + bytes, At(arrived, own + bytes), all - own - bytes);
    }
    CopyOwn(to + own, own_block, bytes);
  }
};

/// Equal ranges of the bytes, but for the last.
struct Pieces {
  std::size_t bytes;
  std::size_t each;

  Pieces(std::size_t all, std::uint32_t count)
      : bytes(all), each((all / count + kPieceAlign) / kPieceAlign * kPieceAlign) {}
  std::size_t Begin(std::size_t i) const { return Smaller(i * each, bytes); }
  std::size_t Size(std::size_t i) const { return Begin(i + 1) - Begin(i); }
};

/// The broadcast's supersteps: `from` is where this process has, or will have, the bytes, and
/// `area` the name of where they arrive. Processes are numbered from the root on.
struct Spread {
  Team& team;
  const void* area;
  const std::byte* from;
  std::size_t bytes;
  bool registered;  ///< The area, for this call.

  std::uint32_t p() const { return team.p(); }
  std::uint32_t root() const { return team.what().root; }
  std::uint32_t number() const { return (team.self() + p() - root()) % p(); }

  void SendTo(std::uint32_t to, std::size_t begin, std::size_t size) const {
    team.Put((to + root()) % p(), from + begin, area, begin, size);
  }

  template <typename Send>
  void LastSync(const Send& send) const {
    if (registered) team.Unregister(area);
    team.LastSync(send);
  }

  // The first of each range has the bytes, and gives them to the first of each part of it: distant
  // processes first, which are likely to be those on other nodes.
  void ByTree(std::uint32_t ways) const {
    std::uint32_t first = 0, end = p();
    for (std::uint32_t size = p(), part = 0; size > 1; size = part) {
      part = (size + ways - 1) / ways;
      const auto send = [&] {
        if (number() != first) return;
        for (std::uint32_t to = first + part; to < end; to += part) SendTo(to, 0, bytes);
      };
      part == 1 ? LastSync(send) : team.Sync(send);
      first += (number() - first) / part * part;
      end = static_cast<std::uint32_t>(Smaller(first + part, end));
    }
  }

  void ByTwoPhases() const {
    const Pieces pieces(bytes, p());
    const std::uint32_t self = number();
    team.Sync([&] {
      for (std::uint32_t to = 1; self == 0 && to < p(); ++to)
        SendTo(to, pieces.Begin(to), pieces.Size(to));
    });
    LastSync([&] {
      for (std::uint32_t step = 1; step < p(); ++step) {
        const std::uint32_t to = (self + step) % p();
        if (to != 0) SendTo(to, pieces.Begin(self), pieces.Size(self));
      }
    });
  }

  void ByPipeline(std::uint32_t count) const {
    const Pieces pieces(bytes, count);
    const std::uint32_t self = number();
    const std::uint32_t last = p() + count - 3;
    for (std::uint32_t step = 0; step <= last; ++step) {
      const auto send = [&] {
        if (self + 1 >= p() || step < self || step - self >= count) return;
        SendTo(self + 1, pieces.Begin(step - self), pieces.Size(step - self));
      };
      step == last ? LastSync(send) : team.Sync(send);
    }
  }
};

}  // namespace

void Broadcast(Team& team, const void* src, void* dst) {
  const std::size_t bytes = team.what().bytes;
  const std::uint32_t root = team.what().root;
  const bool is_root = team.self() == root;
  if (team.p() == 1 || bytes == 0) {
    team.LastSync();
    CopyOwn(dst, src, bytes);
    return;
  }
  const Plan plan = team.Choose();
  if (plan.algorithm == Algorithm::kRead) {
    const void* const area = team.Register(is_root ? src : nullptr, bytes);
    if (!is_root) team.Get(root, area, 0, dst, bytes);
    team.Unregister(area);
    team.LastSync();
    if (is_root) CopyOwn(dst, src, bytes);
    return;
  }
  const bool scratch = team.HasRoom(bytes);
  const void* const area = scratch ? team.Scratch() : team.Register(dst, bytes);
  const Spread spread{.team = team,
                      .area = area,
                      .from = static_cast<const std::byte*>(is_root ? src : area),
                      .bytes = bytes,
                      .registered = !scratch};
  switch (plan.algorithm) {
    case Algorithm::kTwoPhase:
      spread.ByTwoPhases();
      break;
    case Algorithm::kPipeline:
      spread.ByPipeline(plan.ways());
      break;
    default:
      spread.ByTree(plan.ways());
  }
  if (scratch || is_root) CopyOwn(dst, spread.from, bytes);
}

void Scatter(Team& team, const void* src, void* dst) {
  const std::size_t bytes = team.what().bytes;
  const std::uint32_t root = team.what().root;
  const bool is_root = team.self() == root;
  const auto sync_and_keep_own = [&](const auto& send) {
    team.LastSync(send);
    if (is_root) CopyOwn(dst, At(src, root * bytes), bytes);
  };
  if (team.p() == 1 || bytes == 0) return sync_and_keep_own([] {});
  if (team.Choose().algorithm == Algorithm::kRead) {
    const void* const area = team.Register(is_root ? src : nullptr, team.p() * bytes);
    if (!is_root) team.Get(root, area, team.self() * bytes, dst, bytes);
    team.Unregister(area);
    sync_and_keep_own([] {});
    return;
  }
  const bool scratch = team.HasRoom(bytes);
  const void* const area = scratch ? team.Scratch() : team.Register(dst, bytes);
  if (!scratch) team.Unregister(dst);
  sync_and_keep_own([&] {
    for (std::uint32_t step = 1; is_root && step < team.p(); ++step) {
      const std::uint32_t to = (root + step) % team.p();
      team.Put(to, At(src, to * bytes), area, 0, bytes);
    }
  });
  if (scratch && !is_root) CopyOwn(dst, area, bytes);
}

void Gather(Team& team, const void* src, void* dst) {
  const std::size_t bytes = team.what().bytes;
  const std::uint32_t root = team.what().root;
  const bool is_root = team.self() == root;
  const Blocks blocks{static_cast<std::byte*>(dst), root * bytes, bytes, team.p() * bytes};
  if (team.p() == 1 || bytes == 0) {
    team.LastSync();
    CopyOwn(dst, src, bytes);
    return;
  }
  team.Choose();
  const bool scratch = team.HasRoom(blocks.all);
  const void* const area =
      scratch ? team.Scratch() : team.Register(is_root ? dst : nullptr, blocks.all);
  if (!scratch) team.Unregister(area);
  team.LastSync([&] {
    if (!is_root) team.Put(root, src, area, team.self() * bytes, bytes);
  });
  if (is_root) blocks.Complete(scratch ? area : nullptr, src);
}

void Exchange(Team& team, const void* src, void* dst) {
  const std::size_t bytes = team.what().bytes;
  const Blocks blocks{static_cast<std::byte*>(dst), team.self() * bytes, bytes, team.p() * bytes};
  if (team.p() == 1 || bytes == 0) {
    team.LastSync();
    CopyOwn(dst, src, bytes);
    return;
  }
  team.Choose();
  const bool scratch = team.HasRoom(blocks.all);
  const void* const area = scratch ? team.Scratch() : team.Register(dst, blocks.all);
  if (!scratch) team.Unregister(dst);
  team.LastSync([&] {
    for (std::uint32_t step = 1; step < team.p(); ++step) {
      const std::uint32_t peer = (team.self() + step) % team.p();
      team.Put(peer, At(src, peer * bytes), area, blocks.own, bytes);
    }
  });
  blocks.Complete(scratch ? area : nullptr, At(src, blocks.own));
}

const std::byte* GatherOnAll(Team& team, const void* value) {
  const std::size_t bytes = team.what().bytes;
  std::byte* const all = team.Scratch();
  for (std::uint32_t pid = 0; pid < team.p(); ++pid) {
    team.Put(pid, value, all, team.self() * bytes, bytes);
  }
  team.LastSync();
  return all;
}

}  // namespace bspnow::runtime
