// What lies in a directory, though its disk or file server may fail while it is read. A range-for
// over a std::filesystem::directory_iterator takes errors of opening only; a later one ends the
// daemon.
#ifndef BASE_DIRECTORY_LISTING_H_
#define BASE_DIRECTORY_LISTING_H_

#include <string>
#include <system_error>
#include <vector>

namespace bspnow {

struct DirectoryListing {
  std::vector<std::string> names;  ///< Without "." and ".."; as far as they could be read.
  std::error_code error;           ///< Why there are no more; none: these are all.
};

DirectoryListing ListDirectory(const std::string& path);

}  // namespace bspnow

#endif  // BASE_DIRECTORY_LISTING_H_
