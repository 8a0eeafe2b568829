// What this machine is: what a worker registers with.
#ifndef WORKER_NODE_FACTS_H_
#define WORKER_NODE_FACTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace bspnow::worker {

/// Processors that this process may use.
std::uint32_t UsableProcessors();

/// Features of the processor, by the names of /proc/cpuinfo; sorted.
std::vector<std::string> CpuFeatures();

/// The machine's load average over the last minute.
double LoadAverage();

/// Whether the coordinator, to which `reported` was told, is to hear of `load`: it compares nodes.
bool IsNewsOfLoad(double load, double reported);

/// Multiply-adds of one core in double precision, 1/s; measured for some 50 ms the first time, then
/// read from `file`.
double FlopsOf(const std::string& file);

}  // namespace bspnow::worker

#endif  // WORKER_NODE_FACTS_H_
