#include "net/stream_tls.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "net/frame.h"
#include "net/frame_check.h"
#include "net/socket.h"

namespace bspnow {
namespace {

constexpr std::string_view kLabel = "bspnow stream: TLS 1.3 pre-shared key";
constexpr std::string_view kIdentity = "bspnow stream.key";
constexpr char kSuite[] = "TLS_AES_128_GCM_SHA256";
constexpr unsigned char kSuiteId[] = {0x13, 0x01};
constexpr std::size_t kRecordBytes = 16 << 10;  // The most that a record of TLS holds.
constexpr std::size_t kInBytes = 256 << 10;
constexpr std::size_t kSendBytes = 256 << 10;  // Stays in the cache until the socket has it.
constexpr std::size_t kEarlyBytesMax = 4096;
// AES-GCM wants another key after 2^24 records (RFC 8446, 5.5).
constexpr std::uint32_t kRecordsPerKey = 1 << 18;

}  // namespace

/// How OpenSSL reaches `in_` and `out_` of a StreamTls.
class StreamTls::Bio {
 public:
  static BIO* New(StreamTls& owner) {
    BIO* const bio = BIO_new(Method());
    BSP_CHECK(bio != nullptr);
    BIO_set_data(bio, &owner);
    BIO_set_init(bio, 1);
    return bio;
  }

 private:
  static StreamTls& Owner(BIO* bio) { return *static_cast<StreamTls*>(BIO_get_data(bio)); }

  static int Read(BIO* bio, char* to, int bytes) {
    BIO_clear_retry_flags(bio);
    const std::size_t n =
        Owner(bio).Take(std::as_writable_bytes(std::span(to, static_cast<std::size_t>(bytes))));
    if (n != 0) return static_cast<int>(n);
    BIO_set_retry_read(bio);
    return -1;
  }

  static int Write(BIO* bio, const char* from, int bytes) {
    const auto span = std::as_bytes(std::span(from, static_cast<std::size_t>(bytes)));
    std::vector<std::byte>& out = Owner(bio).out_;
    out.insert(out.end(), span.begin(), span.end());
    return bytes;
  }

  static long Control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* Method() {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* const made =
          BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bspnow stream");
      BSP_CHECK(made != nullptr);
      BIO_meth_set_read(made, Read);
      BIO_meth_set_write(made, Write);
      BIO_meth_set_ctrl(made, Control);
      return made;
    }();
    return method;
  }
};

// ---- The key ------------------------------------------------------------------------------------

SSL_SESSION* StreamTls::MakeSession(SSL* ssl) {
  const auto& tls = *static_cast<const StreamTls*>(SSL_get_app_data(ssl));
  SSL_SESSION* const session = SSL_SESSION_new();
  BSP_CHECK(session != nullptr);
  BSP_CHECK(SSL_SESSION_set1_master_key(session,
                                        reinterpret_cast<const unsigned char*>(tls.psk_.data()),
                                        tls.psk_.size()) == 1);
  BSP_CHECK(SSL_SESSION_set_cipher(session, SSL_CIPHER_find(ssl, kSuiteId)) == 1);
  BSP_CHECK(SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1);
  return session;
}

int StreamTls::UseKey(SSL* ssl, const EVP_MD*, const unsigned char** id, std::size_t* id_bytes,
                      SSL_SESSION** session) {
  *id = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *id_bytes = kIdentity.size();
  *session = MakeSession(ssl);
  return 1;
}

int StreamTls::FindKey(SSL* ssl, const unsigned char* id, std::size_t id_bytes,
                       SSL_SESSION** session) {
  const std::string_view asked(reinterpret_cast<const char*>(id), id_bytes);
  *session = asked == kIdentity ? MakeSession(ssl) : nullptr;
  return 1;
}

// One for all streams, which never changes and lives as long as the process.
SSL_CTX* StreamTls::Context() {
  static SSL_CTX* const context = [] {
    SSL_CTX* const made = SSL_CTX_new(TLS_method());
    BSP_CHECK(made != nullptr);
    BSP_CHECK(SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) == 1);
    BSP_CHECK(SSL_CTX_set_max_proto_version(made, TLS1_3_VERSION) == 1);
    BSP_CHECK(SSL_CTX_set_ciphersuites(made, kSuite) == 1);
    BSP_CHECK(SSL_CTX_set1_groups_list(made, "X25519:P-256") == 1);
    SSL_CTX_set_options(made, SSL_OP_NO_TICKET);  // Each connection has a handshake of its own.
    SSL_CTX_clear_options(made, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
    BSP_CHECK(SSL_CTX_set_num_tickets(made, 0) == 1);
    SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_quiet_shutdown(made, 1);
    SSL_CTX_set_psk_use_session_callback(made, UseKey);
    SSL_CTX_set_psk_find_session_callback(made, FindKey);
    return made;
  }();
  return context;
}

