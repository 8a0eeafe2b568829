// Ways into the web page: a ticket, which a caller asks for over gRPC, and the session that whoever
// shows the ticket first gets for it. Only hashes of both are kept, in memory: all end with this
// run of the coordinator. From any thread.
#ifndef COORDINATOR_ACCESS_PAGE_SESSIONS_H_
#define COORDINATOR_ACCESS_PAGE_SESSIONS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/units.h"
#include "coordinator/access/authority.h"
#include "coordinator/core/caller.h"

namespace bspnow::coordinator {

class PageSessions {
 public:
  static constexpr std::uint64_t kTicketNs = 60 * kNsPerS;
  static constexpr std::uint64_t kSessionNs = 12 * 3600 * kNsPerS;
  /// Tickets, and sessions, that one user has at a time: the next one ends the oldest.
  static constexpr std::size_t kOfUserMax = 16;

  /// Good once, for kTicketNs.
  std::string MakeTicket(const std::string& user, CallerNow caller, std::uint64_t now_ns);

  /// A session for kSessionNs, for a good ticket, which is good no more.
  std::optional<std::string> Redeem(const std::string& ticket, std::uint64_t now_ns);

  /// Whose session it is, and what he may do now.
  std::optional<Caller> CallerOf(const std::string& session, std::uint64_t now_ns) const;

 private:
  struct Entry {
    std::string user;
    CallerNow caller;
    std::uint64_t until_ns;
  };
  using Entries = std::map<std::string, Entry>;  // By SHA-256.

  static std::string Add(Entries& entries, Entry entry, std::uint64_t now_ns);

  mutable std::mutex mutex_;
  Entries tickets_;  ///< Guarded by mutex_, as the next one.
  Entries sessions_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_ACCESS_PAGE_SESSIONS_H_
