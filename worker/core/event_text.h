// Texts of events that hold what a program or a file system made up: protobuf refuses messages
// whose strings are not UTF-8, and so one file name could end the stream that bears it.
#ifndef WORKER_CORE_EVENT_TEXT_H_
#define WORKER_CORE_EVENT_TEXT_H_

#include "proto/workers.pb.h"

namespace bspnow::worker {

/// Replaces every byte that belongs to no UTF-8 character by '?', in the reasons of the event.
void MakeTextValid(proto::WorkerEvent& event);

}  // namespace bspnow::worker

#endif  // WORKER_CORE_EVENT_TEXT_H_
