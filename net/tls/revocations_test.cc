#include "net/tls/revocations.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/scratch_directory.h"

namespace bspnow {
namespace {

class RevocationsTest : public testing::Test {
 protected:
  void Write(const std::string& text) const {
    const std::string path = scratch_.path() + "/revoked", next = path + ".next";
    std::ofstream(next) << text;
    std::filesystem::rename(next, path);
  }

  static CertificateFacts Worker(const std::string& name, std::int64_t begins_unix_s) {
    return {.identity = CertificateIdentity{CertificateRole::kWorker, name, ""},
            .hosts = {},
            .begins_unix_s = begins_unix_s,
            .ends_unix_s = begins_unix_s + 1000};
  }

  const ScratchDirectory scratch_;
  Revocations revocations_{scratch_.path()};
};

TEST_F(RevocationsTest, WithoutAFileNothingIsRevoked) {
  EXPECT_TRUE(revocations_.Check(Worker("one", 1)).ok());
  EXPECT_TRUE(Revocations("").Check(Worker("one", 1)).ok());
}

TEST_F(RevocationsTest, CountsNoMoreIfItWasIssuedUntilThen) {
  Write("client one 900\nworker one 500\n");
  EXPECT_TRUE(absl::IsUnauthenticated(revocations_.Check(Worker("one", 500))));
  EXPECT_TRUE(revocations_.Check(Worker("one", 501)).ok());
  EXPECT_TRUE(revocations_.Check(Worker("two", 1)).ok());
}

TEST_F(RevocationsTest, ReadsTheFileAgainWhenItChanges) {
  EXPECT_TRUE(revocations_.Check(Worker("one", 1)).ok());
  Write("worker one 500\n");
  EXPECT_FALSE(revocations_.Check(Worker("one", 1)).ok());
  Write("worker two 500\n");
  EXPECT_TRUE(revocations_.Check(Worker("one", 1)).ok());
}

// Half a file would let in whom the other half keeps out.
TEST_F(RevocationsTest, NoCertificateCountsWithAFileThatCannotBeRead) {
  for (const char* text : {"worker one\n", "worker two 500\nwork", "boss one 500\n",
                           "worker one 500 600\n", "worker one soon\n"}) {
    Write(text);
    const absl::Status refused = revocations_.Check(Worker("three", 1));
    EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << text;
    EXPECT_NE(refused.message().find(scratch_.path() + "/revoked, line"), std::string::npos);
  }
}

TEST_F(RevocationsTest, WhatIsWrittenIsRead) {
  const RevokedUntil revoked = {{{CertificateRole::kAdmin, "anna"}, 5},
                                {{CertificateRole::kWorker, "one"}, 1'795'993'200}};
  Write(RevokedText(revoked));
  EXPECT_EQ(ReadRevoked(scratch_.path()).value(), revoked);
}

}  // namespace
}  // namespace bspnow
