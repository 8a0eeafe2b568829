#include "runtime/testing/group_tree.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "base/clock.h"

namespace bspnow::runtime {
namespace {

constexpr int kDepthMax = 3;

std::uint64_t Mixed(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x7fb5'd329'728e'a185;
  x = (x ^ (x >> 27)) * 0x81da'def4'bc2d'd44d;
  return x ^ (x >> 33);
}

/// A number that all processes know; `path` names a group.
std::uint64_t Draw(std::uint64_t path, std::initializer_list<std::uint64_t> what) {
  std::uint64_t x = Mixed(path + 1);
  for (const std::uint64_t w : what) x = Mixed(x * 31 + w + 1);
  return x;
}

enum What : std::uint64_t {
  kSteps,
  kMessages,
  kBytes,
  kContent,
  kPut,
  kShown,
  kChild,
  kPart,
  kNap
};

void Expect(bool condition, const char* claim,  // tidy: an assertion
            const Group& group, std::uint64_t superstep) {
  if (condition) return;
  fprintf(stderr,
          "group tree: pid %u, which is %u of %u, superstep %llu of the group: not so: %s\n",
          group.member(Value(group.self())), Value(group.self()), group.p(),
          static_cast<unsigned long long>(superstep), claim);
  _exit(1);
}

void Idle() {
  for (const std::uint64_t start = NowNs(); NowNs() - start < 300'000;) sched_yield();
}

class Walker {
 public:
  explicit Walker(Process& process) : process_(process) {}

  void Visit(Group& group, std::uint64_t path, int depth);
  std::uint64_t supersteps() const { return supersteps_; }

 private:
  void Sync(Group& group);
  void Send(Group& group, std::uint64_t path, std::uint64_t s);
  void VisitChildren(Group& group, std::uint64_t path, std::uint64_t where, int depth);
  Group& Child(Group& group, std::uint64_t path, std::uint64_t where, std::uint64_t& child_path);

  Process& process_;
  std::uint64_t supersteps_ = 0;
};

/// What a member has registered and gets into; alive while its group is.
struct Areas {
  std::vector<std::uint64_t> written;  ///< By source.
  std::uint64_t shown = 0;
  std::uint64_t got = 0;
};

std::uint64_t MessagesOf(std::uint64_t path, std::uint64_t s, std::uint64_t from,
                         std::uint64_t to) {
  return Draw(path, {kMessages, s, from, to}) % 4;
}

std::vector<std::byte> MessageOf(std::uint64_t path, std::uint64_t s, std::uint64_t from,
                                 std::uint64_t to, std::uint64_t n) {
  const std::uint64_t size = Draw(path, {kBytes, s, from, to, n});
  std::vector<std::byte> content(size % 7 == 0 ? size % 100'000 : size % 200);
  std::uint64_t word = Draw(path, {kContent, s, from, to, n});
  for (std::byte& b : content) b = static_cast<std::byte>((word = word * 25214903917 + 11) >> 32);
  return content;
}

enum class Extent { kHalf, kAll };

/// Reads what came to this process in superstep `s` of the group, from the `done`-th message on,
/// until all or half of it has been read.
void Read(Group& group, std::uint64_t path, std::uint64_t s, std::uint64_t& done, Extent extent) {
  const auto self = std::uint64_t{Value(group.self())};
  std::uint64_t number = 0;
  std::uint64_t count = 0;
  for (std::uint64_t from = 0; from < group.p(); ++from) count += MessagesOf(path, s, from, self);
  Expect(group.inbox().count() == count - done, "as many messages as were sent", group, s);
  for (std::uint64_t from = 0; from < group.p(); ++from) {
    for (std::uint64_t n = 0; n < MessagesOf(path, s, from, self); ++n) {
      if (number++ < done) continue;
      if (extent == Extent::kHalf && done >= count / 2) return;
      const std::vector<std::byte> wanted = MessageOf(path, s, from, self, n);
      const BsmpInbox::Message message = group.inbox().Front();
      Expect(message.payload_bytes == wanted.size(), "the message's size", group, s);
      Expect(std::equal(wanted.begin(), wanted.end(), message.payload), "its bytes", group, s);
      group.inbox().Pop();
      done += 1;
    }
  }
}

Transfer TransferOf(Direction direction, std::uint32_t pid, const void* area, std::uint64_t offset,
                    void* local) {
  return {.call = "group tree",
          .direction = direction,
          .buffering = Buffering::kBuffered,
          .pid = pid,
          .area = area,
          .offset = offset,
          .local = local,
          .bytes = sizeof(std::uint64_t),
          .call_site = 0};
}

void Walker::Sync(Group& group) {
  process_.Sync(group, 0);
  supersteps_ += 1;
}

void Walker::Send(Group& group, std::uint64_t path, std::uint64_t s) {
  const auto self = std::uint64_t{Value(group.self())};
  for (std::uint32_t to = 0; to < group.p(); ++to) {
    for (std::uint64_t n = 0; n < MessagesOf(path, s, self, to); ++n) {
      const std::vector<std::byte> content = MessageOf(path, s, self, to, n);
      group.Send("group tree", to, nullptr, content.data(), content.size());
    }
  }
}

// One of two children at a time, or both open, and left in either order.
void Walker::VisitChildren(Group& group, std::uint64_t path, std::uint64_t where, int depth) {
  const std::uint64_t choice = Draw(path, {kChild, where}) % 6;
  if (depth == kDepthMax || choice > 2) return;
  std::uint64_t first_path = 0;
  Group& first = Child(group, path, where, first_path);
  if (choice == 0) {
    Visit(first, first_path, depth + 1);
    return process_.Leave(first);
  }
  std::uint64_t second_path = 0;
  Group& second = Child(group, path, where + 1, second_path);
  Visit(second, second_path, depth + 1);
  if (choice == 1) process_.Leave(second);
  Visit(first, first_path, depth + 1);
  process_.Leave(first);
  if (choice == 2) process_.Leave(second);
}

Group& Walker::Child(Group& group, std::uint64_t path, std::uint64_t where,
                     std::uint64_t& child_path) {
  const std::uint64_t parts = Draw(path, {kPart, where}) % 4;
  child_path = Draw(path, {kChild, where, parts});
  if (parts == 0) return process_.Duplicate(group);
  std::vector<std::uint32_t> part_of(group.p());
  for (std::uint32_t pid = 0; pid < group.p(); ++pid)
    part_of[pid] = static_cast<std::uint32_t>(Draw(path, {kPart, where, pid}) % parts);
  child_path = Draw(child_path, {part_of[Value(group.self())]});
  return process_.Partition(group, part_of.data());
}

void Walker::Visit(Group& group, std::uint64_t path, int depth) {
  const auto self = Value(group.self());
  const std::uint32_t p = group.p();
  Areas areas;
  areas.written.resize(p);
  group.Push("bsp_push_reg", reinterpret_cast<std::uintptr_t>(areas.written.data()),
             p * sizeof(std::uint64_t));
  group.Push("bsp_push_reg", reinterpret_cast<std::uintptr_t>(&areas.shown), sizeof areas.shown);
  Sync(group);
  const std::uint64_t steps = 1 + Draw(path, {kSteps}) % 4;
  for (std::uint64_t s = 1; s <= steps; ++s) {
    if (Draw(path, {kNap, s, self}) % 8 == 0) Idle();  // Others are ahead, in another group.
    Send(group, path, s);
    std::uint64_t value = 0;
    for (std::uint32_t to = 0; to < p; ++to) {
      value = Draw(path, {kPut, s, self, to});
      group.Move(
          TransferOf(Direction::kPut, to, areas.written.data(), self * sizeof value, &value));
    }
    const std::uint32_t asked = (self + static_cast<std::uint32_t>(s)) % p;
    group.Move(TransferOf(Direction::kGet, asked, &areas.shown, 0, &areas.got));
    VisitChildren(group, path, 10 * s, depth);  // Nothing of this superstep is delivered yet.
    areas.shown = Draw(path, {kShown, s, self});
    Sync(group);
    Expect(areas.got == Draw(path, {kShown, s, asked}), "what was got", group, s);
    for (std::uint32_t from = 0; from < p; ++from)
      Expect(areas.written[from] == Draw(path, {kPut, s, from, self}), "what was put", group, s);
    std::uint64_t read = 0;
    Read(group, path, s, read, Extent::kHalf);
    VisitChildren(group, path, 10 * s + 5, depth);  // The rest of the messages must stay.
    Read(group, path, s, read, Extent::kAll);
  }
  // The areas go, and nobody may write there any more.
  group.Pop("bsp_pop_reg", reinterpret_cast<std::uintptr_t>(&areas.shown));
  group.Pop("bsp_pop_reg", reinterpret_cast<std::uintptr_t>(areas.written.data()));
  Sync(group);
}

}  // namespace

std::uint64_t RunGroupTree(Process& process, std::uint64_t seed) {
  Walker walker(process);
  walker.Visit(process.root(), Mixed(seed), 0);
  return walker.supersteps();
}

}  // namespace bspnow::runtime
