// For tests: what is in a file.
#ifndef BASE_TESTING_FILE_TEXT_H_
#define BASE_TESTING_FILE_TEXT_H_

#include <fstream>
#include <iterator>
#include <string>

namespace bspnow {

/// All bytes of it; none if it cannot be read.
inline std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace bspnow

#endif  // BASE_TESTING_FILE_TEXT_H_
