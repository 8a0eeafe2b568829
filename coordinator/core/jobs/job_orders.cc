#include "coordinator/core/jobs/job_orders.h"

#include <iterator>
#include <utility>

namespace bspnow::coordinator {
namespace {

template <typename T>
void MoveAll(std::vector<T>& from, std::vector<T>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

void JobOrders::Append(JobOrders more) {
  MoveAll(more.store, store);
  MoveAll(more.starts, starts);
  MoveAll(more.signals, signals);
  MoveAll(more.ends, ends);
  MoveAll(more.deaf, deaf);
  MoveAll(more.lines, lines);
  MoveAll(more.finished, finished);
  MoveAll(more.accepted, accepted);
  MoveAll(more.refused, refused);
  MoveAll(more.recovering, recovering);
  MoveAll(more.returned, returned);
  MoveAll(more.cleared, cleared);
  MoveAll(more.suspended, suspended);
  MoveAll(more.inputs, inputs);
  MoveAll(more.ended, ended);
  MoveAll(more.recalled, recalled);
  MoveAll(more.archived, archived);
}

}  // namespace bspnow::coordinator
