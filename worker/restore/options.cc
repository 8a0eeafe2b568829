#include "worker/restore/options.h"

#include <fcntl.h>

#include "base/freestanding/raw_call.h"
#include "worker/restore/failure.h"

namespace bspnow::worker::restore {
namespace {

constexpr char kUsage[] =
    "usage: bsp-restore --image IMAGE... --texts DIRECTORY [--link FD] [--directory OLD NEW]"
    " (each IMAGE, oldest first, and the DIRECTORY: a descriptor or an absolute path)";

int Number(const char* text) {
  TextPiece rest{text, Length(text)};
  const std::uint64_t number = TakeNumber(rest, 10);
  if (!IsDigit(*text) || rest.bytes != 0) Fail(kUsage);
  return static_cast<int>(number);
}

int Open(const char* name, int flags) {
  if (IsDigit(*name)) return Number(name);
  const long file = RawCall(SYS_openat, AT_FDCWD, name, flags | O_CLOEXEC, 0);
  if (file < 0) Fail(name, ": ", CallError{file});
  return static_cast<int>(file);
}

void OpenImage(const char* name, Options& options) {
  if (*name == '\0' || options.image_count == kImagesMax) Fail(kUsage);
  options.images[options.image_count++] = Open(name, O_RDONLY);
}

}  // namespace

void ReadOptions(int argument_count, char** arguments, Options& options) {
  for (int i = 1; i < argument_count; i += 2) {
    const char* name = arguments[i];
    const char* value = i + 1 < argument_count ? arguments[i + 1] : nullptr;
    if (value == nullptr) Fail(kUsage);
    if (Equal(name, "--image")) {
      OpenImage(value, options);
    } else if (Equal(name, "--texts")) {
      options.texts = Open(value, O_RDONLY | O_DIRECTORY);
    } else if (Equal(name, "--link")) {
      options.link = Number(value);
    } else if (Equal(name, "--directory") && i + 2 < argument_count) {
      options.old_directory << value;
      options.new_directory << arguments[++i + 1];
    } else {
      Fail(kUsage);
    }
  }
  if (options.image_count == 0 || options.texts < 0) Fail(kUsage);
}

}  // namespace bspnow::worker::restore
