#include "client/view/upload_progress.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "client/view/quantities.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kPatienceNs = 500'000'000;
constexpr std::uint64_t kBetweenNs = 100'000'000;
constexpr std::size_t kBarColumnsMax = 40;
constexpr std::size_t kColumnsWithoutSize = 80;

std::size_t TerminalColumns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kColumnsWithoutSize;
  return size.ws_col;
}

}  // namespace

std::string ProgressText(std::uint64_t done, std::uint64_t all, std::uint64_t elapsed_ns,
                         std::size_t columns) {
  const double part =
      all == 0 ? 1 : std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
  const double per_s =
      elapsed_ns == 0 ? 0 : static_cast<double>(done) * 1e9 / static_cast<double>(elapsed_ns);
  const std::string figures = absl::StrFormat(
      " %3d%%  %s of %s, %s/s", static_cast<int>(part * 100), BytesText(static_cast<double>(done)),
      BytesText(static_cast<double>(all)), BytesText(per_s));
  const std::string text = absl::StrCat("uploading ", figures);
  if (columns < text.size() + 4) return text.substr(0, columns);
  const std::size_t bar = std::min(kBarColumnsMax, columns - text.size() - 2);
  const auto full = static_cast<std::size_t>(part * static_cast<double>(bar));
  return absl::StrCat("uploading [", std::string(full, '#'), std::string(bar - full, ' '), "]",
                      figures);
}

UploadProgress::UploadProgress() : start_ns_(NowNs()) {}

UploadProgress::~UploadProgress() {
  if (shown_ns_ != 0) fputs("\r\033[K", stderr);
}

void UploadProgress::Show(std::uint64_t done, std::uint64_t all) {
  const std::uint64_t now = NowNs();
  if (now - start_ns_ < kPatienceNs || now - shown_ns_ < kBetweenNs) return;
  if (isatty(STDERR_FILENO) == 0) return;
  shown_ns_ = now;
  fprintf(stderr, "\r%s\033[K",
          ProgressText(done, all, now - start_ns_, TerminalColumns() - 1).c_str());
}

}  // namespace bspnow::client
