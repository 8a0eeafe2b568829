// An SQLite database file, open for this process alone. Errors are Statuses that name the file.
#ifndef COORDINATOR_JOURNAL_SQLITE_DATABASE_H_
#define COORDINATOR_JOURNAL_SQLITE_DATABASE_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

struct sqlite3;
struct sqlite3_stmt;

namespace bspnow::coordinator {

/// One prepared statement that is run once: bind the parameters in their order, then step.
class SqliteStatement {
 public:
  SqliteStatement& Bind(std::int64_t value);
  SqliteStatement& BindText(const std::string& value);
  SqliteStatement& BindBlob(const std::string& value);

  /// True: there is a row to look at. An error of Prepare or Bind comes out here, too.
  absl::StatusOr<bool> Step();
  /// For statements without rows.
  absl::Status Run();

  /// Columns of the row, from 0.
  std::int64_t Integer(int column) const;
  std::string Bytes(int column) const;

 private:
  friend class SqliteDatabase;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };

  SqliteStatement(sqlite3* database, std::string path)
      : database_(database), path_(std::move(path)) {}
  void Note(int result);

  sqlite3* database_;
  std::string path_;
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
  int bound_ = 0;
  absl::Status status_;
};

/// Renames a file that is not open, and what SQLite keeps beside it, to PATH.damaged; to
/// PATH.damaged.2 and so on if there is one already. Returns that name.
absl::StatusOr<std::string> SetAside(const std::string& path);

class SqliteDatabase {
 public:
  /// Makes the file if need be. In WAL mode; a transaction is on the disk when it is committed.
  /// FAILED_PRECONDITION if another process has it open, DATA_LOSS if it is damaged.
  static absl::StatusOr<SqliteDatabase> Open(const std::string& path);
  /// The same, though it may be damaged: statements fail when they come to the damage.
  static absl::StatusOr<SqliteDatabase> OpenUnchecked(const std::string& path);
  /// One that CopyTo has made. NOT_FOUND if it is not there.
  static absl::StatusOr<SqliteDatabase> OpenCopy(const std::string& path);

  const std::string& path() const { return path_; }

  SqliteStatement Prepare(const std::string& sql);

  /// Between BEGIN and COMMIT. Some errors (a full disk, a failed read or write) end a transaction.
  bool InTransaction() const;

  /// What is committed goes from the write-ahead log into the file. Between transactions.
  absl::Status EmptyLog();

  /// The same content in one file, in its place as a whole and durable. Between transactions.
  absl::Status CopyTo(const std::string& path);

  /// Statements without parameters and rows.
  absl::Status Execute(const std::string& sql);

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };

  SqliteDatabase(sqlite3* database, std::string path)
      : database_(database), path_(std::move(path)) {}
  absl::Status Check();

  std::unique_ptr<sqlite3, Closer> database_;
  std::string path_;
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_JOURNAL_SQLITE_DATABASE_H_
