// Turns the bytes of one stream of one process into whole lines, so that the lines of many
// processes can be printed one after the other.
#ifndef WORKER_HOST_LINE_ASSEMBLER_H_
#define WORKER_HOST_LINE_ASSEMBLER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bspnow::worker {

class LineAssembler {
 public:
  /// A line longer than this comes out in pieces.
  static constexpr std::size_t kLineBytesMax = std::size_t{1} << 20;
  /// A line that is this long without its end is shown as a prompt.
  static constexpr std::uint64_t kPromptMs = 50;

  /// `prefix` is put before each line.
  explicit LineAssembler(std::string prefix) : prefix_(std::move(prefix)) {}

  /// Takes bytes as they come; returns the lines that they complete, with their newlines.
  std::string Add(std::string_view bytes);

  /// What has come of a line that is not complete, as a prompt: without a newline. Later bytes
  /// continue it.
  std::string TakePartial();

  /// A line that was shown in part has been ended by somebody else: what follows is a new line.
  void BeginAnew() { line_begun_ = false; }

  /// The end of the stream: the last line if it had no newline, as it is.
  std::string Finish();

  bool has_partial() const { return !partial_.empty(); }
  std::string_view partial() const { return partial_; }

 private:
  std::string prefix_;
  std::string partial_;
  bool line_begun_ = false;  ///< Part of the line is out already.
};

}  // namespace bspnow::worker

#endif  // WORKER_HOST_LINE_ASSEMBLER_H_
