// Removes what a program has left: however deep it is, and whatever permissions it has.
#ifndef BASE_REMOVE_TREE_H_
#define BASE_REMOVE_TREE_H_

#include <fcntl.h>

#include <chrono>
#include <string>

namespace bspnow {

/// A live process could go on making files for ever.
inline constexpr std::chrono::milliseconds kRemovalLastsAtMost = std::chrono::minutes(5);

/// A file, a link, or a directory with all that is in it; follows no link. Holds three descriptors,
/// where std::filesystem::remove_all has one for each level. False if something is left there.
/// `path` begins at the directory `at`.
bool RemoveTree(const std::string& path,
                std::chrono::milliseconds lasts_at_most = kRemovalLastsAtMost, int at = AT_FDCWD);

}  // namespace bspnow

#endif  // BASE_REMOVE_TREE_H_
