#include "tests/simulation/sim_client.h"

#include <algorithm>
#include <utility>

namespace bspnow {
namespace {

constexpr std::uint64_t kBytes = 10;  // Of a piece of input.
constexpr std::uint64_t kPieces = 5;
constexpr std::uint32_t kLeavePercent = 2;  // Each time that it speaks.

}  // namespace

struct SimClient::State {
  Parts parts;
  JobId job;
  std::string key;
  std::shared_ptr<Stream> stream{};
  SimCoordinator* at = nullptr;  ///< Where the stream leads.
  std::uint64_t taken = 0;       ///< Bytes, as it has heard.
  bool gone = false;             ///< For good.
};

class SimClient::Stream final : public coordinator::AttachedClient {
 public:
  explicit Stream(std::shared_ptr<State> state) : state_(std::move(state)) {}
  coordinator::ClientIdentity identity() const override { return {}; }
  void InputTaken(std::uint64_t bytes) override {
    if (const auto state = state_.lock()) state->taken = std::max(state->taken, bytes);
  }
  void Replaced() override {}

 private:
  const std::weak_ptr<State> state_;
};

SimClient::SimClient(Parts parts, JobId job, std::string key) {
  GoOn(
      std::make_shared<State>(State{.parts = std::move(parts), .job = job, .key = std::move(key)}));
}

void SimClient::GoOn(const std::shared_ptr<State>& state) {
  SimLoop& loop = state->parts.loop;
  if (state->gone || state->parts.oracle.KnowsEnd(state->job)) return;
  loop.After(loop.Below(kSecond / 5), [state] {
    SimCoordinator& coordinator = state->parts.coordinator();
    state->parts.loop.On(coordinator.actor(), 0, [state, &coordinator] {
      if (coordinator.dead() || coordinator.strange()) return;
      if (state->at != &coordinator) state->stream.reset();
      state->at = &coordinator;
      if (!state->stream) {
        auto stream = std::make_shared<Stream>(state);
        if (coordinator.AttachClient(state->job, state->key, stream)) state->stream = stream;
      }
      Speak(*state, coordinator);
    });
    GoOn(state);
  });
}

void SimClient::Speak(State& state, SimCoordinator& coordinator) {
  if (!state.stream) return;
  if (state.parts.loop.Chance(kLeavePercent)) {
    state.gone = true;
    const auto stream = std::exchange(state.stream, nullptr);
    if (state.parts.loop.Chance(50)) {
      state.parts.oracle.Count("clients that leave");
      return coordinator.LetClientLeave(state.job, stream.get());
    }
    state.parts.oracle.Count("clients that do not come back");
    return coordinator.LoseClient(state.job, stream.get());
  }
  if (state.parts.loop.Chance(20)) {
    state.parts.oracle.Count("clients that come back");
    return coordinator.LoseClient(state.job, std::exchange(state.stream, nullptr).get());
  }
  if (state.taken >= kPieces * kBytes) return;
  coordinator.SendInput(state.job, {.offset = state.taken, .data = std::string(kBytes, 'i')});
}

}  // namespace bspnow
