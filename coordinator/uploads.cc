#include "coordinator/uploads.h"

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
  Upload(const files::BlobStore& contents, const files::BlobStore& senders, std::string user)
      : content_(contents, Durability::kSynced), senders_(senders), user_(std::move(user)) {}

  absl::Status Begin(const files::FileHead& head) override {
    absl::Status begun = content_.Begin(head);
    if (begun.ok()) name_ = head.name;  // A second one is refused, and must not have the note.
    return begun;
  }

  absl::Status Append(std::string_view bytes) override { return content_.Append(bytes); }

  /// The note comes last: it proves that the whole content came.
  absl::Status Finish() override {
    if (absl::Status stored = content_.Finish(); !stored.ok()) return stored;
    const std::string text = NoteOf(user_, name_);
    files::BlobSink note(senders_, Durability::kSynced);
    absl::Status noted = note.Begin({.name = Sha256Of(text), .bytes = text.size(), .mode = 0});
    if (noted.ok()) noted = note.Append(text);
    return noted.ok() ? note.Finish() : noted;
  }

 private:
  files::BlobSink content_;
  const files::BlobStore& senders_;
  const std::string user_;
  std::string name_;
};

}  // namespace

Uploads::Uploads(const StateDirectory& state)
    : contents_(state.blobs()), senders_(state.senders()) {}

bool Uploads::Has(std::string_view user, std::string_view sha256) const {
  return senders_.Has(Sha256Of(NoteOf(user, sha256))) && contents_.Has(sha256);
}

std::unique_ptr<files::FileSink> Uploads::Take(std::string user) const {
  return std::make_unique<Upload>(contents_, senders_, std::move(user));
}

void Uploads::ForgetBefore(std::int64_t unix_s) const { senders_.RemoveUnneeded({}, unix_s); }

}  // namespace bspnow::coordinator
