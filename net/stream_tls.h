// TLS 1.3 on one connection between daemons, for clusters that encrypt their streams (--data-tls).
// It is made of the cluster's key (an external pre-shared key, with an ephemeral Diffie-Hellman
// exchange), so it needs no certificates, and who has not the key gets through no handshake. The
// proofs of net/stream_proof.h follow inside: they say which worker this is, and what it wants.
//
// Handshakes happen inside Receive and Send. An end without a TLS goodbye is an end like any other:
// no frame says by its end that something is complete.
//
// See "Data TLS" in docs/design.md.
#ifndef NET_STREAM_TLS_H_
#define NET_STREAM_TLS_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/mapped_region.h"
#include "net/frame_check.h"
#include "net/stream_key.h"
#include "net/tls/openssl.h"

namespace bspnow {

class StreamTls {
 public:
  /// Who connects is the client of TLS.
  enum class End { kConnects, kAccepts };

  /// For this connected, non-blocking socket, which is the caller's and must stay open; nothing if
  /// streams with this key are in clear.
  static std::unique_ptr<StreamTls> Of(const StreamKey& key, End end, int fd);

  /// For Of: the key must encrypt.
  StreamTls(const StreamKey& key, End end, int fd);

  /// From now on at most so many bytes are taken from the socket: then others have their turn.
  void BeginTurn(std::size_t bytes) { turn_bytes_ = bytes; }

  /// As recvmsg: how much came. Less than there is place for: nothing more is here, so that waiting
  /// for the socket to be readable misses nothing. OUT_OF_RANGE: the peer has closed its side;
  /// UNAVAILABLE: the connection broke; DATA_LOSS: see fault().
  absl::StatusOr<std::size_t> Receive(std::span<const iovec> places);

  /// As sendmsg, but 0 if the socket takes nothing now: then call again with the same bytes first,
  /// which may lie elsewhere meanwhile. What is counted as taken is in the socket, but for the
  /// first bytes of a connection, which wait for the end of the handshake.
  absl::StatusOr<std::size_t> Send(std::span<const iovec> pieces);

  /// Why Receive failed, if the other end is to blame.
  FrameFault fault() const { return fault_; }

 private:
  enum class State { kHandshake, kOpen, kInClear, kFailed };
  class Bio;

  static SSL_SESSION* MakeSession(SSL* ssl);
  static int UseKey(SSL* ssl, const EVP_MD* md, const unsigned char** id, std::size_t* id_bytes,
                    SSL_SESSION** session);
  static int FindKey(SSL* ssl, const unsigned char* id, std::size_t id_bytes,
                     SSL_SESSION** session);
  static SSL_CTX* Context();

  absl::Status Shake();
  bool SpeaksInClear();
  absl::Status Fail(FrameFault fault);
  bool Fill();
  std::size_t Take(std::span<std::byte> to);
  absl::Status Flush();
  bool Encrypt(std::span<const std::byte> plain);
  std::size_t EncryptAll(std::span<const iovec> pieces);

  const int fd_;
  const StreamKey::Mac psk_;
  SslPtr ssl_;
  State state_ = State::kHandshake;
  FrameFault fault_ = FrameFault::kNone;
  std::size_t turn_bytes_ = 0;  ///< That may still be read.
  absl::Status end_;            ///< Not OK: nothing more comes from the socket.

  MappedRegion in_;  ///< As it came, encrypted: so that one call gets many records.
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;

  std::vector<std::byte> early_;   ///< In plain text, until the handshake is over.
  std::vector<std::byte> packed_;  ///< Short pieces, to go as one record.
  std::vector<std::byte> out_;     ///< Encrypted, on its way to the socket.
  std::size_t out_begin_ = 0;
  std::size_t taken_ = 0;      ///< So many bytes of the caller's are what lies in `out_`.
  std::uint32_t records_ = 0;  ///< Encrypted with the present traffic key.
};

}  // namespace bspnow

#endif  // NET_STREAM_TLS_H_
