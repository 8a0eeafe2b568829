// Tokens that the login socket gives out: they say for themselves whose they are and until when,
// and bear a code that only this run of the coordinator can make. Nothing is kept of them.
#ifndef COORDINATOR_ACCESS_LOGIN_TOKENS_H_
#define COORDINATOR_ACCESS_LOGIN_TOKENS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/core/caller.h"

namespace bspnow::coordinator {

class LoginTokens {
 public:
  /// With a random key.
  LoginTokens();

  /// Good until that time of the monotonic clock.
  std::string Make(const Caller& caller, std::uint64_t until_ns) const;

  /// Nothing if it is no such token, or of another run, or over. From any thread.
  std::optional<Caller> CallerOf(const std::string& token, std::uint64_t now_ns) const;

 private:
  std::string CodeOf(const std::string& claims) const;

  std::array<unsigned char, 32> key_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_LOGIN_TOKENS_H_