// ---- The handshake ------------------------------------------------------------------------------

std::unique_ptr<StreamTls> StreamTls::Of(const StreamKey& key, End end, int fd) {
  if (!key.encrypts()) return nullptr;
  return std::make_unique<StreamTls>(key, end, fd);
}

StreamTls::StreamTls(const StreamKey& key, End end, int fd)
    : fd_(fd),
      psk_(key.MacOf(std::as_bytes(std::span(kLabel)))),
      ssl_(SSL_new(Context())),
      in_(MappedRegion::Private(kInBytes)) {
  if (!ssl_ || !in_.valid()) OutOfMemory(kInBytes);
  SSL_set_app_data(ssl_.get(), this);
  BIO* const bio = Bio::New(*this);
  SSL_set_bio(ssl_.get(), bio, bio);  // Which owns it.
  if (end == End::kConnects) {
    SSL_set_connect_state(ssl_.get());
  } else {
    SSL_set_accept_state(ssl_.get());
  }
}

// As far as it gets now. Its messages are shorter than any socket's buffer: who does not take them
// is given up.
absl::Status StreamTls::Shake() {
  if (SpeaksInClear()) return Fail(FrameFault::kInClear);
  ERR_clear_error();
  const int done = SSL_do_handshake(ssl_.get());
  if (done != 1 && SSL_get_error(ssl_.get(), done) != SSL_ERROR_WANT_READ)
    return Fail(FrameFault::kBadTls);
  if (done == 1) {
    state_ = State::kOpen;
    if (!early_.empty() && !Encrypt(early_)) return Fail(FrameFault::kBadTls);
    early_ = {};
  }
  if (absl::Status s = Flush(); !s.ok()) return s;
  if (!out_.empty()) return absl::UnavailableError("the peer takes no TLS handshake");
  return absl::OkStatus();
}

// The first bytes of the other end are those of a frame. No message of TLS begins so.
bool StreamTls::SpeaksInClear() {
  if (in_end_ == 0) Fill();
  return in_begin_ == 0 && in_end_ >= sizeof kFrameMagic &&
         std::memcmp(in_.data(), &kFrameMagic, sizeof kFrameMagic) == 0;
}

// OpenSSL may have left an alert to be sent.
absl::Status StreamTls::Fail(FrameFault fault) {
  const char* const reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  Flush().IgnoreError();
  fault_ = fault;
  state_ = fault == FrameFault::kInClear ? State::kInClear : State::kFailed;
  const absl::Status status = FaultStatus(fault);
  if (state_ == State::kInClear || reason == nullptr) return status;
  return absl::DataLossError(absl::StrCat(std::string(status.message()), ": ", reason));
}

// ---- What comes ---------------------------------------------------------------------------------

// False: nothing has come.
bool StreamTls::Fill() {
  if (turn_bytes_ == 0 || !end_.ok()) return false;
  const ssize_t n = recv(fd_, in_.data(), std::min(kInBytes, turn_bytes_), MSG_DONTWAIT);
  if (n < 0) {
    if (errno != EAGAIN && errno != EINTR) end_ = SystemError("reading", errno);
    return false;
  }
  if (n == 0) end_ = absl::OutOfRangeError("closed by the peer");
  in_begin_ = 0;
  in_end_ = static_cast<std::size_t>(n);
  turn_bytes_ -= in_end_;
  return n != 0;
}

std::size_t StreamTls::Take(std::span<std::byte> to) {
  if (in_begin_ == in_end_ && !Fill()) return 0;
  const std::size_t n = std::min(to.size(), in_end_ - in_begin_);
  std::memcpy(to.data(), in_.data() + in_begin_, n);
  in_begin_ += n;
  return n;
}

