// measure BSP_RESTORE PROGRAM [ARGUMENT...]: what saving and restoring a program costs.
#include <stdio.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/clock.h"
#include "tests/images/hosted_program.h"

namespace bspnow {
namespace {

namespace fs = std::filesystem;

constexpr double kMiB = 1 << 20;
constexpr double kMs = 1e6;

int Measure(const std::string& restorer, const std::vector<std::string>& command) {
  const char* place = getenv("TEST_TMPDIR");
  const fs::path root = fs::path(place == nullptr ? "/tmp" : place) / "measured-images";
  fs::remove_all(root);
  fs::create_directories(root / "job");
  ProgramLaunch launch{.command = command,
                       .directory = root / "job",
                       .images = root / "images",
                       .saving = Saving::kAtEveryBarrier,
                       .chain_max = 3,
                       .superstep = 0,
                       .areas = {}};
  const ProgramOutcome saved = RunProgram(launch);
  printf("%s", saved.errors.c_str());
  for (const TakenImage& image : saved.images) {
    printf(
        "image %lu (base %lu): %s%.1f MiB, pause %.1f ms, written in %.0f ms, %.0f MiB/s\n",
        image.checkpoint, image.base, image.reason.c_str(),
        static_cast<double>(image.file_bytes) / kMiB, static_cast<double>(image.pause_ns) / kMs,
        static_cast<double>(image.write_ns) / kMs,
        static_cast<double>(image.file_bytes) / kMiB * 1e9 / static_cast<double>(image.write_ns));
  }
  for (const TakenImage& image : saved.images) {
    if (!image.written) continue;
    const std::uint64_t start_ns = NowNs();
    const ProgramOutcome restored =
        RestoreProgram(restorer, saved.images, image, launch.directory, ProgramLaunch{});
    printf("restored from %lu: %s, back after %.0f ms, at its end after %.0f ms\n",
           image.checkpoint,
           image.output_before + restored.output == saved.output ? "right" : "WRONG",
           static_cast<double>(restored.hello_ns - start_ns) / kMs,
           static_cast<double>(NowNs() - start_ns) / kMs);
  }
  fs::remove_all(root);
  return 0;
}

}  // namespace
}  // namespace bspnow

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return bspnow::Measure(std::filesystem::absolute(argv[1]), {argv + 2, argv + argc});
}
