#include "worker/job/checkpoint_restore.h"

#include <absl/status/status.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <errno.h>
#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <string.h>
#include <sys/stat.h>

#include <map>
#include <utility>

#include "base/unique_fd.h"
#include "files/job_files.h"
#include "worker/checkpoint/cpu_features.h"
#include "worker/checkpoint/image_file.h"
#include "worker/host/process_host.h"
#include "worker/host/spawn.h"
#include "worker/job/blob_cache.h"
#include "worker/restore/restore_command.h"
#include "worker/rpc/open_calls.h"

namespace bspnow::worker {
namespace {

const proto::ImageOfPid* Find(const proto::Resume& resume, std::uint32_t pid) {
  for (const proto::ImageOfPid& image : resume.images()) {
    if (image.pid() == pid) return &image;
  }
  return nullptr;
}

// A FIFO that another job of the account has put there since would keep the thread waiting.
absl::StatusOr<ImageFacts> FactsOf(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) {
    return absl::InternalError(absl::StrCat("opening ", path, ": ", strerror(errno)));
  }
  return ReadImageFacts(file.get(), path);
}

absl::Status CheckProcessor(const std::vector<std::string>& images,
                            const std::vector<std::string>& allowed, const CpuFeatures& present) {
  const absl::StatusOr<ImageFacts> facts = FactsOf(images.back());
  if (!facts.ok()) return facts.status();
  if (facts->kind == ImageKind::kAreas) return absl::OkStatus();
  const std::vector<std::string> missing = MissingCpuFeatures(
      LimitedTo(allowed, {.names = facts->cpu_features, .xcr0 = facts->xcr0}), present);
  if (missing.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("this processor lacks ", absl::StrJoin(missing, ", ")));
}

/// What the archives of files say, by the pid in their name.
using Archives = std::map<std::uint32_t, files::JobFilesFacts>;

// Those of lower pids over those of higher ones.
absl::StatusOr<Archives> Unpack(const std::map<std::uint32_t, std::string>& files,
                                const RestoreOrder& order, const OpenCalls& calls) {
  const std::string& directory = order.directory;
  std::uint64_t bytes = 0;
  struct stat status {};
  for (const auto& [pid, file] : files)
    if (stat(file.c_str(), &status) == 0) bytes += static_cast<std::uint64_t>(status.st_size);
  absl::Status room = CheckRoomFor(directory + "/", bytes);
  while (!room.ok() && order.make_room && order.make_room(bytes))
    room = CheckRoomFor(directory + "/", bytes);
  if (!room.ok()) return room;
  Archives archives;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    absl::StatusOr<files::JobFilesFacts> facts =
        files::UnpackJobFiles(file->second, directory, [&calls] { return calls.stopping(); });
    if (!facts.ok()) return facts.status();
    archives[file->first] = std::move(*facts);
  }
  return archives;
}

std::string LineOf(const files::JobFilesFacts& facts, std::uint32_t pid, Stream stream) {
  for (const files::UnfinishedLine& line : facts.lines) {
    if (line.pid == Pid{pid} && line.stream == static_cast<std::uint32_t>(stream)) {
      return line.text;
    }
  }
  return {};
}

proto::HostedProcess ProcessFrom(const proto::ImageOfPid& image,
                                 const files::JobFilesFacts& files) {
  proto::HostedProcess process;
  process.set_pid(image.pid());
  proto::ResumedProcess& resumed = *process.mutable_resumed();
  resumed.set_output_bytes(image.output_bytes());
  resumed.set_error_bytes(image.error_bytes());
  resumed.set_output_line(LineOf(files, image.pid(), Stream::kOutput));
  resumed.set_error_line(LineOf(files, image.pid(), Stream::kError));
  return process;
}

PreparedRestore Failed(const absl::Status& why, PreparedRestore prepared) {
  prepared.failed.set_reason(std::string(why.message()));
  return prepared;
}

}  // namespace

PreparedRestore PrepareRestore(const RestoreOrder& order, ImageTransfer& transfer,
                               ImageStore& store, const RestoreCalls& calls) {
  std::vector<std::uint32_t> saved = order.pids;
  std::erase_if(saved, [&](std::uint32_t pid) { return pid >= order.resume.participants(); });
  CollectedImages collected = transfer.Collect(order.job, order.resume, saved, calls);
  for (const std::string& note : collected.notes) {
    spdlog::warn("event=image_replaced job={} reason=\"{}\"", Value(order.job), note);
  }
  absl::StatusOr<Archives> archives = collected.whole_files.ok()
                                          ? Unpack(collected.files, order, calls.files)
                                          : collected.whole_files;
  PreparedRestore prepared;
  prepared.not_brought = std::string(archives.status().message());
  if (!collected.missing.empty() || !collected.reason.empty()) {
    prepared.failed.set_reason(collected.reason);
    prepared.failed.mutable_pids()->Assign(collected.missing.begin(), collected.missing.end());
    return prepared;
  }
  if (!archives.ok()) return Failed(archives.status(), std::move(prepared));
  const CpuFeatures present = PresentCpuFeatures();
  for (const std::uint32_t pid : saved) {
    const proto::ImageOfPid* const image = Find(order.resume, pid);
    const std::vector<std::string>& images = collected.images[pid];
    if (image == nullptr || images.empty()) {
      return Failed(absl::InvalidArgumentError(absl::StrCat("pid ", pid, ": no image is named")),
                    std::move(prepared));
    }
    if (absl::Status s = CheckProcessor(images, order.cpu_features, present); !s.ok()) {
      return Failed(absl::Status(s.code(), absl::StrCat("pid ", pid, ": ", s.message())),
                    std::move(prepared));
    }
    const files::JobFilesFacts& files = (*archives)[image->files_pid()];
    proto::HostedProcess process = ProcessFrom(*image, files);
    if (order.resume.of_areas()) {
      process.mutable_resumed()->set_areas_image(images.back());
    } else {
      for (std::string& argument : RestoreArguments({.images = images,
                                   .texts = store.DirectoryOf(order.job),
                                   .link = kLinkFd,
                                   .old_directory = files.directory,
                                   .new_directory = order.directory})) {
        process.mutable_resumed()->add_arguments(std::move(argument));
      }
    }
    prepared.processes.push_back(std::move(process));
  }
  for (std::size_t i = saved.size(); i < order.pids.size(); ++i) {
    prepared.processes.emplace_back().set_pid(order.pids[i]);
  }
  return prepared;
}

}  // namespace bspnow::worker
