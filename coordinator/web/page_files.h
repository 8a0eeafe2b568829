// The files of the web page, which are part of the executable.
#ifndef COORDINATOR_WEB_PAGE_FILES_H_
#define COORDINATOR_WEB_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace bspnow::coordinator {

struct PageFile {
  std::string_view path;  ///< As in a request.
  std::string_view type;  ///< As in Content-Type.
  std::string_view text;
};

std::span<const PageFile> PageFiles();

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_PAGE_FILES_H_
