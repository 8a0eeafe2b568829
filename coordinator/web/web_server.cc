#include "coordinator/web/web_server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include "base/clock.h"
#include "base/units.h"
#include "coordinator/web/event_stream.h"
#include "coordinator/web/http_answer.h"
#include "coordinator/web/page_files.h"

namespace bspnow::coordinator {
namespace {

constexpr std::uint64_t kRequestNs = 5 * kNsPerS;  ///< For TLS's handshake and the request.
constexpr std::uint64_t kWriteNs = 10 * kNsPerS;
constexpr std::uint64_t kPassOverNs = kNsPerS;  ///< For what is left of a request that was refused.
constexpr std::size_t kPassedOverBytesMax = 256 << 10;
constexpr std::uint64_t kTurnMs = 1000;  ///< Of a stream.
constexpr int kQuietTurnsMax = 15;       ///< Then it says that it lives.

constexpr char kNoSession[] =
    "there is no session here, or it is over: `bsp web` on the command line prints an address that "
    "opens one";

SocketOptions OfSockets() { return {.congestion = "default", .buffer_bytes = 0}; }

/// Whole, or why not; nothing: the client has gone, or is too slow.
std::optional<std::variant<HttpRequest, BadRequest>> ReadRequest(WebConnection& connection) {
  const std::uint64_t until_ns = NowNs() + kRequestNs;
  std::array<char, kRequestBytesMax> bytes;
  std::size_t had = 0;
  while (true) {
    const auto read = connection.Read(std::span(bytes).subspan(had), until_ns);
    if (!read.ok()) return std::nullopt;
    had += *read;
    auto parsed = ParseRequest({bytes.data(), had});
    if (auto* request = std::get_if<HttpRequest>(&parsed)) return std::move(*request);
    if (auto* refused = std::get_if<BadRequest>(&parsed)) return std::move(*refused);
  }
}

bool MayLook(const Caller& caller) { return caller.May(Scope::kRead) || caller.May(Scope::kAdmin); }

}  // namespace

/// The right to one of the streams.
class WebServer::StreamSlot {
 public:
  StreamSlot(WebServer& server, std::string user) : server_(server), user_(std::move(user)) {
    const std::lock_guard lock(server_.mutex_);
    std::size_t all = 0;
    for (const auto& [each, count] : server_.streams_) all += count;
    granted_ = all < kStreamsMax && server_.streams_[user_] < kStreamsOfUserMax;
    if (granted_) server_.streams_[user_] += 1;
  }
  ~StreamSlot() {
    const std::lock_guard lock(server_.mutex_);
    if (granted_) server_.streams_[user_] -= 1;
    if (server_.streams_[user_] == 0) server_.streams_.erase(user_);
  }
  StreamSlot(const StreamSlot&) = delete;
  StreamSlot& operator=(const StreamSlot&) = delete;

  bool granted() const { return granted_; }

 private:
  WebServer& server_;
  const std::string user_;
  bool granted_ = false;
};

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Start(EventLoop& loop, Daemon& daemon,
                                                            AuditLog& audit, const Place& place) {
  Listening listening;
  if (!place.tls_dir.empty()) {
    auto tls = ServerContext::Load(place.tls_dir);
    if (!tls.ok()) return tls.status();
    listening.tls = *std::move(tls);
  }
  const auto address = Resolve(place.listen);
  if (!address.ok()) return address.status();
  auto fd = Listen(*address, OfSockets());
  if (!fd.ok()) return fd.status();
  const auto bound = LocalAddress(fd->get());
  if (!bound.ok()) return bound.status();
  // Each thread waits in accept: one of them is woken by a connection, all by the end.
  if (fcntl(fd->get(), F_SETFL, 0) != 0) return absl::ErrnoToStatus(errno, "fcntl");
  listening.fd = *std::move(fd);
  listening.address = {.host = place.listen.host, .port = bound->port()};
  return std::make_unique<WebServer>(loop, daemon, audit, std::move(listening));
}

WebServer::WebServer(EventLoop& loop, Daemon& daemon, AuditLog& audit, Listening listening)
    : audit_(audit),
      listening_(std::move(listening)),
      cookie_(absl::StrCat("bspnow_", listening_.address.port)),
      view_(loop, daemon) {
  for (std::size_t i = 0; i < kConnectionsMax; ++i) threads_.emplace_back([this] { Serve(); });
}

WebServer::~WebServer() { Close(); }

void WebServer::Close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  closed_.notify_all();
  shutdown(listening_.fd.get(), SHUT_RDWR);
  for (const int fd : open_) shutdown(fd, SHUT_RDWR);
}

bool WebServer::closing() const {
  const std::lock_guard lock(mutex_);
  return closing_;
}

proto::OpenPageReply WebServer::Open(const Caller& caller, CallerNow later) {
  proto::OpenPageReply reply;
  reply.set_address(listening_.address.ToString());
  reply.set_tls(listening_.tls != nullptr);
  reply.set_ticket(sessions_.MakeTicket(caller.user, std::move(later), NowNs()));
  return reply;
}

