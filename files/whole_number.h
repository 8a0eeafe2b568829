// Whole numbers as people write them: one reading for all options of all programs. CLI11's own
// takes 010 for eight, as C does, and -1 for 2^64 - 1.
#ifndef FILES_WHOLE_NUMBER_H_
#define FILES_WHOLE_NUMBER_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace bspnow::files {

/// Of decimal digits alone, be they as many as of seq -w. Nothing if there is anything else, or the
/// number is above `most`.
std::optional<std::uint64_t> ParseWholeNumber(const std::string& text, std::uint64_t most);

enum class Sign { kNone, kMayBeMinus };

/// For an option of an integer.
CLI::Validator AsWholeNumber(Sign sign);

}  // namespace bspnow::files

#endif  // FILES_WHOLE_NUMBER_H_
