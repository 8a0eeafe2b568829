#include "client/standard_output.h"

#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/standard_descriptors.h"
#include "base/write_all.h"

namespace bspnow::client {
namespace {

constexpr std::size_t kWaitingBytesMax = 16 << 10;

}  // namespace

void PrepareStandardStreams() {
  OccupyStandardDescriptors(ClosedOutput::kFails);
  signal(SIGXFSZ, SIG_IGN);  // A limit on file sizes is to be an error, not the end.
}

StandardOutput::StandardOutput()
    : before_(std::cout.rdbuf(this)), is_terminal_(isatty(STDOUT_FILENO) == 1) {}

StandardOutput::~StandardOutput() {
  sync();
  std::cout.rdbuf(before_);
}

absl::Status StandardOutput::Flush() {
  sync();
  return written_;
}

std::streamsize StandardOutput::xsputn(const char* text, std::streamsize bytes) {
  waiting_.append(text, static_cast<std::size_t>(bytes));
  return Settle() ? bytes : 0;
}

StandardOutput::int_type StandardOutput::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof())) return traits_type::not_eof(0);
  waiting_ += traits_type::to_char_type(character);
  return Settle() ? character : traits_type::eof();
}

int StandardOutput::sync() {
  if (written_.ok())
    written_ = WriteAll(STDOUT_FILENO, std::exchange(waiting_, ""), "standard output");
  return written_.ok() ? 0 : -1;
}

bool StandardOutput::Settle() {
  const bool is_line = is_terminal_ && waiting_.find('\n') != std::string::npos;
  return (!is_line && waiting_.size() < kWaitingBytesMax) || sync() == 0;
}

}  // namespace bspnow::client
