#include "runtime/link/superstep_profile.h"

#include <gtest/gtest.h>

#include <vector>

namespace bspnow {
namespace {

constexpr std::uint32_t kMany = 1024;  // So that there are as few records as can be.

struct Profile {
  explicit Profile(std::uint32_t p = kMany)
      : memory(ProfileBytesOf(p) / sizeof(std::uint64_t)),
        part(reinterpret_cast<std::byte*>(memory.data()), p) {}

  void Add(std::uint64_t compute_ns, std::uint16_t site) {
    part.Add({.compute_ns = compute_ns, .bytes_out = 2 * compute_ns, .messages_out = 1}, 1, site);
  }
  std::uint64_t ComputeOfRecords() const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < part.used(); ++i) sum += part.records()[i].compute_ns;
    return sum;
  }

  std::vector<std::uint64_t> memory;
  ProfilePart part;
};

TEST(SuperstepProfileTest, TakesLessThan64BytesOfAProcessAndSuperstep) {
  EXPECT_LT((ProfileBytesOf(4) - sizeof(ProfileHead)) / ProfileRecordsOf(4), 64u);
  EXPECT_EQ(ProfileRecordsOf(64), kProfileRecordsMax);
  EXPECT_EQ(ProfileRecordsOf(16384), kProfileRecordsMin);
}

TEST(SuperstepProfileTest, HasEachSuperstepUntilItIsFull) {
  Profile profile;
  for (std::uint64_t s = 0; s < kProfileRecordsMin; ++s) profile.Add(s, s % 2);
  EXPECT_EQ(profile.part.used(), kProfileRecordsMin);
  EXPECT_EQ(profile.part.supersteps_of_record(), 1u);
  EXPECT_EQ(profile.part.records()[7].compute_ns, 7u);
  EXPECT_EQ(profile.part.record_sites()[7], 1u);
}

TEST(SuperstepProfileTest, MergesNeighboursAndDropsNothing) {
  Profile profile;
  std::uint64_t sum = 0;
  constexpr std::uint64_t kSupersteps = 100'001;
  for (std::uint64_t s = 0; s < kSupersteps; ++s) {
    profile.Add(s, s < 50'000 ? 3 : 4);
    sum += s;
  }
  EXPECT_EQ(profile.part.supersteps(), kSupersteps);
  EXPECT_EQ(profile.part.supersteps_of_record(), 512u);
  EXPECT_EQ(profile.part.used(), (kSupersteps + 511) / 512);
  EXPECT_EQ(profile.ComputeOfRecords(), sum);
  EXPECT_EQ(profile.part.records()[0].compute_ns, 512u * 511u / 2);
  EXPECT_EQ(profile.part.records()[0].messages_out, 512u);
  EXPECT_EQ(profile.part.record_sites()[0], 3u);
  EXPECT_EQ(profile.part.record_sites()[50'000 / 512], kSeveralSites);
  EXPECT_EQ(profile.part.head().sites[3].supersteps, 50'000u);
  EXPECT_EQ(
      profile.part.head().sites[3].sums.compute_ns + profile.part.head().sites[4].sums.compute_ns,
      sum);
}

TEST(SuperstepProfileTest, AddsAPauseToTheSuperstepBefore) {
  Profile profile;
  profile.part.AddToLast({.exchange_ns = 9}, kImageTaken);  // There is none: nothing happens.
  EXPECT_EQ(profile.part.used(), 0u);
  profile.Add(1, 2);
  profile.part.AddToLast({.exchange_ns = 9}, kImageTaken);
  EXPECT_EQ(profile.part.records()[0].exchange_ns, 9u);
  EXPECT_EQ(profile.part.record_sites()[0], 2 | kImageTaken);
  EXPECT_EQ(profile.part.head().sites[2].sums.exchange_ns, 9u);
}

TEST(SuperstepProfileTest, CountsOfMessagesStayAtTheirLargest) {
  Profile profile;
  profile.Add(1, 0);
  profile.part.AddToLast({.messages_out = 0xffffffff}, 0);
  EXPECT_EQ(profile.part.records()[0].messages_out, 0xffffffffu);
  const ProfiledSite& site = profile.part.head().sites[0];
  EXPECT_EQ(site.messages_out, std::uint64_t{0x1'0000'0000});  // Of a call there is no largest.
}

TEST(SuperstepProfileTest, ACopyGoesOnAsTheOriginalWould) {
  Profile original;
  for (std::uint64_t s = 0; s < 1'000; ++s) original.Add(s, 1);
  Profile copy;
  CopyProfile(original.part, copy.part);
  original.Add(5, 2);
  copy.Add(5, 2);
  EXPECT_EQ(copy.part.supersteps(), original.part.supersteps());
  EXPECT_EQ(copy.ComputeOfRecords(), original.ComputeOfRecords());
  EXPECT_EQ(copy.part.head().sites[2].supersteps, 1u);
}

TEST(SuperstepProfileTest, WhateverAProcessWroteThereIsReadWithinBounds) {
  Profile hostile;
  ProfileHead& head = hostile.part.head();
  head.changes = 1;
  head.supersteps = ~std::uint64_t{0};
  head.merged_bits = ~std::uint64_t{0};
  head.sites_used = ~std::uint32_t{0};
  Profile copy;
  CopyProfile(hostile.part, copy.part);
  EXPECT_LE(copy.part.used(), kProfileRecordsMin);
}

}  // namespace
}  // namespace bspnow
