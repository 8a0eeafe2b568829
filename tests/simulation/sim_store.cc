#include "tests/simulation/sim_store.h"

#include <algorithm>

namespace bspnow {

const SimImage* SimStore::Find(JobId job, std::uint64_t number, std::uint32_t pid) const {
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end()) return nullptr;
  const auto checkpoint = of_job->second.find(number);
  if (checkpoint == of_job->second.end()) return nullptr;
  const auto image = checkpoint->second.find(pid);
  return image == checkpoint->second.end() ? nullptr : &image->second;
}

bool SimStore::HasChain(JobId job, std::uint64_t number, std::uint32_t pid) const {
  for (std::uint64_t each = number; each != 0;) {
    const SimImage* image = Find(job, each, pid);
    if (image == nullptr || image->damaged) return false;
    each = image->base;
  }
  return true;
}

std::size_t SimStore::images() const {
  std::size_t images = 0;
  for (const auto& [job, numbers] : jobs_)
    for (const auto& [number, of_pids] : numbers) images += of_pids.size();
  return images;
}

std::vector<std::uint32_t> SimStore::PidsOf(JobId job, std::uint64_t number) const {
  std::vector<std::uint32_t> pids;
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end()) return pids;
  const auto checkpoint = of_job->second.find(number);
  if (checkpoint == of_job->second.end()) return pids;
  for (const auto& [pid, image] : checkpoint->second) pids.push_back(pid);
  return pids;
}

void SimStore::Discard(JobId job, std::uint64_t number) {
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end()) return;
  of_job->second.erase(number);
  if (of_job->second.empty()) jobs_.erase(of_job);
}

void SimStore::Keep(JobId job, const std::vector<std::uint64_t>& numbers) {
  const auto of_job = jobs_.find(job);
  if (of_job == jobs_.end()) return;
  std::uint64_t newest = numbers.empty() ? ~std::uint64_t{0} : 0;
  for (const std::uint64_t number : numbers) newest = std::max(newest, number);
  std::erase_if(of_job->second, [&](const auto& each) {
    return each.first <= newest &&
           std::find(numbers.begin(), numbers.end(), each.first) == numbers.end();
  });
  if (of_job->second.empty()) jobs_.erase(of_job);
}

std::map<JobId, std::set<std::uint64_t>> SimStore::Stored() const {
  std::map<JobId, std::set<std::uint64_t>> stored;
  for (const auto& [job, checkpoints] : jobs_) {
    for (const auto& [number, images] : checkpoints) stored[job].insert(number);
  }
  return stored;
}

void SimStore::LosePower() {
  for (auto& [job, checkpoints] : jobs_) {
    for (auto& [number, images] : checkpoints) {
      for (auto& [pid, image] : images) image.damaged = image.damaged || image.lying_sync;
    }
  }
}

bool SimStore::Rot(SimLoop& loop) {
  std::vector<SimImage*> images;
  for (auto& [job, checkpoints] : jobs_) {
    for (auto& [number, of_pids] : checkpoints) {
      for (auto& [pid, image] : of_pids) images.push_back(&image);
    }
  }
  if (images.empty()) return false;
  for (std::uint64_t i = loop.Below(3); i < 3; ++i)
    images[loop.Below(images.size())]->damaged = true;
  return true;
}

}  // namespace bspnow
