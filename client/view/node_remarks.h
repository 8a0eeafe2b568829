// What stands below the table of nodes.
#ifndef CLIENT_VIEW_NODE_REMARKS_H_
#define CLIENT_VIEW_NODE_REMARKS_H_

#include <string>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// What somebody should look after, a line each.
std::string NodeRemarks(const proto::ListNodesReply& nodes);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_NODE_REMARKS_H_
