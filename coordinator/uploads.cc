#include "coordinator/uploads.h"

#include <spdlog/spdlog.h>

#include <fstream>
#include <utility>

#include <absl/strings/str_cat.h>
#include "files/sha256.h"

namespace bspnow::coordinator {
namespace {

/// What is kept of it that `user` has sent a content. No hash has a line end, so no two are alike.
std::string NoteOf(std::string_view user, std::string_view sha256) {
  return absl::StrCat(std::string(sha256), "\n", std::string(user), "\n");
}

std::string Sha256Of(std::string_view text) {
  files::Sha256 hash;
  hash.Add(text);
  return hash.Hexadecimal();
}

class Upload final : public files::FileSink {
 public:
  struct Stores {
    const files::BlobStore& contents;
    const files::BlobStore& senders;
    KeptBytes& kept;
  };

  Upload(const Stores& stores, std::string user)
      : content_(stores.contents, Durability::kSynced),
        senders_(stores.senders),
        kept_(stores.kept),
        user_(std::move(user)) {}

  ~Upload() override {
    if (reserved_) kept_.GiveBack(user_, head_.bytes);
  }

  absl::Status Begin(const files::FileHead& head) override {
    absl::Status begun = content_.Begin(head);
    if (!begun.ok()) return begun;  // A second one, too, which must not have the note.
    head_ = head;
    begun = kept_.Reserve(user_, head_.bytes);
    reserved_ = begun.ok();
    return begun;
  }

  absl::Status Append(std::string_view bytes) override { return content_.Append(bytes); }

  /// The note comes last: it proves that the whole content came.
  absl::Status Finish() override {
    if (absl::Status stored = content_.Finish(); !stored.ok()) return stored;
    const std::string text = NoteOf(user_, head_.name);
    files::BlobSink note(senders_, Durability::kSynced);
    absl::Status noted = note.Begin({.name = Sha256Of(text), .bytes = text.size(), .mode = 0});
    if (noted.ok()) noted = note.Append(text);
    if (noted.ok()) noted = note.Finish();
    if (noted.ok() && std::exchange(reserved_, false)) kept_.Stored(user_, head_.bytes);
    return noted;
  }

 private:
  files::BlobSink content_;
  const files::BlobStore& senders_;
  KeptBytes& kept_;
  const std::string user_;
  files::FileHead head_;
  bool reserved_ = false;
};

}  // namespace

Uploads::Uploads(const StateDirectory& state, KeptBytes& kept)
    : kept_(kept),
      contents_(state.blobs()),
      senders_directory_(state.senders()),
      senders_(senders_directory_) {}

bool Uploads::Has(std::string_view user, std::string_view sha256) const {
  return senders_.Has(Sha256Of(NoteOf(user, sha256))) && contents_.Has(sha256);
}

absl::Status Uploads::Recheck(std::string_view sha256) const {
  const absl::Status sound = contents_.Verify(sha256).status();
  // Of any other failure, such as no descriptor, the content knows nothing.
  if (!absl::IsDataLoss(sound) && !absl::IsUnknown(sound)) return sound;
  spdlog::error("event=content_damaged reason=\"{}\"", std::string(sound.message()));
  contents_.Remove(sha256);
  return absl::DataLossError(absl::StrCat("content ", std::string(sha256),
                                          " was damaged on the coordinator's disk; submit the job "
                                          "again, which sends it"));
}

std::unique_ptr<files::FileSink> Uploads::Take(std::string user) const {
  return std::make_unique<Upload>(
      Upload::Stores{.contents = contents_, .senders = senders_, .kept = kept_}, std::move(user));
}

std::map<std::string, std::set<std::string>> Uploads::Senders() const {
  std::map<std::string, std::set<std::string>> senders;
  for (const files::StoredBlob& blob : senders_.List()) {
    std::ifstream note(absl::StrCat(senders_directory_, "/", blob.sha256));
    std::string sha256, user;  // As in NoteOf; neither, if it is forgotten meanwhile.
    if (std::getline(note, sha256) && std::getline(note, user)) senders[user].insert(sha256);
  }
  return senders;
}

void Uploads::ForgetBefore(std::int64_t unix_s) const { senders_.RemoveUnneeded({}, unix_s); }

}  // namespace bspnow::coordinator
