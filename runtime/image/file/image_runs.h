// Turns the pages that were found into entries of the file: regions, texts by their content, runs
// without zero pages. The writer does this while the program runs.
#ifndef RUNTIME_IMAGE_FILE_IMAGE_RUNS_H_
#define RUNTIME_IMAGE_FILE_IMAGE_RUNS_H_

#include "runtime/image/image_work.h"

namespace bspnow::runtime {

/// Of the files of an image, whatever the program's umask is: its worker reads them.
inline constexpr int kImageMode = 0600;

/// Makes unreadable memory readable, and later unreadable again.
void OpenUnreadable(const ImageWork& work);
void CloseUnreadable(const ImageWork& work);

/// Fills work.regions and work.texts from work.mappings.
void MakeRegions(ImageWork& work);

/// Fills work.runs from work.ranges, with offsets from the start of the data. Returns its bytes.
std::uint64_t MakeRuns(ImageWork& work);

/// Writes the texts that the directory does not have. 0, or the number of an error.
long WriteTexts(ImageWork& work);

}  // namespace bspnow::runtime

#endif  // RUNTIME_IMAGE_FILE_IMAGE_RUNS_H_
