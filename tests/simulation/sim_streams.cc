#include "tests/simulation/sim_streams.h"

#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t kUnreachableNs = 2 * kSecond;  // As --unreachable-ms.
constexpr std::uint64_t kSilentNs = kSecond;
constexpr std::uint64_t kStallNs = 2 * kSecond;  // As SendingStreamOptions has it.

}  // namespace

void SimStreams::SetSelf(WorkerId self) {
  if (std::exchange(self_, self) == self) return;
  told_.clear();
  for (auto& [target, sender] : senders_) {
    if (sender.link) sender.link->Close(SimLink::kCaller);
  }
  senders_.clear();
}

void SimStreams::SetOwnAddress(const std::string& address) {
  const bool moved = !address_.empty() && address_ != address;
  address_ = address;
  if (!moved) return;
  for (auto& [target, sender] : senders_)
    if (sender.link) sender.link->LoseAll(loop_.Below(kStallNs));
  for (auto& [from, receiver] : receivers_)
    for (const Link& link : receiver.links) link->LoseAll(loop_.Below(kStallNs));
}

void SimStreams::SetAddress(WorkerId target, const std::string& address) {
  if (address.empty()) {
    told_.erase(target);
    return;
  }
  told_[target] = address;
  Turn(target, address);
}

void SimStreams::OnPlanned(WorkerId target, const std::string& address) {
  if (!told_.contains(target)) Turn(target, address);
}

void SimStreams::Turn(WorkerId target, const std::string& address) {
  const std::string before = std::exchange(called_[target], address);
  if (!before.empty() && before != address) BreakTo(target);
}

void SimStreams::Die() {
  dead_ = true;
  for (auto& [target, sender] : senders_) {
    if (sender.link) sender.link->Close(SimLink::kCaller);
  }
  for (auto& [from, receiver] : receivers_) {
    for (const Link& link : receiver.links) link->Close(SimLink::kCalled);
  }
}

SimStreams::Link SimStreams::AnyLink() const {
  std::vector<Link> links;
  for (const auto& [target, sender] : senders_) {
    if (sender.link && !sender.link->broken(SimLink::kCaller)) links.push_back(sender.link);
  }
  return links.empty() ? nullptr : links[loop_.Below(links.size())];
}

void SimStreams::BreakOne() {
  if (const Link link = AnyLink()) link->Break();
}

bool SimStreams::StallOneWay(SimLink::End from, std::uint64_t ns) {
  const Link link = AnyLink();
  if (link) link->Stall(from, loop_.now_ns() + ns);
  return link != nullptr;
}

bool SimStreams::SwallowOneWay(SimLink::End from, std::uint64_t ns) {
  const Link link = AnyLink();
  if (!link) return false;
  link->Swallow(from);
  loop_.After(ns, [link] { link->Break(); });
  return true;
}

std::set<WorkerId> SimStreams::Silent() const {
  std::set<WorkerId> silent;
  for (const auto& [target, sender] : senders_)
    if (!sender.retention.empty() && loop_.now_ns() - sender.acked_ns >= kSilentNs)
      silent.insert(target);
  return silent;
}

void SimStreams::BreakTo(WorkerId target) {
  const auto found = senders_.find(target);
  if (found != senders_.end() && found->second.link) found->second.link->Break();
}

void SimStreams::GiveOneUp() {
  for (auto& [target, sender] : senders_) {
    if (!sender.link || sender.link->broken(SimLink::kCaller) || loop_.Chance(50)) continue;
    sender.link->Close(SimLink::kCaller);
    return Connect(target);
  }
}

// ---- Sending ------------------------------------------------------------------------------------

void SimStreams::Send(WorkerId target, const SimFrame& frame) {
  Sender& sender = senders_[target];
  if (sender.incarnation == 0) sender.incarnation = next_incarnation_++;
  if (sender.retention.empty()) sender.acked_ns = loop_.now_ns();
  const std::uint64_t sequence = sender.retention.Add({.job = frame.job,
                                                       .epoch = frame.epoch,
                                                       .superstep = Superstep{frame.superstep},
                                                       .bytes = 1});
  sender.kept.emplace(sequence, frame);
  if (!sender.link) Connect(target);
  Pump(target, sender);
}

void SimStreams::Connect(WorkerId target) {
  Sender& sender = senders_[target];
  sender.welcome = false;
  const SimStreams* called = find_(target);
  if (called != nullptr && called->address_ != called_[target]) called = nullptr;  // Has moved.
  sender.link = SimLink::Make(loop_, {actor_, called == nullptr ? nullptr : called->actor_});
  const Link link = sender.link;
  link->OnBroken(SimLink::kCaller, [this, target](const Link& broken) {
    const auto found = senders_.find(target);
    if (dead_ || found == senders_.end() || found->second.link != broken) return;
    GiveUpIfUnreachable(target, found->second);
    RetryLater(target, broken);
  });
  link->Send(SimLink::kCaller, [this, link, target, self = self_, there = called != nullptr,
                                incarnation = sender.incarnation] {
    SimStreams* receiver = find_(target);
    if (!there || receiver == nullptr || receiver->dead_) return link->Break();
    receiver->OnHello(self, incarnation, link, this);
  });
}

