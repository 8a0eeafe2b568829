#include "base/directory_listing.h"

#include <filesystem>

namespace bspnow {

DirectoryListing ListDirectory(const std::string& path) {
  DirectoryListing listing;
  std::filesystem::directory_iterator entry(path, listing.error);
  for (const std::filesystem::directory_iterator end; !listing.error && entry != end;
       entry.increment(listing.error))
    listing.names.push_back(entry->path().filename().string());
  return listing;
}

}  // namespace bspnow
