// A job on several nodes, all of them on this machine, for tests of libbsp: a segment for each
// node, a forked process for each pid, and one simple worker, which does for all nodes what link.h
// asks of a worker. It sleeps whenever there is nothing to do, and waits for the bell.
#ifndef RUNTIME_TESTING_NODES_H_
#define RUNTIME_TESTING_NODES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/process.h"
#include "runtime/testing/checkpoints.h"
#include "runtime/testing/exchange.h"

namespace bspnow::runtime {

struct NodesPlan {
  std::vector<std::uint32_t> node_of;  ///< By pid; nodes are numbered from 0.
  bool check_full = false;
  Acknowledge acknowledge = Acknowledge::kAtOnce;
  std::vector<SaveForTest> saves = {};
  std::uint64_t lease_expires_behind = 0;  ///< Supersteps; see LeaseForTest.
};

/// What a job left.
struct JobOutcome {
  std::vector<int> statuses;  ///< waitpid's, by pid; of one that was killed at the end: SIGKILL.
  std::string errors;         ///< Standard error of all.
  std::uint64_t sleeps = 0;   ///< Of the worker, each ended by a ring.
  ExchangeCounts counts;
  std::vector<ImageForTest> taken;    ///< All images.
  std::vector<std::string> refusals;  ///< Why there are none.
  ImagesForTest images;               ///< The last, to be resumed.
};

/// Runs `program` as every process of a job. It ends by returning, which must be after End.
JobOutcome RunOnNodes(const NodesPlan& plan, const std::function<void(Process&)>& program);

/// Goes on with images, on nodes as in `plan`: their programs return from bsp_sync.
JobOutcome ResumeOnNodes(const NodesPlan& plan, ImagesForTest images);

/// Runs `program` anew, with the areas that `images` hold to be had in bsp_checkpoint_resume.
JobOutcome RerunOnNodes(const NodesPlan& plan, ImagesForTest images,
                        const std::function<void(Process&)>& program);

/// Expects that all processes returned, and that none complained.
void ExpectAllEndWell(const JobOutcome& outcome);

/// In a program: ends its process with a message unless `condition` holds.
void Require(bool condition, const char* claim);  // tidy: an assertion

}  // namespace bspnow::runtime

#endif  // RUNTIME_TESTING_NODES_H_
