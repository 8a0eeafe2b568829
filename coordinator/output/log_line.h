// A record of a job's log as its readers are sent it.
#ifndef COORDINATOR_OUTPUT_LOG_LINE_H_
#define COORDINATOR_OUTPUT_LOG_LINE_H_

#include <utility>

#include "coordinator/output/log_record.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

inline proto::LogLine LineMessage(LogRecord record) {
  proto::LogLine line;
  line.set_pid(record.pid);
  line.set_stream(record.origin == LogOrigin::kStdout ? proto::STDOUT : proto::STDERR);
  line.set_of_launcher(record.origin == LogOrigin::kLauncher);
  line.set_offset(record.offset);
  line.set_text(std::move(record.text));
  return line;
}

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_OUTPUT_LOG_LINE_H_
