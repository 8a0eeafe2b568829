#include "worker/checkpoint/image_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "worker/checkpoint/testing/made_image.h"

namespace bspnow::worker {
namespace {

std::string Verdict(const std::string& bytes) {
  const UniqueFd file = FileOf(bytes);
  const absl::StatusOr<ImageFacts> facts = VerifyImage(file.get(), "c7.p3");
  return facts.ok() ? "good" : std::string(facts.status().message());
}

void ExpectRefused(MadeImage image, const std::string& why) {
  EXPECT_NE(Verdict(image.Bytes()).find(why), std::string::npos) << Verdict(image.Bytes());
}

TEST(ImageFileTest, TellsTheFactsOfAWholeImage) {
  const UniqueFd file = FileOf(MadeImage().Bytes());
  const absl::StatusOr<ImageFacts> facts = VerifyImage(file.get(), "c7.p3");
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->kind, ImageKind::kProcess);
  EXPECT_EQ(facts->job, JobId{17});
  EXPECT_EQ(facts->pid, Pid{3});
  EXPECT_EQ(facts->checkpoint, 7u);
  EXPECT_EQ(facts->superstep, 40u);
  EXPECT_EQ(facts->texts, std::vector<std::string>{"text-00000000000000010000000000000002"});
  EXPECT_EQ(facts->directory, "/bin/program");
  EXPECT_EQ(facts->cpu_features, "sse2 avx");
  EXPECT_EQ(facts->opened, std::vector<std::string>{"/bin/program"});
}

TEST(ImageFileTest, FindsEveryFlippedBit) {
  const std::string good = MadeImage().Bytes();
  for (std::size_t at = 0; at < good.size(); ++at) {
    if (at >= sizeof(ImageHeader) && at < kImagePageBytes) continue;  // Padding: read by nobody.
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    EXPECT_NE(Verdict(flipped), "good") << "byte " << at;
  }
}

TEST(ImageFileTest, NamesFileChunkAndPidOfDamage) {
  MadeImage image;
  image.data = std::string(3 << 20, 'x');
  std::string bytes = image.Bytes();
  bytes[(2 << 20) + 5000] = 'y';
  EXPECT_EQ(Verdict(bytes),
            "c7.p3: damaged: chunk 2 (byte 2101248 and on) of pid 3 does not have its checksum");
}

TEST(ImageFileTest, FindsEveryCut) {
  const std::string good = MadeImage().Bytes();
  for (std::size_t bytes = 0; bytes < good.size(); bytes += 97) {
    EXPECT_NE(Verdict(good.substr(0, bytes)), "good") << bytes;
  }
  EXPECT_NE(Verdict(good + "more"), "good");
}

TEST(ImageFileTest, SaysThatTheWriterDied) {
  MadeImage image;
  image.header.complete = 0;
  ExpectRefused(image, "c7.p3: incomplete");
}

TEST(ImageFileTest, SaysWhichVersionIsMeant) {
  MadeImage image;
  image.header.version = kImageVersion + 1;
  ExpectRefused(image, "format version " + std::to_string(kImageVersion + 1) +
                           "; this worker reads " + std::to_string(kImageVersion));
}

// With right checksums: as if the writer itself were hostile.
TEST(ImageFileTest, RefusesTablesThatLeaveTheFile) {
  const std::uint64_t far = ~std::uint64_t{0} - 4096;
  const std::function<void(ImageHeader&)> mangles[] = {
      [=](ImageHeader& h) { h.regions.offset = far; },
      [=](ImageHeader& h) { h.regions.count = far; },
      [=](ImageHeader& h) { h.texts.count = far / sizeof(ImageText); },
      [=](ImageHeader& h) { h.files.offset = 0; },
      [=](ImageHeader& h) { h.state.count = 0; },
      [=](ImageHeader& h) { h.state.count = 2; },
      [=](ImageHeader& h) { h.runs.offset += 1; },
      [=](ImageHeader& h) { h.runs.count += 1000; },
      [=](ImageHeader& h) { h.strings.count = far; },
      [=](ImageHeader& h) { h.strings.count = 1; },
      [=](ImageHeader& h) { h.data.offset = 0; },
      [=](ImageHeader& h) { h.data.offset = far; },
      [=](ImageHeader& h) { h.data.count += kImagePageBytes * 1024; },
      [=](ImageHeader& h) { h.chunks.offset = 0; },
      [=](ImageHeader& h) { h.chunks.count = 0; },
      [=](ImageHeader& h) { h.file_bytes = far; },
      [=](ImageHeader& h) { h.pid = 4; },
      [=](ImageHeader& h) { h.base = 7; },
      [=](ImageHeader& h) { h.kind = 3; },
  };
  int number = 0;
  for (const auto& mangle : mangles) {
    EXPECT_NE(Verdict(MadeImage().Bytes(mangle)), "good") << "mangle " << number++;
  }
}

// A file with holes is as large as it likes, and takes no room.
TEST(ImageFileTest, RefusesTablesThatNoMemoryHolds) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 40;
  std::uint64_t file_bytes = 0;
  const UniqueFd file = FileOf(MadeImage().Bytes([&](ImageHeader& h) {
    h.data = {.offset = kFar, .count = 0};
    h.chunks = {.offset = kFar, .count = kFar / kImageChunkBytes};
    h.file_bytes = file_bytes = kFar + h.chunks.count * sizeof(ImageChunk);
  }));
  ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(file_bytes)), 0);
  const absl::StatusOr<ImageFacts> facts = ReadImageFacts(file.get(), "c7.p3");
  EXPECT_EQ(facts.status().message(), "c7.p3: damaged: its tables are larger than any");
}

