// The web page of the coordinator, over HTTP/1.1 or HTTPS: shows a caller in a browser what the
// calls of gRPC show him, and changes nothing. Without a session, which a ticket of `bsp web`
// opens, it says how to get one and nothing else.
//
// A few threads take one connection each, for one request. Whoever is slow is given up after some
// seconds, so outsiders delay the page at most, and never the loop.
#ifndef COORDINATOR_WEB_WEB_SERVER_H_
#define COORDINATOR_WEB_WEB_SERVER_H_

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include "base/unique_fd.h"
#include "coordinator/access/audit_log.h"
#include "coordinator/access/page_sessions.h"
#include "coordinator/daemon.h"
#include "coordinator/web/http_request.h"
#include "coordinator/web/page_view.h"
#include "coordinator/web/web_connection.h"
#include "net/event_loop.h"
#include "net/socket.h"
#include "net/tls/server_context.h"
#include "proto/jobs.pb.h"

namespace bspnow::coordinator {

class WebServer {
 public:
  static constexpr std::size_t kConnectionsMax = 24;  ///< More wait in the kernel.
  static constexpr std::size_t kStreamsMax = 16;      ///< Open pages; the rest is for requests.
  static constexpr std::size_t kStreamsOfUserMax = 8;
  static_assert(kStreamsMax < kConnectionsMax);

  struct Place {
    HostPort listen;
    std::string tls_dir;  ///< Empty: plain text.
  };

  /// Listens at once. Port 0: any. On the loop's thread, as the end of the server.
  static absl::StatusOr<std::unique_ptr<WebServer>> Start(EventLoop& loop, Daemon& daemon,
                                                          AuditLog& audit, const Place& place);
  /// For Start.
  struct Listening {
    UniqueFd fd;
    HostPort address;
    std::unique_ptr<ServerContext> tls;
  };
  WebServer(EventLoop& loop, Daemon& daemon, AuditLog& audit, Listening listening);
  ~WebServer();

  /// With the real port.
  const HostPort& address() const { return listening_.address; }

  /// A way in, for a caller who is proven now, and by `later` at any time. From any thread.
  proto::OpenPageReply Open(const Caller& caller, CallerNow later);

  /// Ends all connections, soon: before the loop ends, which their threads ask.
  void Close();

 private:
  class StreamSlot;
  struct Client {
    WebConnection& connection;
    const std::string from;
  };

  void Serve();
  void ServeOne(Accepted accepted);
  void Answer(const Client& client, const HttpRequest& request);
  std::string Redeem(const Client& client, const HttpRequest& request);
  /// As a call that is refused. `user`: as he was proven; empty: he was not.
  void WriteRefused(const Client& client, const std::string& user, const absl::Status& why);
  std::optional<Caller> CallerOf(const HttpRequest& request) const;
  void Stream(const Client& client, const HttpRequest& request, const Caller& caller);
  bool closing() const;

  AuditLog& audit_;
  Listening listening_;
  const std::string cookie_;  ///< Its name: cookies do not tell ports apart.
  PageSessions sessions_;
  PageView view_;

  mutable std::mutex mutex_;
  std::condition_variable closed_;
  bool closing_ = false;                        ///< Guarded by mutex_, as the following.
  std::set<int> open_;                          ///< Connections.
  std::map<std::string, std::size_t> streams_;  ///< By user.
  std::vector<std::jthread> threads_;           ///< Last: they use all of the above.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_WEB_WEB_SERVER_H_
