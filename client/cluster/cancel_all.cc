#include "client/cluster/cancel_all.h"

#include <algorithm>
#include <future>

namespace bspnow::client {

void CancelAll(JobsStub& stub, const std::vector<std::uint64_t>& ids,
               const std::function<void(const absl::StatusOr<proto::Job>& job)>& done) {
  constexpr std::size_t kAtOnce = 64;  // Those are stored together.
  for (std::size_t first = 0; first < ids.size(); first += kAtOnce) {
    std::vector<std::future<absl::StatusOr<proto::Job>>> calls;
    for (std::size_t i = first; i < std::min(first + kAtOnce, ids.size()); ++i) {
      calls.push_back(std::async(std::launch::async, [&stub, id = ids[i]] {
        proto::CancelJobRequest request;
        request.set_job(id);
        return stub.Cancel(request);
      }));
    }
    for (auto& call : calls) done(call.get());
  }
}

}  // namespace bspnow::client
