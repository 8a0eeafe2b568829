#include "client/cluster/profile_sink.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/write_all.h"

namespace bspnow::client {
namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30;  // Of the profile, and of the program.

}  // namespace

absl::Status ProfileSink::Begin(const files::FileHead& head) {
  if (absl::Status taken = TakeProfile(); !taken.ok()) return taken;
  if (head.name != "program") return absl::OkStatus();
  bytes_ = 0;
  program_ = UniqueFd(memfd_create("program", MFD_CLOEXEC));
  if (program_.valid()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("keeping the program in memory: ", strerror(errno)));
}

absl::Status ProfileSink::Append(std::string_view bytes) {
  bytes_ += bytes.size();
  if (bytes_ > kBytesMax)
    return absl::ResourceExhaustedError(
        absl::StrCat("the profile or the program has more than ", kBytesMax, " bytes"));
  if (program_.valid()) return WriteAll(program_.get(), std::string(bytes), "the program");
  text_ += bytes;
  return absl::OkStatus();
}

absl::Status ProfileSink::Finish() {
  if (absl::Status taken = TakeProfile(); !taken.ok()) return taken;
  std::sort(profile_.mutable_of()->begin(), profile_.mutable_of()->end(),
            [](const auto& a, const auto& b) { return a.pid() < b.pid(); });
  return absl::OkStatus();
}

absl::Status ProfileSink::TakeProfile() {
  proto::Profile of_node;
  if (!of_node.ParseFromString(text_))
    return absl::DataLossError("what a node recorded is damaged; run the job again");
  text_.clear();
  profile_.set_processes(std::max(profile_.processes(), of_node.processes()));
  for (proto::ProcessProfile& of : *of_node.mutable_of()) profile_.add_of()->Swap(&of);
  return absl::OkStatus();
}

// By our own number: addr2line, which is to read it, has other descriptors.
std::string ProfileSink::program_path() const {
  return program_.valid() ? absl::StrCat("/proc/", getpid(), "/fd/", program_.get()) : "";
}

}  // namespace bspnow::client
