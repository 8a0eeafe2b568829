#include "worker/checkpoint_collection.h"

#include <absl/strings/str_cat.h>

#include "worker/images/image_file.h"
#include "worker/images/image_name.h"

namespace bspnow {

void CheckpointCollection::OnReport(const HostReport& report) {
  if (report.kind == HostReport::kSaving) {
    Image& image = images_[report.pid];
    image.output_bytes = report.output_bytes;
    image.error_bytes = report.error_bytes;
  }
  if (report.kind == HostReport::kFiles) {
    files_reported_ = true;
    files_pid_ = report.pid;
    if (!report.text.empty()) Fail(absl::StrCat("the files of the job: ", report.text));
  }
  if (report.kind != HostReport::kImage) return;
  const auto found = images_.find(report.pid);
  if (found == images_.end() || found->second.reported) return;
  Image& image = found->second;
  image.reported = true;
  image.file_bytes = report.file_bytes;
  image.cpu_ns = report.cpu_ns;
  reported_ += 1;
  if (!report.text.empty()) Fail(absl::StrCat("pid ", Value(report.pid), ": ", report.text));
}

std::vector<std::string> CheckpointCollection::Names(std::uint64_t checkpoint) const {
  std::vector<std::string> names;
  for (const auto& [pid, image] : images_) names.push_back(ImageName(checkpoint, pid));
  names.push_back(FilesName(checkpoint, Value(files_pid_)));
  return names;
}

}  // namespace bspnow
