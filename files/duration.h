// How long, as people and Slurm write it: one reading for all options of all programs.
#ifndef FILES_DURATION_H_
#define FILES_DURATION_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace bspnow::files {

/// What a number alone counts: each option keeps the unit that it has always had.
enum class PlainNumber : std::uint64_t { kRefused = 0, kSeconds = 1'000, kMinutes = 60'000 };

/// Milliseconds of a number, perhaps with a fraction, and ms, s, m, min, h or d; or of MIN:SEC,
/// H:MIN:SEC, DAYS-H, DAYS-H:MIN, DAYS-H:MIN:SEC as Slurm has them. Nothing if it is none of these.
std::optional<std::uint64_t> ParseDurationMs(const std::string& text, PlainNumber plain);

/// For an option of milliseconds: makes a number of what was written.
CLI::Validator AsMilliseconds(PlainNumber plain, std::uint64_t least_ms);

}  // namespace bspnow::files

#endif  // FILES_DURATION_H_
