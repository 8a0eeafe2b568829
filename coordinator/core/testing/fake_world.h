// The core's ports for unit tests: nothing happens until the test makes it happen, and all that the
// core has asked for lies open.
#ifndef COORDINATOR_CORE_TESTING_FAKE_WORLD_H_
#define COORDINATOR_CORE_TESTING_FAKE_WORLD_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/version.h"
#include "coordinator/core/cluster.h"
#include "net/stream_key.h"

namespace bspnow::coordinator {

class FakeTimers final : public Timers {
 public:
  Moment Now() const override {
    return {.now_ns = now_ns_, .unix_ms = static_cast<std::int64_t>(now_ns_ / 1'000'000)};
  }
  void Post(Event event) override { posted_.push_back(std::move(event)); }
  CoreTimer AddTimer(std::uint64_t after_ms, Event event) override {
    const CoreTimer timer{++last_};
    due_[{now_ns_ + after_ms * 1'000'000, timer}] = std::move(event);
    return timer;
  }
  void CancelTimer(CoreTimer timer) override {
    std::erase_if(due_, [timer](const auto& each) { return each.first.second == timer; });
  }

  /// Handles what was posted, and what is posted meanwhile.
  void RunPosted() {
    while (!posted_.empty()) {
      const Event event = std::move(posted_.front());
      posted_.pop_front();
      event();
    }
  }
  /// The process is stopped for this long: nothing has happened yet.
  void Sleep(std::uint64_t ms) { now_ns_ += ms * 1'000'000; }
  /// And what is due by now happens.
  void Pause(std::uint64_t ms) {
    Sleep(ms);
    while (!due_.empty() && due_.begin()->first.first <= now_ns_) {
      const Event event = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      event();
      RunPosted();
    }
  }
  void Advance(std::uint64_t ms) {
    const std::uint64_t until_ns = now_ns_ + ms * 1'000'000;
    while (!due_.empty() && due_.begin()->first.first <= until_ns) {
      now_ns_ = due_.begin()->first.first;
      const Event event = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      event();
      RunPosted();
    }
    now_ns_ = until_ns;
  }

 private:
  std::uint64_t now_ns_ = 1'000'000'000;
  std::uint64_t last_ = 0;
  std::deque<Event> posted_;
  std::map<std::pair<std::uint64_t, CoreTimer>, Event> due_;
};

/// A call of a port whose outcome the test decides.
struct PendingCall {
  std::string what;  ///< "job 1", "checkpoints 1", "append 1", "cut 1", "sync 1", ...
  std::function<void(const absl::Status&)> done;
};

class FakeJournal final : public Journal {
 public:
  void WriteJobs(std::vector<JobRecord> written, Done done) override {
    calls.push_back({absl::StrCat("job ", Value(IdOf(written.front()))), std::move(done)});
    for (JobRecord& record : written) records[IdOf(record)] = std::move(record);
  }
  void WriteCheckpoints(JobId job, std::string catalogue, Done done) override {
    catalogues[job] = std::move(catalogue);
    calls.push_back({absl::StrCat("checkpoints ", Value(job)), std::move(done)});
  }
  void WriteDrained(std::string node, Done done) override {
    calls.push_back({absl::StrCat("drained ", node), std::move(done)});
  }
  void WriteUndrained(std::string node, Done done) override {
    calls.push_back({absl::StrCat("undrained ", node), std::move(done)});
  }
  void WriteParameters(std::uint32_t p, std::string, Done done) override {
    calls.push_back({absl::StrCat("parameters ", p), std::move(done)});
  }

  void RaiseTerm(std::uint64_t term, Done done) override {
    calls.push_back({absl::StrCat("term ", term), std::move(done)});
  }

  void Archive(const std::vector<JobId>& jobs) override {
    for (const JobId job : jobs) history.insert(records.extract(job));
  }
  void ReadHistory(JobId before, std::size_t count, FoundJobs found) override {
    HistoryPage page;
    for (auto job = history.lower_bound(before); job != history.begin() && page.size() < count;) {
      --job;
      if (damaged.contains(job->first)) {
        page.damaged.push_back(job->first);
      } else {
        page.records.push_back(job->second);
      }
    }
    calls.push_back(
        {absl::StrCat("history before ", Value(before)),
         [found = std::move(found), page = std::move(page)](const absl::Status& status) {
           status.ok() ? found(page) : found(status);
         }});
  }

