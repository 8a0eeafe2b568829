#include "runtime/testing/counted_supersteps.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"

namespace bspnow::runtime {
namespace {

std::uint64_t Draw(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  std::uint64_t x = a;
  for (const std::uint64_t word : {b, c, d}) {
    x = (x ^ (x >> 31) ^ word) * 0x7fb5'd329'728e'a185;
    x = (x ^ (x >> 27)) * 0x81da'def4'bc2d'd44d;
  }
  return x ^ (x >> 33);
}

class CountedRun {
 public:
  CountedRun(Process& process, Group& group, std::uint64_t seed)
      : process_(process), group_(group), seed_(seed), self_(Value(group.self())) {}

  void Superstep(std::uint64_t s);

 private:
  // In most supersteps nothing goes from one to another.
  std::uint64_t CountOf(std::uint64_t s, std::uint32_t from, std::uint32_t to) const {
    const std::uint64_t x = Draw(seed_, s, from, to);
    return x % 3 == 0 ? x / 3 % 5 : 0;
  }
  std::uint64_t ContentOf(std::uint64_t s, std::uint32_t from, std::uint32_t to,
                          std::uint64_t n) const {
    return Draw(seed_ + 1, s, from, to) + n;
  }
  static std::uint64_t WordsOf(std::uint64_t content) {
    return content % 151 == 0 ? 40'000 : 1 + content % 100;
  }
  std::uint64_t Due(std::uint64_t s) const {
    std::uint64_t due = 0;
    for (std::uint32_t from = 0; from < group_.p(); ++from) due += CountOf(s, from, self_);
    return due;
  }
  void Expect(bool condition, const char* claim, std::uint64_t s) const;  // tidy: an assertion
  void Send(std::uint64_t s);
  void Read(std::uint64_t s);

  Process& process_;
  Group& group_;
  const std::uint64_t seed_;
  const std::uint32_t self_;
  std::vector<std::uint64_t> content_;
};

void CountedRun::Expect(bool condition, const char* claim,  // tidy: an assertion
                        std::uint64_t s) const {
  if (condition) return;
  fprintf(stderr, "counted supersteps: pid %u of %u, superstep %llu: not so: %s\n", self_,
          group_.p(), static_cast<unsigned long long>(s), claim);
  _exit(1);
}

void CountedRun::Send(std::uint64_t s) {
  for (std::uint32_t to = 0; to < group_.p(); ++to) {
    for (std::uint64_t n = 0; n < CountOf(s, self_, to); ++n) {
      const std::uint64_t word = ContentOf(s, self_, to, n);
      content_.assign(WordsOf(word), word);
      group_.Send("test", to, nullptr, content_.data(), content_.size() * sizeof word);
    }
  }
}

void CountedRun::Read(std::uint64_t s) {
  BsmpInbox& inbox = group_.inbox();
  Expect(inbox.count() == Due(s), "as many messages as were sent", s);
  for (std::uint32_t from = 0; from < group_.p(); ++from) {
    for (std::uint64_t n = 0; n < CountOf(s, from, self_); ++n, inbox.Pop()) {
      const std::uint64_t word = ContentOf(s, from, self_, n);
      const BsmpInbox::Message message = inbox.Front();
      const auto* const words = reinterpret_cast<const std::uint64_t*>(message.payload);
      Expect(message.payload_bytes == WordsOf(word) * sizeof word, "the message's size", s);
      Expect(std::count(words, words + WordsOf(word), word) ==
                 static_cast<std::ptrdiff_t>(WordsOf(word)),
             "its bytes", s);
    }
  }
}

void CountedRun::Superstep(std::uint64_t s) {
  Send(s);
  if (Draw(seed_, s, 7, 7) % 16 != 0) {
    process_.SyncCounted(group_, "test", Due(s));
  } else {
    process_.Sync(group_, 0);
  }
  if (Draw(seed_, s, self_, 9) % 61 == 0) {
    for (const std::uint64_t start = NowNs(); NowNs() - start < 300'000;) sched_yield();
  }
  Read(s);
}

}  // namespace

void RunCountedSupersteps(Process& process, Group& group, std::uint64_t seed,
                          std::uint64_t supersteps) {
  CountedRun run(process, group, seed);
  for (std::uint64_t s = 0; s < supersteps; ++s) run.Superstep(s);
}

}  // namespace bspnow::runtime
