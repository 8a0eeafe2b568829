// The process that the C calls act on; it is in bsp_api.cc, where the one global is.
#ifndef RUNTIME_RUNNING_PROCESS_H_
#define RUNTIME_RUNNING_PROCESS_H_

#include "runtime/link/report.h"
#include "runtime/process.h"

namespace bspnow::runtime {

/// Between bsp_begin and bsp_end; elsewhere `call` ends the job.
Process& RunningProcess(Call call);
/// Also before and after.
Process& TheProcess();

}  // namespace bspnow::runtime

#endif  // RUNTIME_RUNNING_PROCESS_H_
