// The directed streams of one simulated worker to the others: Retention at the sender, Reception at
// the receiver (net/retention.h), and between them connections that break.
#ifndef TESTS_SIMULATION_SIM_STREAMS_H_
#define TESTS_SIMULATION_SIM_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "net/retention.h"
#include "tests/simulation/sim_link.h"
#include "tests/simulation/sim_oracle.h"
#include "worker/exchange/node_exchange.h"

namespace bspnow {

struct SimLaneFrame;

/// A Batch frame: what one process sends to another.
struct SimFrame {
  JobId job;
  Epoch epoch;
  std::uint64_t superstep;
  std::uint32_t from_host;
  worker::NodeExchange::FrameClass frame_class;
  std::uint64_t number;  ///< The oracle's, of a counted frame.
  std::uint32_t from_pid;
  std::uint32_t to_pid;
  std::uint32_t index;
  std::uint64_t value;
  std::vector<std::byte> arrival{};  ///< If it is one: PeerArrival.
  /// If it is a frame of a lane that is repeated; and whether its sender asks for others.
  std::shared_ptr<const SimLaneFrame> lane{};
  bool asks = false;
  bool put = false;   ///< The value is for the area of `to_pid`.
  bool vote = false;  ///< It is what `from_pid` has registered.
};

class SimStreams;

/// Whom a worker id stands for; nullptr if nobody answers there.
using FindStreams = std::function<SimStreams*(WorkerId)>;

class SimStreams {
 public:
  using Taken = std::function<void(const SimFrame&)>;
  using Epochs = std::set<std::pair<JobId, Epoch>>;
  /// Nothing arrives there, and frames of these epochs wait for it.
  using Failed = std::function<void(WorkerId target, const Epochs& epochs)>;

  /// `incarnation` is that of the first stream; each gets its own.
  SimStreams(SimLoop& loop, SimLoop::ActorPtr actor, const SimOracle& oracle,
             std::uint64_t incarnation, FindStreams find, Taken taken, Failed failed)
      : loop_(loop),
        actor_(std::move(actor)),
        oracle_(oracle),
        next_incarnation_(incarnation),
        find_(std::move(find)),
        taken_(std::move(taken)),
        failed_(std::move(failed)) {}

  /// Another id: streams begin anew.
  void SetSelf(WorkerId self);
  /// Where others are to call it: with another address than before its connections lose all.
  void SetOwnAddress(const std::string& address);
  /// As PeerStreams has it: where that worker is, and where the plan of a job says it is.
  void SetAddress(WorkerId target, const std::string& address);
  void OnPlanned(WorkerId target, const std::string& address);
  const std::string& address() const { return address_; }

  void Send(WorkerId target, const SimFrame& frame);
  void Prune(JobId job, Epoch epoch, std::uint64_t superstep);
  void DropJob(JobId job);

  /// As PeerStreams has it.
  std::set<WorkerId> Silent() const;

  /// Breaks the connection to that worker, if there is one.
  void BreakTo(WorkerId target);
  /// Breaks one connection, if there is one.
  void BreakOne();
  /// One of them delivers nothing in this direction for so long. False if there is none.
  bool StallOneWay(SimLink::End from, std::uint64_t ns);
  /// What one of them is given there is lost, until somebody sees that and breaks it.
  bool SwallowOneWay(SimLink::End from, std::uint64_t ns);
  /// Takes one for dead and connects anew, though what was sent may still arrive.
  void GiveOneUp();
  /// The worker is dead: nothing is heard or said any more.
  void Die();
  bool dead() const { return dead_; }

 private:
  using Link = std::shared_ptr<SimLink>;

  struct Sender {
    Retention retention;
    std::unordered_map<std::uint64_t, SimFrame> kept;
    std::uint64_t incarnation = 0;  ///< Of this stream: it begins at sequence 1.
    Link link;
    bool welcome = false;
    std::uint64_t acked_ns = 0;  ///< When a frame was, or the first that waits came.
  };
  struct Receiver {
    Reception reception;
    std::uint64_t incarnation = 0;
    std::vector<Link> links;  ///< Of this incarnation, the newest last.
    std::set<Link> owe_acks;  ///< Connections by which something came.
  };

  Link AnyLink() const;  ///< nullptr if none stands.
  void Turn(WorkerId target, const std::string& address);
  void Connect(WorkerId target);
  void RetryLater(WorkerId target, const Link& link);
  void Pump(WorkerId target, Sender& sender);
  void OnHello(WorkerId from, std::uint64_t incarnation, const Link& link, SimStreams* sender);
  void OnWelcome(WorkerId target, const Link& link, std::uint64_t sequence);
  void OnFrame(WorkerId from, std::uint64_t sequence, const SimFrame& frame, const Link& link,
               SimStreams* sender);
  void OnAck(WorkerId target, const Link& link, std::uint64_t sequence);
  void GiveUpIfUnreachable(WorkerId target, Sender& sender);
  static void Forget(Sender& sender, const std::vector<RetainedFrame>& frames);

  SimLoop& loop_;
  SimLoop::ActorPtr actor_;
  const SimOracle& oracle_;
  std::uint64_t next_incarnation_;
  FindStreams find_;
  Taken taken_;
  Failed failed_;
  WorkerId self_{0};
  std::string address_;
  std::map<WorkerId, std::string> called_;  ///< Where the streams to them go,
  std::map<WorkerId, std::string> told_;    ///< and where the coordinator says they are.
  std::map<WorkerId, Sender> senders_;
  std::map<WorkerId, Receiver> receivers_;
  bool dead_ = false;
};

}  // namespace bspnow

#endif  // TESTS_SIMULATION_SIM_STREAMS_H_
