#include "worker/advertised_address.h"

#include <gtest/gtest.h>

namespace bspnow::worker {
namespace {

TEST(WithHostOfTest, KeepsARealHost) {
  EXPECT_EQ(*WithHostOf("10.0.0.7:99", "10.0.0.1:7700"), "10.0.0.7:99");
  EXPECT_EQ(*WithHostOf("[::1]:99", "10.0.0.1:7700"), "[::1]:99");
}

TEST(WithHostOfTest, ReplacesAllAddresses) {
  EXPECT_EQ(*WithHostOf("0.0.0.0:99", "head.example:7700"), "head.example:99");
  EXPECT_EQ(*WithHostOf("[::]:99", "[fe80::1]:7700"), "[fe80::1]:99");
}

TEST(WithHostOfTest, RefusesWhatIsNoAddress) { EXPECT_FALSE(WithHostOf("nonsense", "a:1").ok()); }

// With a name for the coordinator it would wait for a name server.
TEST(SetAddressesTest, LooksNothingUpUnlessItListensOnAllAddresses) {
  WorkerSettings settings;
  proto::RegisterRequest request;
  EXPECT_TRUE(SetAddresses(settings, "10.0.0.7:99", 98, "no such name:1", request).ok());
  EXPECT_EQ(request.data_address(), "10.0.0.7:99");
  EXPECT_EQ(request.images_address(), "10.0.0.7:98");
  EXPECT_TRUE(SetAddresses(settings, "0.0.0.0:99", 98, "127.0.0.1:9", request).ok());
  EXPECT_EQ(request.data_address(), "127.0.0.1:99");
  EXPECT_TRUE(SetAddresses(settings, "[::]:99", 98, "ipv6:%5B::1%5D:9", request).ok());
  EXPECT_EQ(request.data_address(), "[::1]:99");
  EXPECT_TRUE(SetAddresses(settings, "0.0.0.0:99", 98, "ipv4:127.0.0.1:9", request).ok());
  EXPECT_FALSE(SetAddresses(settings, "0.0.0.0:99", 98, "unix:/run/x", request).ok());
  EXPECT_EQ(request.data_address(), "127.0.0.1:99");
  settings.advertise = "outside:1";
  EXPECT_TRUE(SetAddresses(settings, "0.0.0.0:99", 98, "no such name:1", request).ok());
  EXPECT_EQ(request.data_address(), "outside:1");
}

TEST(OwnAddressTowardsTest, IsLoopbackForLoopback) {
  const absl::StatusOr<std::string> own = OwnAddressTowards("127.0.0.1:9");
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->substr(0, 10), "127.0.0.1:");
}

TEST(CheckExposureTest, LoopbackOnlyUnlessToldOtherwise) {
  EXPECT_TRUE(CheckExposure("127.0.0.1:9", Exposure::kLoopback).ok());
  EXPECT_FALSE(CheckExposure("10.0.0.7:9", Exposure::kLoopback).ok());
  EXPECT_TRUE(CheckExposure("10.0.0.7:9", Exposure::kAnywhere).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckExposure("nonsense", Exposure::kAnywhere)));
  EXPECT_TRUE(CheckExposure("", Exposure::kLoopback).ok());
  const std::string ways_out(CheckExposure("10.0.0.7:9", Exposure::kLoopback).message());
  EXPECT_NE(ways_out.find("--tls"), std::string::npos);
  EXPECT_NE(ways_out.find("--insecure"), std::string::npos);
}

TEST(CheckExposureTest, ANameThatDoesNotResolveMayDoSoLater) {
  EXPECT_TRUE(absl::IsUnavailable(CheckExposure("nobody.invalid:9", Exposure::kAnywhere)));
}

}  // namespace
}  // namespace bspnow::worker
