// Runs a BSP program of one process as bsp-host would. Saves the process at every barrier, or
// restores it from images. Speaks the protocol of runtime/link/link.h without a worker.
#ifndef TESTS_IMAGES_HOSTED_PROGRAM_H_
#define TESTS_IMAGES_HOSTED_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow {

enum class Saving {
  kNever,
  kAtEveryBarrier,  ///< The process waits until its image is there: one image for each barrier.
  kTorn,            ///< At the first barrier; everything is killed while the image is written.
};

struct ProgramLaunch {
  std::vector<std::string> command;  ///< The program and its arguments.
  std::string directory;             ///< Where it runs.
  std::string images;                ///< The directory of its images.
  Saving saving = Saving::kNever;
  std::uint64_t chain_max = 1;  ///< Images that build on each other, at most.
  std::uint64_t superstep = 0;  ///< At which the image was taken that `command` puts back.
  std::string areas;            ///< An image of areas, to be handed to bsp_checkpoint_resume.
  std::string shared{};         ///< A file; another process appends "other\n" behind each barrier.
};

struct TakenImage {
  std::uint64_t checkpoint;
  std::uint64_t base;
  bool written;
  std::string reason;       ///< If it is not.
  std::uint64_t superstep;  ///< By its header.
  std::uint64_t file_bytes;
  std::uint64_t pause_ns;
  std::uint64_t write_ns;
  std::string output_before;  ///< What the program had printed.
  std::string files;          ///< A copy of its directory as it was.
};

struct ProgramOutcome {
  std::string output;
  std::string errors;
  int wait_status;
  std::uint64_t hello_ns;  ///< When the process said hello, by NowNs.
  std::vector<TakenImage> images;
};

ProgramOutcome RunProgram(const ProgramLaunch& launch);

/// Puts the process back from `image` and those it builds on, all of `images`, in a copy of the
/// directory in which it was. `launch` tells how to go on; its command, directory and superstep are
/// filled in. `old_directory` is where the process was.
ProgramOutcome RestoreProgram(const std::string& restorer, const std::vector<TakenImage>& images,
                              const TakenImage& image, const std::string& old_directory,
                              ProgramLaunch launch);

/// What a test is about: GoogleTest gives tests no arguments.
struct GivenPrograms {
  std::string program;
  std::string restorer;
  std::uint64_t memory_bytes = 0;  ///< For each process, as with bsp submit --memory; 0: any.
};
GivenPrograms& Given();

/// Takes both, PROGRAM BSP_RESTORE, from what GoogleTest has left of the command line. False: they
/// are not there.
bool TakePrograms(int argc, char** argv);

}  // namespace bspnow

#endif  // TESTS_IMAGES_HOSTED_PROGRAM_H_
