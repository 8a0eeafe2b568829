#include "coordinator/journal/sqlite_database.h"

#include <absl/strings/str_cat.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/durable_file.h"
#include "base/unique_fd.h"

namespace bspnow::coordinator {
namespace {

/// "unable to open database file" may be for want of rights, descriptors or room.
std::string WhyOf(sqlite3* database, int result) {
  if (database == nullptr) return sqlite3_errstr(result);
  const int kind = result & 0xff;
  const int error =
      kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR ? sqlite3_system_errno(database) : 0;
  const std::string why = error == 0 ? "" : absl::StrCat(": ", std::strerror(error));
  return sqlite3_errmsg(database) + why;
}

absl::Status ErrorOf(sqlite3* database, int result, const std::string& path) {
  const std::string text = WhyOf(database, result);
  switch (result & 0xff) {  // Without the extension.
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::FailedPreconditionError(
          absl::StrCat(path, " is in use by another coordinator; give each its own --state-dir"));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(path, " is damaged (", text, ")"));
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(path, ": ", text));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return absl::PermissionDeniedError(absl::StrCat(path, ": ", text));
    default:
      return absl::InternalError(absl::StrCat(path, ": ", text));
  }
}

}  // namespace

absl::StatusOr<std::string> SetAside(const std::string& path) {
  constexpr const char* kParts[] = {"-wal", "-shm", ""};
  const auto is_taken = [&kParts](const std::string& name) {
    std::error_code error;
    return std::any_of(std::begin(kParts), std::end(kParts), [&](const char* part) {
      return std::filesystem::exists(name + part, error);
    });
  };
  const std::string first = path + ".damaged";
  std::string aside = first;
  for (int number = 2; is_taken(aside); ++number) aside = absl::StrCat(first, ".", number);
  for (const char* part : kParts) {
    std::error_code error;
    if (!std::filesystem::exists(path + part, error)) continue;
    std::filesystem::rename(path + part, aside + part, error);
    if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("setting aside ", path));
  }
  return aside;
}

void SqliteStatement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void SqliteDatabase::Closer::operator()(sqlite3* database) const { sqlite3_close(database); }

void SqliteStatement::Note(int result) {
  if (result != SQLITE_OK && status_.ok()) status_ = ErrorOf(database_, result, path_);
}

SqliteStatement& SqliteStatement::Bind(std::int64_t value) {
  if (status_.ok()) Note(sqlite3_bind_int64(statement_.get(), ++bound_, value));
  return *this;
}

SqliteStatement& SqliteStatement::BindText(const std::string& value) {
  if (status_.ok()) {
    Note(sqlite3_bind_text64(statement_.get(), ++bound_, value.data(), value.size(),
                             SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  return *this;
}

SqliteStatement& SqliteStatement::BindBlob(const std::string& value) {
  if (status_.ok()) {
    Note(sqlite3_bind_blob64(statement_.get(), ++bound_, value.data(), value.size(),
                             SQLITE_TRANSIENT));
  }
  return *this;
}

absl::StatusOr<bool> SqliteStatement::Step() {
  if (!status_.ok()) return status_;
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return ErrorOf(database_, result, path_);
}

absl::Status SqliteStatement::Run() { return Step().status(); }

std::int64_t SqliteStatement::Integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string SqliteStatement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr || size <= 0) return "";
  return std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::Open(const std::string& path) {
  absl::StatusOr<SqliteDatabase> database = OpenUnchecked(path);
  if (!database.ok()) return database;
  if (absl::Status s = database->Check(); !s.ok()) return s;
  return database;
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::OpenCopy(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("opening ", path));
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(opened, path);
  if (result != SQLITE_OK) return ErrorOf(opened, result, path);
  if (absl::Status s = database.Check(); !s.ok()) return s;
  return database;
}

absl::StatusOr<SqliteDatabase> SqliteDatabase::OpenUnchecked(const std::string& path) {
  // SQLite gives its other files the mode of this one. If it cannot be made, SQLite says so.
  UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)).Reset();
  sqlite3* opened = nullptr;
  const int result =
      sqlite3_open_v2(path.c_str(), &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  SqliteDatabase database(opened, path);
  if (result != SQLITE_OK) return ErrorOf(opened, result, path);
  // Exclusive locking keeps the lock from the first transaction until the file is closed.
  for (const char* sql : {"PRAGMA locking_mode=EXCLUSIVE", "PRAGMA journal_mode=WAL",
                          "PRAGMA synchronous=FULL", "BEGIN IMMEDIATE", "COMMIT"}) {
    if (absl::Status s = database.Execute(sql); !s.ok()) return s;
  }
  return database;
}

SqliteStatement SqliteDatabase::Prepare(const std::string& sql) {
  SqliteStatement statement(database_.get(), path_);
  sqlite3_stmt* prepared = nullptr;
  statement.Note(sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                    &prepared, nullptr));
  statement.statement_.reset(prepared);
  return statement;
}

bool SqliteDatabase::InTransaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

absl::Status SqliteDatabase::Execute(const std::string& sql) {
  const int result = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  return result == SQLITE_OK ? absl::OkStatus() : ErrorOf(database_.get(), result, path_);
}

absl::Status SqliteDatabase::EmptyLog() { return Execute("PRAGMA wal_checkpoint(TRUNCATE)"); }

absl::Status SqliteDatabase::CopyTo(const std::string& path) {
  // What is only in the WAL would be lost with it.
  if (absl::Status s = EmptyLog(); !s.ok()) return s;
  const std::string unfinished = path + ".new";
  unlink(unfinished.c_str());
  UniqueFd(open(unfinished.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)).Reset();
  {
    sqlite3* opened = nullptr;
    const int result = sqlite3_open(unfinished.c_str(), &opened);
    SqliteDatabase copy(opened, unfinished);
    if (result != SQLITE_OK) return ErrorOf(opened, result, unfinished);
    sqlite3_backup* backup = sqlite3_backup_init(opened, "main", database_.get(), "main");
    if (backup != nullptr) {
      sqlite3_backup_step(backup, -1);
      sqlite3_backup_finish(backup);
    }
    if (sqlite3_errcode(opened) != SQLITE_OK)
      return ErrorOf(opened, sqlite3_errcode(opened), unfinished);
    // Else it could not be read without files of a WAL.
    if (absl::Status s = copy.Execute("PRAGMA journal_mode=DELETE"); !s.ok()) return s;
  }
  if (rename(unfinished.c_str(), path.c_str()) != 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("renaming ", unfinished));
  return SyncDirectory(std::filesystem::path(path).parent_path());
}

absl::Status SqliteDatabase::Check() {
  SqliteStatement check = Prepare("PRAGMA integrity_check(1)");
  const absl::StatusOr<bool> row = check.Step();
  if (!row.ok()) return row.status();
  if (*row && check.Bytes(0) == "ok") return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path_, " is damaged (", check.Bytes(0), ")"));
}

}  // namespace bspnow::coordinator