absl::StatusOr<std::size_t> StreamTls::Receive(std::span<const iovec> places) {
  if (fault_ != FrameFault::kNone) return FaultStatus(fault_);
  if (state_ == State::kHandshake) {
    if (absl::Status s = Shake(); !s.ok()) return s;
    if (state_ == State::kHandshake && !end_.ok())
      return absl::UnavailableError("ended inside the TLS handshake");
    if (state_ == State::kHandshake) return 0;
  }
  std::size_t total = 0;
  for (const iovec& place : places) {
    for (std::size_t done = 0; done < place.iov_len;) {
      std::size_t n = 0;
      ERR_clear_error();
      const int read = SSL_read_ex(ssl_.get(), static_cast<std::byte*>(place.iov_base) + done,
                                   place.iov_len - done, &n);
      if (read != 1) {
        if (SSL_get_error(ssl_.get(), read) != SSL_ERROR_WANT_READ)
          return Fail(FrameFault::kBadTls);
        if (total != 0 || end_.ok()) return total;
        if (SSL_has_pending(ssl_.get()) == 0) return end_;
        return absl::UnavailableError("ended inside a record of TLS");
      }
      done += n;
      total += n;
    }
  }
  return total;
}

// ---- What goes ----------------------------------------------------------------------------------

absl::StatusOr<std::size_t> StreamTls::Send(std::span<const iovec> pieces) {
  if (state_ == State::kFailed) return FaultStatus(fault_);
  if (state_ == State::kInClear) {  // It is told why it is refused.
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(pieces.data());
    message.msg_iovlen = pieces.size();
    const ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return SystemError("writing", errno);
    return static_cast<std::size_t>(std::max(n, ssize_t{0}));
  }
  if (state_ == State::kHandshake) {
    std::size_t taken = 0;
    for (const iovec& piece : pieces) {
      const auto bytes =
          PieceBytes(piece).first(std::min(piece.iov_len, kEarlyBytesMax - early_.size()));
      early_.insert(early_.end(), bytes.begin(), bytes.end());
      taken += bytes.size();
    }
    turn_bytes_ = 0;  // What comes is for Receive.
    if (absl::Status s = Shake(); !s.ok()) return s;
    return taken;
  }
  if (taken_ == 0) {
    taken_ = EncryptAll(pieces);
    if (taken_ == 0) return Fail(FrameFault::kBadTls);
  }
  if (absl::Status s = Flush(); !s.ok()) return s;
  return out_.empty() ? std::exchange(taken_, 0) : 0;
}

// Full records, as far as there is enough: long pieces from where they lie.
std::size_t StreamTls::EncryptAll(std::span<const iovec> pieces) {
  std::size_t total = 0;
  packed_.clear();
  for (const iovec& piece : pieces) {
    std::span<const std::byte> rest = PieceBytes(piece);
    rest = rest.first(std::min(rest.size(), kSendBytes - total));
    total += rest.size();
    while (!rest.empty()) {
      if (packed_.empty() && rest.size() >= kRecordBytes) {
        const auto whole = rest.first(rest.size() / kRecordBytes * kRecordBytes);
        if (!Encrypt(whole)) return 0;
        rest = rest.subspan(whole.size());
        continue;
      }
      const auto part = rest.first(std::min(rest.size(), kRecordBytes - packed_.size()));
      packed_.insert(packed_.end(), part.begin(), part.end());
      rest = rest.subspan(part.size());
      if (packed_.size() < kRecordBytes) continue;
      if (!Encrypt(packed_)) return 0;
      packed_.clear();
    }
  }
  return packed_.empty() || Encrypt(packed_) ? total : 0;
}

bool StreamTls::Encrypt(std::span<const std::byte> plain) {
  ERR_clear_error();
  if (records_ >= kRecordsPerKey) {
    if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return false;
    records_ = 0;
  }
  records_ += static_cast<std::uint32_t>((plain.size() + kRecordBytes - 1) / kRecordBytes);
  std::size_t n = 0;
  return SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &n) == 1 && n == plain.size();
}

absl::Status StreamTls::Flush() {
  while (out_begin_ < out_.size()) {
    const ssize_t n =
        send(fd_, out_.data() + out_begin_, out_.size() - out_begin_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return absl::OkStatus();
    if (n < 0) return SystemError("writing", errno);
    out_begin_ += static_cast<std::size_t>(n);
  }
  out_.clear();
  out_begin_ = 0;
  return absl::OkStatus();
}

}  // namespace bspnow
