// Whole numbers as people write them: one reading for all options of all programs. CLI11's own
// takes 010 for eight, as C does, and -1 for 2^64 - 1.
#ifndef FILES_WHOLE_NUMBER_H_
#define FILES_WHOLE_NUMBER_H_

#include <CLI/CLI.hpp>

namespace bspnow::files {

enum class Sign { kNone, kMayBeMinus };

/// For an option of an integer: decimal digits alone, be they as many as of seq -w.
CLI::Validator AsWholeNumber(Sign sign);

}  // namespace bspnow::files

#endif  // FILES_WHOLE_NUMBER_H_
