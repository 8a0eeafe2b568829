// Peers that misbehave, in both directions.
#include "worker/checkpoint/images_service.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/testing/file_text.h"
#include "base/testing/scratch_directory.h"
#include "base/unique_fd.h"
#include "net/socket.h"
#include "net/tls/authority.h"
#include "net/tls/rpc_credentials.h"
#include "worker/checkpoint/testing/image_node.h"
#include "worker/checkpoint/testing/images_raw_stub.h"
#include "worker/checkpoint/testing/silent_images.h"

namespace bspnow::worker {
namespace {

TEST(ImagesStubTest, PeerThatHangsIsGivenUp) {
  Node node(0);
  node.Take(1, 0, {0});
  const SilentImages silent;
  ImagesStub stub(RpcCredentials::Plain(), std::chrono::milliseconds(100));
  const std::string there = ImageName(1, Pid{2}), here = ImageName(1, Pid{0});
  const absl::Status got = stub.Get(silent.address(), node.store(), kJob, there, node.restore());
  EXPECT_TRUE(absl::IsDeadlineExceeded(got)) << got;
  EXPECT_FALSE(node.store().Has(kJob, there));
  const absl::Status put = stub.Put(silent.address(), node.store(), kJob, here);
  EXPECT_TRUE(absl::IsDeadlineExceeded(put)) << put;
}

TEST(ImagesServiceTest, CrowdOfIdleConnectionsDoesNotMakeItDeaf) {
  Node node(0);
  rlimit had{};
  getrlimit(RLIMIT_NOFILE, &had);
  const rlimit few{400, had.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto where = Resolve(*ParseHostPort(node.address()));
  ASSERT_TRUE(where.ok());
  {
    std::vector<UniqueFd> idle;  // Both ends are in this process.
    for (auto one = BeginConnect(*where, {}); one.ok(); one = BeginConnect(*where, {})) {
      idle.push_back(*std::move(one));
    }
    EXPECT_GT(idle.size(), 100u);
  }
  ImagesStub stub(RpcCredentials::Plain());
  const std::uint64_t begin_ns = NowNs();
  absl::Status listed;
  do {
    listed = stub.List(node.address(), node.store(), kJob).status();
  } while (!listed.ok() && NowNs() - begin_ns < 20'000'000'000u);
  EXPECT_TRUE(listed.ok()) << listed;
  setrlimit(RLIMIT_NOFILE, &had);
}

proto::FileChunk Piece(std::uint64_t job, const std::string& name, std::uint64_t bytes,
                       const std::string& data) {
  proto::FileChunk piece;
  piece.set_job(job);
  piece.set_name(name);
  piece.set_bytes(bytes);
  piece.set_data(data);
  return piece;
}

TEST(ImagesServiceTest, AnswersWorkersOfItsClusterAlone) {
  Node node(0), outsider(0);
  node.Take(1, 0, {0});
  outsider.Take(2, 0, {0});
  const std::string there = ImageName(1, Pid{0}), here = ImageName(2, Pid{0});
  ImagesStub stub(RpcCredentials::Plain());
  for (const StreamKey& key :
       {StreamKey(), *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'o'))}) {
    outsider.store().token().Set(key);
    const absl::Status got =
        stub.Get(node.address(), outsider.store(), kJob, there, outsider.restore());
    EXPECT_TRUE(absl::IsUnauthenticated(got)) << got;
    const absl::Status put = stub.Put(node.address(), outsider.store(), kJob, here);
    EXPECT_TRUE(absl::IsUnauthenticated(put)) << put;
    const absl::Status listed = stub.List(node.address(), outsider.store(), kJob).status();
    EXPECT_TRUE(absl::IsUnauthenticated(listed)) << listed;
  }
  EXPECT_FALSE(outsider.store().Has(kJob, there));
  EXPECT_FALSE(node.store().Has(kJob, here));
  EXPECT_EQ(node.server().refused(), 6u);
}

// Each proves the key of the cluster, as who had been one of its workers can.
TEST(ImagesServiceTest, WithTlsItAnswersThoseWhoAreWorkersNow) {
  const ScratchDirectory scratch;
  const std::int64_t now = UnixMs() / 1000;
  const std::string ca = scratch.path() + "/ca";
  ASSERT_TRUE(CertificateAuthority::Init(ca, 30, now).ok());
  const auto authority = CertificateAuthority::Open(ca, now);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const auto issue = [&](CertificateRole role, const std::string& name) {
    CertificateRequest request{
        .identity = {.role = role, .name = name, .user = ""}, .hosts = {}, .days = 1};
    if (role == CertificateRole::kWorker) request.hosts = {"127.0.0.1"};
    const std::string directory = scratch.path() + "/" + name;
    EXPECT_TRUE(authority->Issue(request, directory).ok());
    return *RpcCredentials::Load(directory, TlsUse::kCall);
  };
  issue(CertificateRole::kWorker, "here");
  Node node(0, *RpcCredentials::Load(scratch.path() + "/here", TlsUse::kWork)), caller(0);
  const auto list_as = [&](const RpcCredentials& credentials) {
    ImagesStub stub(credentials);
    return stub.List(node.address(), caller.store(), kJob).status();
  };
  const RpcCredentials other = issue(CertificateRole::kWorker, "other");
  EXPECT_TRUE(list_as(other).ok()) << list_as(other);
  const absl::Status client = list_as(issue(CertificateRole::kClient, "anna"));
  EXPECT_TRUE(absl::IsUnauthenticated(client)) << client;
  std::filesystem::create_directory(scratch.path() + "/none");
  std::filesystem::copy_file(ca + "/ca.crt", scratch.path() + "/none/ca.crt");
  const absl::Status none = list_as(*RpcCredentials::Load(scratch.path() + "/none", TlsUse::kCall));
  EXPECT_TRUE(absl::IsUnauthenticated(none)) << none;
  ASSERT_TRUE(authority->Revoke(CertificateRole::kWorker, "other").ok());
  std::filesystem::copy_file(ca + "/revoked", scratch.path() + "/here/revoked");
  const absl::Status revoked = list_as(other);
  EXPECT_TRUE(absl::IsUnauthenticated(revoked)) << revoked;
}

TEST(ImagesServiceTest, TakesAndGivesNothingOutsideItsDirectory) {
  Node node(0);
  for (const char* name : {"", "../c1.p0", "c1.p0/../../x", "/etc/passwd", "c1.p0.new", "notes"}) {
    EXPECT_EQ(PutPieces(node.address(), {Piece(17, name, 1, "x")}).code(),
              absl::StatusCode::kInvalidArgument)
        << name;
    EXPECT_EQ(GetByName(node.address(), name).code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(PutPieces(node.address(), {Piece(0, "c1.p0", 1, "x")}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(PutPieces(node.address(), {}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(GetByName(node.address(), "c1.p0").code(), absl::StatusCode::kNotFound);
}

TEST(ImagesServiceTest, KeepsNothingThatIsShorterOrLongerThanWasSaid) {
  Node node(0);
  const std::string bytes =
      Encode({.job = kJob, .checkpoint = 1, .base = 0, .pid = 0, .texts = {}});
  EXPECT_EQ(PutPieces(node.address(), {Piece(17, "c1.p0", bytes.size() + 1, bytes)}).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(PutPieces(node.address(), {Piece(17, "c1.p0", bytes.size() - 1, bytes)}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(node.files(), 0u);
  EXPECT_TRUE(PutPieces(node.address(), {Piece(17, "c1.p0", bytes.size(), bytes.substr(0, 4096)),
                                         Piece(0, "", 0, bytes.substr(4096))})
                  .ok());
}

TEST(ImagesServiceTest, PeerThatLeavesInTheMiddleLeavesNothingBehind) {
  Node node(0);
  { const HalfAPut half(node.address(), Piece(17, "c1.p0", 1 << 20, "x")); }
  node.server().Shutdown();
  EXPECT_TRUE(!std::filesystem::exists(node.store().DirectoryOf(kJob)) || node.files() == 0);
}

/// A put of which half has arrived, by a peer of the cluster that the node is of.
class JoiningTest : public testing::Test {
 protected:
  void SetUp() override {
    Node other(0);
    other.Take(1, 0, {0});
    const std::string image = FileText(other.PathOf(kName));
    ASSERT_GT(image.size(), 1u);
    rest_.set_data(image.substr(1));
    put_.emplace(node_.address(), Piece(17, kName, image.size(), image.substr(0, 1)));
    const std::uint64_t begin_ns = NowNs();
    while (!std::filesystem::exists(node_.store().DirectoryOf(kJob)))
      ASSERT_LT(NowNs() - begin_ns, 20'000'000'000u);
  }

  absl::Status Join(const std::string& cluster) {
    return node_.store().cluster_note().Write({.cluster = cluster});
  }

  const std::string kName = FilesName(1, 0);
  Node node_{0};
  std::optional<HalfAPut> put_;
  proto::FileChunk rest_;
};

TEST_F(JoiningTest, WhatArrivesIsKept) {
  EXPECT_EQ(put_->SendRest(rest_), absl::OkStatus());
  EXPECT_TRUE(node_.store().Has(kJob, kName));
}

TEST_F(JoiningTest, WhatArrivesAfterItJoinedAnotherClusterIsNotKept) {
  ASSERT_EQ(Join("c2"), absl::OkStatus());
  EXPECT_TRUE(absl::IsFailedPrecondition(put_->SendRest(rest_)));
  EXPECT_FALSE(node_.store().Has(kJob, kName));
}

// It has seen that nothing is kept here, and notes the other cluster next.
TEST_F(JoiningTest, NothingGetsItsNameWhileItJoins) {
  auto joining = node_.store().cluster_note().BeginJoin();
  auto sent = std::async(std::launch::async, [this] { return put_->SendRest(rest_); });
  EXPECT_EQ(sent.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  EXPECT_FALSE(node_.store().Has(kJob, kName));
  ASSERT_EQ(Join("c2"), absl::OkStatus());
  joining.unlock();
  EXPECT_TRUE(absl::IsFailedPrecondition(sent.get()));
  EXPECT_FALSE(node_.store().Has(kJob, kName));
}

/// Accepts connections and never says a word: a machine that hangs.
TEST(ImagesStubTest, PeerThatNeverAnswersIsNoticedSoon) {
  const auto address = Resolve({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(address.ok());
  const auto mute = Listen(*address, {});
  ASSERT_TRUE(mute.ok());
  const auto listens = LocalAddress(mute->get());
  ASSERT_TRUE(listens.ok());
  const Node node(0);
  ImagesStub stub(RpcCredentials::Plain());
  const auto listed = stub.List(listens->ToString(), node.store(), kJob);
  EXPECT_EQ(listed.status().code(), absl::StatusCode::kUnavailable) << listed.status();
}

TEST(ImagesStubTest, StopBreaksOffWhatIsUnderWayAndWhatComesLater) {
  const auto address = Resolve({.host = "127.0.0.1", .port = 0});
  ASSERT_TRUE(address.ok());
  const auto mute = Listen(*address, {});
  ASSERT_TRUE(mute.ok());
  const std::string to = LocalAddress(mute->get())->ToString();
  const Node node(0);
  ImagesStub stub(RpcCredentials::Plain());
  absl::Status listed;
  {
    const std::jthread caller([&] { listed = stub.List(to, node.store(), kJob).status(); });
    stub.Stop();
  }
  EXPECT_EQ(listed.code(), absl::StatusCode::kCancelled) << listed;
  EXPECT_EQ(stub.List(to, node.store(), kJob).status().code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace bspnow::worker