TEST(ImageFileTest, RefusesEntriesThatPointElsewhere) {
  const std::function<void(MadeImage&)> mangles[] = {
      [](MadeImage& i) { i.regions[1].start = 0x18000; },  // Into the one before.
      [](MadeImage& i) { i.regions[1].end = i.regions[1].start; },
      [](MadeImage& i) { i.regions[1].end = std::uint64_t{1} << 60; },
      [](MadeImage& i) { i.regions[1].start += 1; },
      [](MadeImage& i) { i.regions[0].text = 1; },
      [](MadeImage& i) { i.regions[0].text_offset = 0x20000; },
      [](MadeImage& i) { i.texts[0].name = 1000; },
      [](MadeImage& i) { i.runs[0].offset = 0x1000; },
      [](MadeImage& i) { i.runs[0].bytes = 0x5000; },
      [](MadeImage& i) { i.runs[0].kind = 2; },
      [](MadeImage& i) { i.runs[1].start = 0x31000; },
      [](MadeImage& i) { i.files[0].path = 1000; },
      [](MadeImage& i) { i.files[0].kind = 9; },
      [](MadeImage& i) { i.strings.back() = 'x'; },
      [](MadeImage& i) { i.state.auxv_bytes = 1000; },
      [](MadeImage& i) { i.state.directory = ~std::uint64_t{0}; },
      [](MadeImage& i) { i.state.restored_address = 0x10000; },  // Read only.
      [](MadeImage& i) { i.state.restorer_address = 0x8fff8; },  // Half of it.
      [](MadeImage& i) { i.state.registers.rsp = 0; },
      [](MadeImage& i) { memset(i.state.name, 'n', sizeof i.state.name); },
  };
  int number = 0;
  for (const auto& mangle : mangles) {
    MadeImage image;
    mangle(image);
    EXPECT_NE(Verdict(image.Bytes()), "good") << "mangle " << number;
    ++number;
  }
}

TEST(ImageFileTest, KnowsTextsByTheirContent) {
  const std::string content = "text of a program";
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  const std::string name = TextName(
      {.hash_high = hash.high64, .hash_low = hash.low64, .bytes = content.size(), .name = 0});
  EXPECT_TRUE(VerifyText(FileOf(content).get(), name).ok());
  EXPECT_EQ(VerifyText(FileOf("text of a Program").get(), name).code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace bspnow::worker
