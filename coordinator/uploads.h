// Contents that clients upload, and who has uploaded which. A content is stored once, whoever sends
// it; but to know its hash is not to have it, so a user's job gets only what that user has sent.
// May be used by any thread.
#ifndef COORDINATOR_UPLOADS_H_
#define COORDINATOR_UPLOADS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "coordinator/kept_bytes.h"
#include "coordinator/state_directory.h"
#include "files/blob_store.h"
#include "files/file_sink.h"

namespace bspnow::coordinator {

class Uploads {
 public:
  /// What comes takes room of its user in `kept`, which outlives this.
  Uploads(const StateDirectory& state, KeptBytes& kept);

  /// Whoever sent them.
  const files::BlobStore& contents() const { return contents_; }

  /// The content is here, and `user` has sent it. Both will stay so for a day from now.
  bool Has(std::string_view user, std::string_view sha256) const;

  /// Who fetched it got something else. A content that is damaged here is removed, so that the next
  /// who submits it sends it again; the error says so.
  absl::Status Recheck(std::string_view sha256) const;

  /// Takes one content from `user`. The sink must not outlive this.
  std::unique_ptr<files::FileSink> Take(std::string user) const;

  /// Hashes by user.
  std::map<std::string, std::set<std::string>> Senders() const;

  /// Forgets who sent what, if nobody has asked since.
  void ForgetBefore(std::int64_t unix_s) const;

 private:
  KeptBytes& kept_;
  files::BlobStore contents_;
  const std::string senders_directory_;
  files::BlobStore senders_;  ///< One small content for each user and content: NoteOf.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_UPLOADS_H_
