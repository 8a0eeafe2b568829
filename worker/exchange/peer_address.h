// Where another worker's streams are reached.
#ifndef WORKER_EXCHANGE_PEER_ADDRESS_H_
#define WORKER_EXCHANGE_PEER_ADDRESS_H_

#include <string>

#include "base/ids.h"

namespace bspnow::worker {

struct PeerAddress {
  WorkerId worker;
  std::string data_address;  ///< HOST:PORT.
};

}  // namespace bspnow::worker

#endif  // WORKER_EXCHANGE_PEER_ADDRESS_H_
