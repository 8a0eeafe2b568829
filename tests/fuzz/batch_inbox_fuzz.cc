// Fuzzes what a worker does with the pieces of batches that another worker made up. All may be
// refused; nothing may be written outside of the images of that worker's processes.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "runtime/link/link_segment.h"
#include "worker/exchange/batch_inbox.h"
#include "worker/exchange/batch_table.h"
#include "worker/exchange/frame_class.h"
#include "worker/exchange/job_shape.h"

namespace bspnow {
namespace {

constexpr std::uint32_t kProcesses = 4;  // 0 and 1 live here, 2 and 3 on host 1.
constexpr std::uint32_t kSender = 1;
constexpr std::byte kUntouched{0};

SegmentLayout SmallLayout() {
  return LayOutSegment({.job = JobId{1},
                        .epoch = Epoch{1},
                        .nprocs = kProcesses,
                        .check_full = false,
                        .memory_bytes = 1,
                        .address_space_bytes = 1});
}

worker::JobShape TwoHosts() {
  return {.job = JobId{1},
          .epoch = Epoch{1},
          .self = 0,
          .hosts = {{Pid{0}, Pid{1}}, {Pid{2}, Pid{3}}},
          .host_of = {0, 0, 1, 1},
          .participants = kProcesses};
}

class Run {
 public:
  explicit Run(FuzzedDataProvider& input)
      : input_(input),
        layout_(SmallLayout()),
        segment_(MappedRegion::Private(SegmentBytes(layout_)), layout_),
        shape_(TwoHosts()),
        inbox_(segment_, shape_) {
    BSP_CHECK(segment_.valid());
  }

  void Step() {
    if (input_.ConsumeIntegralInRange(0, 9) == 0) return EndSuperstep();
    const std::uint64_t superstep = superstep_ + (input_.ConsumeBool() ? 1 : 0);
    const BatchPiece piece = MakePiece();
    std::vector<std::uint8_t> bytes =
        input_.ConsumeBytes<std::uint8_t>(input_.ConsumeIntegralInRange<std::size_t>(0, 200));
    if (input_.ConsumeIntegralInRange(0, 3) == 0)
      bytes.resize(input_.ConsumeIntegralInRange<std::size_t>(0, kFramePayloadBytesMax - 32));
    std::span<const std::byte> data = std::as_bytes(std::span(bytes));
    if (!worker::ClassOfFrame(inbox_, kSender, piece, data)) return;
    const bool table = piece.content == static_cast<std::uint32_t>(BatchContent::kTable);
    if (!table && input_.ConsumeBool()) {
      const std::span<std::byte> place = inbox_.Place(superstep, piece, data.size());
      std::copy_n(data.begin(), place.size(), place.begin());
      if (input_.ConsumeBool()) return;  // The connection broke.
      if (!place.empty()) data = place;
    }
    for (worker::BatchTableReader pieces(piece, data); pieces.Next();)
      inbox_.Take(superstep, pieces.piece(), pieces.data()).IgnoreError();
  }

  // No other worker may write to the arenas of the processes that live here.
  void CheckArenas() const {
    for (std::uint32_t pid = 0; pid < 2; ++pid) {
      const std::byte* const arena = segment_.arena(Pid{pid});
      for (unsigned parity = 0; parity < 2; ++parity) {
        for (std::uint32_t to = 0; to < kProcesses; ++to)
          CheckUntouched(&segment_.entry(Pid{pid}, Pid{to}, parity), sizeof(DirectoryEntry));
        CheckUntouched(arena + segment_.heap_offset(static_cast<int>(parity)), kPageBytes);
        CheckUntouched(arena + segment_.head_offset(Pid{pid}, static_cast<int>(parity)),
                       kPageBytes);
      }
    }
  }
  static void CheckUntouched(const void* from, std::size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    BSP_CHECK(std::all_of(at, at + bytes, [](std::byte b) { return b == kUntouched; }));
  }

 private:
  BatchPiece MakePiece() {
    BatchPiece piece{.content = input_.ConsumeIntegralInRange<std::uint32_t>(0, 11),
                     .source_pid = input_.ConsumeIntegralInRange<std::uint32_t>(0, kProcesses),
                     .destination_pid = input_.ConsumeIntegralInRange<std::uint32_t>(0, kProcesses),
                     .chunk_bytes = input_.ConsumeIntegralInRange<std::uint64_t>(0, 1000),
                     .chunk_offset = input_.ConsumeIntegralInRange<std::uint64_t>(0, 1000)};
    if (input_.ConsumeBool()) piece.chunk_offset = 0;
    if (input_.ConsumeIntegralInRange(0, 7) == 0)
      piece.chunk_bytes = input_.ConsumeIntegral<std::uint64_t>();
    if (input_.ConsumeIntegralInRange(0, 15) == 0)
      piece.source_pid = input_.ConsumeIntegral<std::uint32_t>();
    return piece;
  }

  void EndSuperstep() {
    inbox_.Publish(superstep_);
    std::vector<worker::AnswerRequest> requests;
    inbox_.FindRequests(superstep_, kSender, requests);
    for (const worker::AnswerRequest& request : requests)
      BSP_CHECK(shape_.IsHere(Value(request.answerer)) && !shape_.IsHere(Value(request.asker)));
    inbox_.PublishAnswers(superstep_, kSender);
    CheckArenas();
    ++superstep_;
  }

  FuzzedDataProvider& input_;
  SegmentLayout layout_;
  Segment segment_;
  worker::JobShape shape_;
  worker::BatchInbox inbox_;
  std::uint64_t superstep_ = 0;
};

}  // namespace
}  // namespace bspnow

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  FuzzedDataProvider input(data, bytes);
  bspnow::Run run(input);
  while (input.remaining_bytes() > 0) run.Step();
  run.CheckArenas();
  return 0;
}