// As SendingStream has it. What is told follows later: epochs that end drop their frames here.
void SimStreams::GiveUpIfUnreachable(WorkerId target, Sender& sender) {
  const std::uint64_t now_ns = loop_.now_ns();
  if (sender.retention.empty() || now_ns - sender.acked_ns < kUnreachableNs) return;
  sender.acked_ns = now_ns;
  Epochs waiting;
  for (const auto& [sequence, frame] : sender.kept) waiting.emplace(frame.job, frame.epoch);
  loop_.On(actor_, 0, [this, target, waiting] {
    if (!dead_) failed_(target, waiting);
  });
}

void SimStreams::RetryLater(WorkerId target, const Link& link) {
  loop_.On(actor_, 10 * kMillisecond + loop_.Below(kSecond), [this, target, link] {
    const auto found = senders_.find(target);
    if (dead_ || found == senders_.end() || found->second.link != link) return;
    if (found->second.retention.empty()) {
      found->second.link = nullptr;  // The next frame connects.
    } else {
      Connect(target);
    }
  });
}

void SimStreams::OnWelcome(WorkerId target, const Link& link, std::uint64_t sequence) {
  const auto found = senders_.find(target);
  if (dead_ || found == senders_.end() || found->second.link != link) return;
  Sender& sender = found->second;
  const auto acked = sender.retention.OnWelcome(sequence);
  if (!acked.has_value()) return oracle_.Fail("a receiver welcomes with what was never sent");
  const auto next = sender.retention.NextToSend();
  if ((next ? next->sequence : 0) != sender.retention.oldest())
    return oracle_.Fail("a new connection does not begin with the oldest frame that is kept");
  sender.welcome = true;
  if (!acked->empty()) sender.acked_ns = loop_.now_ns();
  Forget(sender, *acked);
  Pump(target, sender);
}

void SimStreams::Pump(WorkerId target, Sender& sender) {
  if (!sender.welcome || sender.link->broken(SimLink::kCaller)) return;
  while (const auto next = sender.retention.NextToSend()) {
    sender.retention.Sent();
    sender.link->Send(SimLink::kCaller,
                      [this, target, link = sender.link, self = self_, sequence = next->sequence,
                       frame = sender.kept.at(next->sequence)] {
                        SimStreams* receiver = find_(target);
                        if (receiver == nullptr || receiver->dead_) return;
                        receiver->OnFrame(self, sequence, frame, link, this);
                      });
  }
}

void SimStreams::OnAck(WorkerId target, const Link& link, std::uint64_t sequence) {
  const auto found = senders_.find(target);
  if (dead_ || found == senders_.end() || found->second.link != link) return;
  const auto acked = found->second.retention.OnAck(sequence);
  if (!acked.has_value()) return oracle_.Fail("a receiver acknowledges what was never sent");
  if (!acked->empty()) found->second.acked_ns = loop_.now_ns();
  Forget(found->second, *acked);
}

void SimStreams::Forget(Sender& sender, const std::vector<RetainedFrame>& frames) {
  for (const RetainedFrame& frame : frames) sender.kept.erase(frame.sequence);
}

void SimStreams::Prune(JobId job, Epoch epoch, std::uint64_t superstep) {
  for (auto& [target, sender] : senders_) {
    Forget(sender, sender.retention.PruneTo(job, epoch, kRootGroup, Superstep{superstep}));
  }
}

// A stream that nobody needs and that is broken is given up; the next one begins anew.
void SimStreams::DropJob(JobId job) {
  for (auto& [target, sender] : senders_)
    Forget(sender, sender.retention.DropGroup(job, kRootGroup));
  std::erase_if(senders_, [](const auto& each) {
    return each.second.retention.empty() &&
           (!each.second.link || each.second.link->broken(SimLink::kCaller));
  });
}

// ---- Receiving ----------------------------------------------------------------------------------

void SimStreams::OnHello(WorkerId from, std::uint64_t incarnation, const Link& link,
                         SimStreams* sender) {
  Receiver& receiver = receivers_[from];
  // Earlier connections of one stream may have something under way; those of another must go.
  const bool same = std::exchange(receiver.incarnation, incarnation) == incarnation;
  if (!receiver.links.empty() && (!same || loop_.Chance(50))) {
    for (const Link& earlier : receiver.links) earlier->Close(SimLink::kCalled);
    receiver.links.clear();
  }
  receiver.links.push_back(link);
  const std::uint64_t last = receiver.reception.OnHello(incarnation);
  link->Send(SimLink::kCalled,
             [sender, target = self_, link, last] { sender->OnWelcome(target, link, last); });
}

// What came by a connection is acknowledged there.
void SimStreams::OnFrame(WorkerId from, std::uint64_t sequence, const SimFrame& frame,
                         const Link& link, SimStreams* sender) {
  Receiver& receiver = receivers_[from];
  if (receiver.reception.Take(sequence)) taken_(frame);
  if (!receiver.owe_acks.insert(link).second) return;
  loop_.On(actor_, loop_.Below(20 * kMillisecond), [this, from, link, sender] {
    Receiver& owing = receivers_[from];
    owing.owe_acks.erase(link);
    if (dead_) return;
    link->Send(SimLink::kCalled, [sender, target = self_, link, last = owing.reception.last()] {
      sender->OnAck(target, link, last);
    });
  });
}

}  // namespace bspnow
