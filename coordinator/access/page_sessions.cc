#include "coordinator/access/page_sessions.h"

#include <sys/random.h>

#include <utility>

#include <absl/strings/escaping.h>
#include "base/check.h"
#include "files/sha256.h"

namespace bspnow::coordinator {
namespace {

std::string NewSecret() {
  char secret[32];
  BSP_CHECK(getrandom(secret, sizeof secret, 0) == ssize_t{sizeof secret});
  return absl::BytesToHexString(std::string(secret, sizeof secret));
}

std::string HashOf(const std::string& secret) {
  files::Sha256 hash;
  hash.Add(secret);
  return hash.Hexadecimal();
}

}  // namespace

std::string PageSessions::Add(Entries& entries, Entry entry, std::uint64_t now_ns) {
  std::erase_if(entries, [now_ns](const auto& each) { return each.second.until_ns <= now_ns; });
  std::size_t of_user = 0;
  auto oldest = entries.end();
  for (auto each = entries.begin(); each != entries.end(); ++each) {
    if (each->second.user != entry.user) continue;
    of_user += 1;
    if (oldest == entries.end() || each->second.until_ns < oldest->second.until_ns) oldest = each;
  }
  if (of_user >= kOfUserMax) entries.erase(oldest);
  std::string secret = NewSecret();
  entries.insert_or_assign(HashOf(secret), std::move(entry));
  return secret;
}

std::string PageSessions::MakeTicket(const std::string& user, CallerNow caller,
                                     std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  return Add(tickets_, {.user = user, .caller = std::move(caller), .until_ns = now_ns + kTicketNs},
             now_ns);
}

std::optional<std::string> PageSessions::Redeem(const std::string& ticket, std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const auto taken = tickets_.extract(HashOf(ticket));
  if (taken.empty() || taken.mapped().until_ns <= now_ns) return std::nullopt;
  Entry session = std::move(taken.mapped());
  session.until_ns = now_ns + kSessionNs;
  return Add(sessions_, std::move(session), now_ns);
}

std::optional<Caller> PageSessions::CallerOf(const std::string& session,
                                             std::uint64_t now_ns) const {
  CallerNow caller;
  {
    const std::lock_guard lock(mutex_);
    const auto known = sessions_.find(HashOf(session));
    if (known == sessions_.end() || known->second.until_ns <= now_ns) return std::nullopt;
    caller = known->second.caller;
  }
  return caller();  // It may read files.
}

}  // namespace bspnow::coordinator
