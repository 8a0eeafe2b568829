// Finds processes of an epoch that wait for each other in a circle of groups over several nodes,
// from what nodes that stand still have said (StandStill in proto/workers.proto). Each node knows
// that what it says was so at one moment; that all of it was so at one is known once each of the
// nodes has been asked, after all had said it, and says that nothing has moved since. See "Who is
// waited for" in docs/design.md.
#ifndef COORDINATOR_CORE_STANDSTILLS_H_
#define COORDINATOR_CORE_STANDSTILLS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/stuck_process.h"
#include "proto/workers.pb.h"

namespace bspnow::coordinator {

class Standstills {
 public:
  struct Orders {
    std::vector<std::string> ask;       ///< Nodes that get LookAgain,
    std::uint64_t look = 0;             ///< with this number.
    std::vector<StuckProcess> stuck{};  ///< Not empty: that is certain.
  };

  /// A node has said this, or answered so.
  Orders OnWord(const std::string& node, const proto::StandStill& word);

 private:
  Orders Ask();

  std::map<std::string, proto::StandStill> said_;  ///< By node, as far as it may still be so.
  std::uint64_t look_ = 0;                         ///< The newest.
  std::map<std::string, std::uint64_t> asked_;     ///< Nodes that have not answered it: numbers.
};

/// Whom these words, were all of them true at one moment, leave to wait for ever.
std::vector<StuckProcess> FindStuck(const std::map<std::string, proto::StandStill>& said);

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_STANDSTILLS_H_