  std::map<JobId, JobRecord> history;
  std::set<JobId> damaged;                  ///< Of the history.
  std::map<JobId, JobRecord> records;       ///< As they were written last.
  std::map<JobId, std::string> catalogues;  ///< As they were written last.
  std::deque<PendingCall> calls;
};

class FakeLogs final : public OutputLogs {
 public:
  void Begin(JobId) override {}
  void Append(JobId job, LogRecord record, Done done) override {
    if (record.origin == LogOrigin::kLauncher) {
      launcher_lines.push_back(record.text);
    } else {
      calls.push_back({absl::StrCat("append ", Value(job)), std::move(done)});
    }
  }
  void Cut(JobId job, const std::vector<LogPosition>& positions, CutDone done) override {
    calls.push_back({absl::StrCat("cut ", Value(job)), [=, this](const absl::Status& status) {
                       if (!status.ok()) return done(status);
                       LogCut cut;
                       for (const LogPosition& at : positions) {
                         if (at.stdout_bytes > stdout_bytes)
                           cut.missing_bytes += at.stdout_bytes - stdout_bytes;
                         cut.kept[{at.pid, LogOrigin::kStdout}] = at.stdout_bytes;
                       }
                       done(cut);
                     }});
  }
  void Sync(JobId job, const std::vector<LogPosition>&, Done done) override {
    calls.push_back({absl::StrCat("sync ", Value(job)), std::move(done)});
  }
  void End(JobId job) override { ended.push_back(job); }
  std::string waits_for(JobId) const override { return full; }
  std::uint64_t waits_since_ns(JobId) const override { return since_ns; }

  std::deque<PendingCall> calls;
  std::uint64_t stdout_bytes = ~std::uint64_t{0};  ///< Of each process that a log has at most.
  std::vector<std::string> launcher_lines;
  std::vector<JobId> ended;
  std::string full;
  std::uint64_t since_ns = 0;
};

struct SentFrame {
  WorkerId worker;
  FrameHeader header;
  std::vector<std::byte> payload;
};

class FakeFrames final : public WorkerFrames {
 public:
  void Send(WorkerId worker, const FrameHeader& header,
            std::span<const std::byte> payload) override {
    sent.push_back({worker, header, {}});
    if (keeps_payload) sent.back().payload.assign(payload.begin(), payload.end());
  }
  void Close(WorkerId worker, const char*) override { closed.push_back(worker); }

  bool keeps_payload = true;
  std::vector<SentFrame> sent;
  std::vector<WorkerId> closed;
};

/// A worker's control stream: what it has been ordered to do.
class FakeSink final : public OrderSink {
 public:
  void Send(const proto::Order& order) override { orders.push_back(order); }
  void Acknowledge(std::uint64_t sequence) override { acknowledged = sequence; }
  void Close(const absl::Status& reason) override { closed = reason; }

  std::vector<proto::Order> orders;
  std::uint64_t acknowledged = 0;
  absl::Status closed;
};

/// A worker as the core meets it: registered, attached, with both streams.
struct FakeWorker {
  WorkerId id;
  std::string name;
  std::shared_ptr<FakeSink> sink = std::make_shared<FakeSink>();
  std::uint64_t incarnation = 0;
  std::uint32_t term = 0;
  std::uint64_t last_event = 0;
};

struct FakeWorld {
  FakeTimers timers;
  FakeJournal journal;
  FakeLogs logs;
  FakeFrames frames;
  int starts_anew = 0;
  std::vector<ClientEnd> client_ends;
  Quotas quotas{};
  absl::Status room = absl::OkStatus();  ///< For whatever users keep.

  std::unique_ptr<Cluster> Start(const StoredState& stored) {
    return std::make_unique<Cluster>(
        ClusterPorts{
            .timers = timers,
            .journal = journal,
            .logs = logs,
            .frames = frames,
            .start_anew = [this] { starts_anew += 1; },
            .ended_by_client = [this](const auto& end) { client_ends.push_back(end); },
            .find_missing = [](const auto&, const auto&, const auto& missing) { missing(""); },
            .has_room = [this](const auto&) { return room; }},
        ClusterSettings{.barrier_address = "coordinator:1",
                        .checkpoint_limits = {.mtbf_ns = 3'600'000'000'000, .overhead_max = 0.05},
                        .checkpoint_copies = 1,
                        .own_key = *StreamKey::FromBytes(std::string(StreamKey::kBytes, 'o')),
                        .quotas = quotas},
        stored);
  }
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_TESTING_FAKE_WORLD_H_
