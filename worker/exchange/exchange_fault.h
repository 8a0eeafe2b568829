// Why a job cannot go on.
#ifndef WORKER_EXCHANGE_EXCHANGE_FAULT_H_
#define WORKER_EXCHANGE_EXCHANGE_FAULT_H_

namespace bspnow::worker {

enum class ExchangeFault {
  kProgram,      ///< Its program's fault: a retry would fail the same way.
  kEnvironment,  ///< Only this epoch suffers from it: a peer, a stream, this node.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_EXCHANGE_FAULT_H_
