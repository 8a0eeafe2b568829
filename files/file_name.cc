#include "files/file_name.h"

#include <absl/strings/str_cat.h>

#include <string>

namespace bspnow::files {

absl::Status CheckFileName(std::string_view name) {
  const auto refuse = [whole = name](const char* why) {
    return absl::InvalidArgumentError(absl::StrCat("file name \"", std::string(whole), "\" ", why));
  };
  if (name.empty()) return refuse("is empty");
  if (name.size() > kFileNameBytesMax) return refuse("is too long");
  if (name.find('\0') != std::string_view::npos) return refuse("has a NUL in it");
  if (name.front() == '/') return refuse("must be relative to the job's directory");
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    if (part.empty() || part == "." || part == "..")
      return refuse("must lead down only, without \"..\", \".\" and \"//\"");
    if (part.size() > kNamePartBytesMax) return refuse("has a part of more than 255 bytes");
    if (part.size() == name.size()) return absl::OkStatus();
    name.remove_prefix(part.size() + 1);
  }
  return refuse("ends in a slash");
}

}  // namespace bspnow::files
