// How jobs and nodes are shown: in tables, and in full.
#ifndef CLIENT_VIEW_JOB_VIEW_H_
#define CLIENT_VIEW_JOB_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "client/view/barrier_view.h"
#include "client/view/text_table.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

/// As in "waiting".
std::string StateName(proto::JobState state);
std::string StateName(proto::NodeState state);

Colour ColourOf(proto::JobState state);

/// With the index of an element of an array: "sweep[7]".
std::string NameOf(const proto::Job& job);
/// The same for a table: what is long is cut, so that a line stays within a terminal.
std::string ShortNameOf(const proto::Job& job);

/// Whom the job's barrier waits for, as far as its nodes have said so.
AwaitedProcesses AwaitedOf(const proto::Job& job);

/// Whether the job has reached its end.
bool HasEnded(const proto::Job& job);

/// Why files that it left were not kept; empty: none is known to be lost.
std::string FilesLostOf(const proto::Job& job);

/// How long it has run: see run_ms in proto/jobs.proto.
std::int64_t RunSeconds(const proto::Job& job);

/// As in "0-3,7".
std::string PidsText(const std::vector<std::uint32_t>& pids);

TextTable JobTable(const std::vector<proto::Job>& jobs);
TextTable NodeTable(const proto::ListNodesReply& nodes);

/// All that is known of a job, a line for each thing.
std::string JobText(const proto::Job& job, std::int64_t now_unix_ms, Colours colours);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_JOB_VIEW_H_
