#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "runtime/image/process_image.h"
#include "runtime/testing/saved_process.h"

namespace bspnow::runtime {
namespace {

/// Three areas, one of them empty, one large.
struct Areas {
  std::array<char, 10> small{};
  std::vector<int> large = std::vector<int>(700'001);

  std::array<SavedArea, 3> List() {
    return {SavedArea{small.data(), small.size()}, SavedArea{nullptr, 0},
            SavedArea{large.data(), large.size() * sizeof(int)}};
  }
};

Areas Filled() {
  Areas areas;
  memcpy(areas.small.data(), "numbers", 8);
  for (std::size_t i = 0; i < areas.large.size(); ++i) areas.large[i] = static_cast<int>(i);
  return areas;
}

void Save(SavedProcess& process, Areas& areas) {
  ASSERT_EQ(process.image().SaveAreas(process.Request(1, 0), areas.List().data(), 3),
            ImageOutcome::kStarted);
  const LinkImageReport report = process.AwaitReport();
  ASSERT_EQ(report.written, 1u) << report.reason;
}

std::string Load(const std::string& path, Areas& areas, std::size_t count) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char reason[200];
  const bool loaded = LoadAreas(file.get(), areas.List().data(), count, reason, sizeof reason);
  EXPECT_EQ(loaded, *reason == '\0');
  return reason;
}

void FlipByte(const std::string& path, off_t offset) {
  const UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  char byte;
  ASSERT_EQ(pread(file.get(), &byte, 1, offset), 1);
  byte = static_cast<char>(byte ^ 1);
  ASSERT_EQ(pwrite(file.get(), &byte, 1, offset), 1);
}

TEST(SavedAreasTest, ComeBackAsTheyWere) {
  InProcess([](SavedProcess& process) {
    Areas saved = Filled();
    Save(process, saved);
    const ReadImage image(process.PathOf(1));
    EXPECT_TRUE(image.IsSound());
    EXPECT_EQ(image.header().elapsed_ns, process.Request(1, 0).elapsed_ns);
    EXPECT_EQ(image.header().processor_ns, process.Request(1, 0).processor_ns);
    Areas loaded;
    EXPECT_EQ(Load(process.PathOf(1), loaded, 3), "");
    EXPECT_EQ(loaded.small, saved.small);
    EXPECT_EQ(loaded.large, saved.large);
  });
}

TEST(SavedAreasTest, AreThoseOfTheMomentOfTheCall) {
  InProcess([](SavedProcess& process) {
    Areas saved = Filled();
    process.image().SaveAreas(process.Request(1, 0), saved.List().data(), 3);
    saved.large.assign(saved.large.size(), -1);
    EXPECT_EQ(process.AwaitReport().written, 1u);
    Areas loaded;
    EXPECT_EQ(Load(process.PathOf(1), loaded, 3), "");
    EXPECT_EQ(loaded.large, Filled().large);
  });
}

// The child that writes areas is none of the program's.
TEST(SavedAreasTest, ProcessCanBeSavedAsAWholeAfterThem) {
  InProcess([](SavedProcess& process) {
    Areas saved = Filled();
    Save(process, saved);
    EXPECT_TRUE(process.SaveAndRead(2, 0).IsSound());
  });
}

TEST(SavedAreasTest, DamagedFileIsRefusedAndNothingIsLoaded) {
  InProcess([](SavedProcess& process) {
    Areas saved = Filled();
    Save(process, saved);
    for (const off_t offset : {off_t{20}, off_t{2'000'000}}) {
      FlipByte(process.PathOf(1), offset);
      Areas loaded;
      EXPECT_NE(Load(process.PathOf(1), loaded, 3).find("damaged"), std::string::npos);
      EXPECT_EQ(loaded.large, Areas().large);
      FlipByte(process.PathOf(1), offset);
    }
  });
}

TEST(SavedAreasTest, ShortFileIsRefused) {
  InProcess([](SavedProcess& process) {
    Areas saved = Filled();
    Save(process, saved);
    for (const off_t bytes : {off_t{0}, off_t{4000}, off_t{1'000'000}}) {
      ASSERT_EQ(truncate(process.PathOf(1).c_str(), bytes), 0);
      Areas loaded;
      EXPECT_NE(Load(process.PathOf(1), loaded, 3).find("damaged"), std::string::npos);
    }
  });
}

TEST(SavedAreasTest, OtherAreasThanSavedAreRefused) {
  InProcess([](SavedProcess& process) {
    Areas saved = Filled();
    Save(process, saved);
    Areas loaded;
    EXPECT_EQ(Load(process.PathOf(1), loaded, 2),
              "the checkpoint has 3 areas, and 2 are registered now");
    loaded.large.resize(10);
    EXPECT_EQ(Load(process.PathOf(1), loaded, 3),
              "area 2 has 2800004 bytes in the checkpoint, and 40 now");
  });
}

TEST(SavedAreasTest, ImageOfAProcessIsRefused) {
  InProcess([](SavedProcess& process) {
    process.SaveAndRead(1, 0);
    Areas loaded;
    EXPECT_EQ(Load(process.PathOf(1), loaded, 3), "the checkpoint is the image of a whole process");
  });
}

}  // namespace
}  // namespace bspnow::runtime