// ---- Connections --------------------------------------------------------------------------------

void WebServer::Serve() {
  while (!closing()) {
    absl::StatusOr<Accepted> accepted = Accept(listening_.fd.get(), OfSockets());
    if (!accepted.ok()) {  // The end; or no descriptors, which others may give back.
      std::unique_lock lock(mutex_);
      closed_.wait_for(lock, std::chrono::seconds(1), [this] { return closing_; });
    } else if (accepted->fd.valid()) {
      ServeOne(*std::move(accepted));
    }
  }
}

void WebServer::ServeOne(Accepted accepted) {
  const int fd = accepted.fd.get();
  WebConnection connection(std::move(accepted.fd),
                           listening_.tls ? listening_.tls->Begin(fd) : nullptr);
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    open_.insert(fd);
  }
  const Client client{.connection = connection, .from = accepted.peer.ToString()};
  if (const auto request = ReadRequest(connection)) {
    if (const auto* refused = std::get_if<BadRequest>(&*request)) {
      connection.Write(TextAnswer(refused->status, refused->why), NowNs() + kWriteNs).IgnoreError();
      connection.End();
      connection.PassOver(kPassedOverBytesMax, NowNs() + kPassOverNs);
    } else {
      Answer(client, std::get<HttpRequest>(*request));
      connection.End();
    }
  }
  const std::lock_guard lock(mutex_);
  open_.erase(fd);
}

void WebServer::Answer(const Client& client, const HttpRequest& request) {
  const auto send = [&client](const std::string& answer) {
    client.connection.Write(answer, NowNs() + kWriteNs).IgnoreError();
  };
  if (request.path == "/open") return send(Redeem(client, request));
  const std::optional<Caller> caller = CallerOf(request);
  if (!caller) {
    WriteRefused(client, "", absl::UnauthenticatedError("there is no session, or it is over"));
    return send(TextAnswer(401, kNoSession));
  }
  if (!MayLook(*caller)) {
    const std::string why = absl::StrCat("user ", caller->user, " may not look at the cluster");
    WriteRefused(client, caller->user, absl::PermissionDeniedError(why));
    return send(TextAnswer(403, why));
  }
  if (request.path == "/events") return Stream(client, request, *caller);
  for (const PageFile& file : PageFiles())
    if (request.path == file.path) return send(FileAnswer(file));
  send(TextAnswer(404, "there is nothing of this name"));
}

std::optional<Caller> WebServer::CallerOf(const HttpRequest& request) const {
  return sessions_.CallerOf(request.Cookie(cookie_), NowNs());
}

std::string WebServer::Redeem(const Client& client, const HttpRequest& request) {
  if (const auto session = sessions_.Redeem(request.QueryValue("ticket"), NowNs())) {
    const std::optional<Caller> caller = sessions_.CallerOf(*session, NowNs());
    audit_.Write({.user = caller ? caller->user : "",
                  .from = client.from,
                  .call = "page",
                  .what = "opened",
                  .outcome = absl::OkStatus()});
    return SessionAnswer(
        SessionCookie{.name = cookie_, .session = *session, .secure = listening_.tls != nullptr});
  }
  if (CallerOf(request)) return SessionAnswer(std::nullopt);  // The address was opened again.
  WriteRefused(client, "", absl::UnauthenticatedError("the ticket is none, or over"));
  return TextAnswer(
      401, absl::StrCat("the ticket in this address was used before, or is over; ", kNoSession));
}

void WebServer::WriteRefused(const Client& client, const std::string& user,
                             const absl::Status& why) {
  audit_.Write({.user = user, .from = client.from, .call = "page", .what = "", .outcome = why});
}

// ---- Streams ------------------------------------------------------------------------------------

void WebServer::Stream(const Client& client, const HttpRequest& request, const Caller& caller) {
  WebConnection& connection = client.connection;
  const auto send = [&connection](const std::string& bytes) {
    return connection.Write(bytes, NowNs() + kWriteNs).ok();
  };
  const std::string named = request.QueryValue("job");
  std::uint64_t job = 0;
  if (!named.empty() && !absl::SimpleAtoi(named, &job)) {
    send(TextAnswer(400, "job is a number"));
    return;
  }
  const StreamSlot slot(*this, caller.user);
  if (!slot.granted()) {
    send(TextAnswer(429, absl::StrCat("too many pages are open: ", kStreamsOfUserMax,
                                      " of one user, ", kStreamsMax, " in all")));
    return;
  }
  if (!send(StreamHead())) return;
  EventStream events(view_, named.empty() ? std::nullopt : std::optional(JobId{job}));
  int quiet_turns = 0;
  do {
    const std::optional<Caller> now = CallerOf(request);
    if (!now || !MayLook(*now)) return;
    std::string news = events.Next(*now);
    if (news.empty() && ++quiet_turns < kQuietTurnsMax) continue;
    if (news.empty()) news = kStillHere;
    quiet_turns = 0;
    if (!send(news)) return;
  } while (!connection.EndsWithin(kTurnMs) && !closing());
}

}  // namespace bspnow::coordinator
