// Puts and gets of two processes, both in this one, against a model: whatever records the outbox
// makes of them.
#include "runtime/transfers/drma_delivery.h"

#include <gtest/gtest.h>
#include <string.h>

#include <array>
#include <memory>
#include <random>
#include <vector>

#include "runtime/link/testing/node_memory.h"
#include "runtime/transfers/outbox.h"

namespace bspnow::runtime {
namespace {

constexpr std::uint32_t kProcesses = 2;
constexpr std::size_t kAreaBytes = 5000;
constexpr std::uint32_t kAreas = 2;

using Bytes = std::vector<std::uint8_t>;

struct Member {
  std::array<Bytes, kAreas> areas{Bytes(kAreaBytes), Bytes(kAreaBytes)};
  Bytes got = Bytes(kAreaBytes);
  RegistrationTable registrations;
  Outbox outbox;
  DrmaDelivery delivery;
};

/// What the calls must come to: gets see the areas before any put, puts come in the order of source
/// and issue (BSPlib 1997, "Direct Remote Memory Access").
struct Model {
  struct Put {
    std::uint32_t to, area;
    std::uint64_t offset;
    Bytes data;
  };
  struct Get {
    std::uint32_t by, from, area;
    std::uint64_t offset, into, bytes;
  };
  std::array<std::vector<Put>, kProcesses> puts;
  std::vector<Get> gets;
};

class DrmaDeliveryTest : public testing::TestWithParam<int> {
 protected:
  DrmaDeliveryTest() : random_(static_cast<std::uint32_t>(GetParam())) {
    for (std::uint32_t i = 0; i < kProcesses; ++i) {
      Member& member = members_[i];
      const Pid self{i};
      member.registrations.Attach(segment_.slots(self), segment_.pops(self, 0),
                                  segment_.pops(self, 1));
      for (Bytes& area : member.areas) {
        EXPECT_TRUE(
            member.registrations.Push(reinterpret_cast<std::uintptr_t>(area.data()), area.size()));
        for (std::uint8_t& byte : area) byte = static_cast<std::uint8_t>(random_());
      }
      member.registrations.Commit();
      member.outbox.Attach(segment_, self, kProcesses, 0);
      member.delivery.Attach(segment_, member.registrations, self, kProcesses, 0);
    }
  }

  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }

  // Of few lengths, so that like ones meet; often where the last one ended.
  std::uint64_t Length() {
    constexpr std::uint64_t kLengths[] = {8, 8, 8, 4, 1, 64, 65, 300};
    return kLengths[Below(8)];
  }
  std::uint64_t Offset(std::uint64_t bytes) {
    if (Below(5) == 0 && next_ + bytes <= kAreaBytes) return next_;
    return Below(kAreaBytes - bytes + 1);
  }

  void Issue(std::uint32_t by) {
    const std::uint64_t bytes = Length();
    const std::uint64_t offset = Offset(bytes);
    next_ = offset + bytes;
    const auto to = static_cast<std::uint32_t>(Below(kProcesses));
    const auto area = static_cast<std::uint32_t>(Below(8) == 0 ? 1 : 0);
    const RemoteRange range{.pid = Pid{to}, .slot = SlotId{area}, .offset = offset, .bytes = bytes};
    if (Below(2) == 0) {
      const std::uint64_t into = Below(kAreaBytes - bytes + 1);
      model_.gets.push_back({by, to, area, offset, into, bytes});
      members_[by].outbox.AppendGet(range, &members_[by].got[into], 0);
    } else {
      Bytes data(bytes);
      for (std::uint8_t& byte : data) byte = static_cast<std::uint8_t>(random_());
      members_[by].outbox.AppendPut(range, data.data(), 0);
      model_.puts[by].push_back({to, area, offset, std::move(data)});
    }
  }

  /// As bsp_sync does it.
  void Sync() {
    for (Member& member : members_) member.outbox.Seal();
    const unsigned parity = members_[0].outbox.parity();
    for (Member& member : members_) member.delivery.AnswerGets(parity);
    for (Member& member : members_)
      for (std::uint32_t i = 0; i < kProcesses; ++i)
        if (member.outbox.has_gets()) member.delivery.WriteGets(Pid{i}, parity);
    for (Member& member : members_) member.delivery.WritePuts(parity);
    for (Member& member : members_) member.outbox.NextSuperstep();
  }

  // Gets in the order of their answerer, as they are written.
  void SyncModel(std::array<std::array<Bytes, kAreas>, kProcesses>& areas,
                 std::array<Bytes, kProcesses>& got) {
    for (std::uint32_t from = 0; from < kProcesses; ++from)
      for (const Model::Get& get : model_.gets)
        if (get.from == from)
          memcpy(&got[get.by][get.into], &areas[from][get.area][get.offset], get.bytes);
    for (const auto& puts : model_.puts)
      for (const Model::Put& put : puts)
        memcpy(&areas[put.to][put.area][put.offset], put.data.data(), put.data.size());
    model_ = Model{};
  }

  std::mt19937 random_;
  Segment segment_ = SegmentOf(kProcesses);
  std::array<Member, kProcesses> members_;
  Model model_;
  std::uint64_t next_ = 0;
};

TEST_P(DrmaDeliveryTest, GivesWhatTheModelGives) {
  for (int superstep = 0; superstep < 20; ++superstep) {
    std::array<std::array<Bytes, kAreas>, kProcesses> areas{members_[0].areas, members_[1].areas};
    std::array<Bytes, kProcesses> got{members_[0].got, members_[1].got};
    const std::uint64_t calls = Below(3000);
    for (std::uint64_t i = 0; i < calls; ++i) Issue(static_cast<std::uint32_t>(Below(kProcesses)));
    Sync();
    SyncModel(areas, got);
    for (std::uint32_t i = 0; i < kProcesses; ++i) {
      ASSERT_EQ(members_[i].areas, areas[i]) << "superstep " << superstep;
      ASSERT_EQ(members_[i].got, got[i]) << "superstep " << superstep;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrmaDeliveryTest, testing::Range(1, 9));

}  // namespace
}  // namespace bspnow::runtime
