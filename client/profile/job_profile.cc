#include "client/profile/job_profile.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "base/recorded_site.h"
#include "client/view/harmless.h"

namespace bspnow::client {
namespace {

using proto::ProcessProfile;
using proto::ProfileSite;

absl::Status Contradiction(std::uint32_t pid, const char* what) {
  return absl::InvalidArgumentError(
      absl::StrCat("the profile of pid ", pid, " is damaged: ", what, "; run the job again"));
}

int Records(const ProcessProfile& of) { return of.compute_ns_size(); }

absl::Status CheckProcess(const ProcessProfile& of) {
  const int n = Records(of);
  for (const int size :
       {of.wait_ns_size(), of.release_ns_size(), of.exchange_ns_size(), of.bytes_out_size(),
        of.bytes_in_size(), of.messages_out_size(), of.messages_in_size(), of.site_size()}) {
    if (size != n) return Contradiction(of.pid(), "its columns differ in length");
  }
  const std::uint64_t each = of.supersteps_of_record();
  if (!std::has_single_bit(each) || (of.supersteps() + each - 1) / each != std::uint64_t(n))
    return Contradiction(of.pid(), "its supersteps do not fit its records");
  for (const std::uint32_t site : of.site())
    if (site > std::uint32_t(of.sites_size())) return Contradiction(of.pid(), "a call is missing");
  for (const auto* marks : {&of.images(), &of.returns()})
    for (const std::uint32_t record : *marks)
      if (record >= std::uint32_t(n)) return Contradiction(of.pid(), "a record is missing");
  return absl::OkStatus();
}

/// Of records that follow one another.
ProcessFigures SumOf(const ProcessProfile& of, int from, int to) {
  ProcessFigures sum;
  for (int i = from; i < to; ++i) {
    client::AddTo(sum, {.compute_ns = static_cast<double>(of.compute_ns(i)),
                        .wait_ns = static_cast<double>(of.wait_ns(i)),
                        .release_ns = static_cast<double>(of.release_ns(i)),
                        .exchange_ns = static_cast<double>(of.exchange_ns(i)),
                        .out_bytes = static_cast<double>(of.bytes_out(i)),
                        .in_bytes = static_cast<double>(of.bytes_in(i)),
                        .out_messages = static_cast<double>(of.messages_out(i)),
                        .in_messages = static_cast<double>(of.messages_in(i))});
  }
  return sum;
}

void AddProcess(SuperstepFigures& all, const ProcessFigures& of, double processes) {
  all.compute_ns += of.compute_ns / processes;
  all.wait_ns += of.wait_ns / processes;
  all.release_ns += of.release_ns / processes;
  all.exchange_ns += of.exchange_ns / processes;
  all.w_ns = std::max(all.w_ns, of.compute_ns);
  all.h_bytes = std::max({all.h_bytes, of.out_bytes, of.in_bytes});
  all.out_bytes += of.out_bytes;
  all.messages += of.out_messages;
}

class Maker {
 public:
  Maker(const proto::Profile& profile, JobProfile& made) : profile_(profile), made_(made) {
    for (const ProcessProfile& of : profile_.of()) {
      made_.pids.push_back(of.pid());
      made_.nodes.push_back(of.node());
      each_ = std::max(each_, of.supersteps_of_record());
    }
    made_.supersteps_of_column = each_;
  }

  void MakeColumns() {
    std::uint64_t supersteps = ~std::uint64_t{0};
    for (const ProcessProfile& of : profile_.of())
      supersteps = std::min(supersteps, of.supersteps());
    if (profile_.of().empty()) return;
    for (std::uint64_t first = 0; first < supersteps; first += each_) {
      Column column{.first = first};
      column.all.supersteps = std::min(each_, supersteps - first);
      for (const ProcessProfile& of : profile_.of()) TakeRecords(column, of);
      WaitForOtherNodes(column);
      for (const ProcessFigures& of : column.of) AddProcess(column.all, of, processes());
      column.call = CallAt(profile_.of(0), first);
      made_.columns.push_back(std::move(column));
    }
  }

  /// From the columns, where each is of one call; else from the sums of the processes.
  void MakeCalls() {
    if (each_ == 1) {
      for (const Column& column : made_.columns)
        if (column.call != kSeveralCalls) client::AddTo(made_.calls[column.call].all, column.all);
      return;
    }
    for (const ProcessProfile& of : profile_.of()) AddCallsOf(of);
  }

  void MakeGroupCalls() {
    std::map<std::uint64_t, std::size_t> call_by_address;
    for (const ProcessProfile& of : profile_.of()) {
      for (const ProfileSite& site : of.group_sites()) {
        const std::uint64_t key = KeyOf(site);
        const auto [found, is_new] = call_by_address.try_emplace(key, made_.group_calls.size());
        if (is_new) made_.group_calls.push_back({.address = key, .name = "", .all = {}});
        client::AddTo(made_.group_calls[found->second].all, OfGroups(site));
      }
    }
    for (const SyncCall& call : made_.group_calls) client::AddTo(made_.groups, call.all);
  }

 private:
  SuperstepFigures OfGroups(const ProfileSite& site) const {
    return {.supersteps = site.supersteps(),
            .wait_ns = static_cast<double>(site.wait_ns()) / processes(),
            .release_ns = static_cast<double>(site.release_ns()) / processes(),
            .exchange_ns = static_cast<double>(site.exchange_ns()) / processes(),
            .out_bytes = static_cast<double>(site.bytes_out()),
            .messages = static_cast<double>(site.messages_out())};
  }

  double processes() const { return profile_.of_size(); }

  void TakeRecords(Column& column, const ProcessProfile& of) {
    const std::uint64_t each = of.supersteps_of_record();
    const auto from = static_cast<int>(column.first / each);
    const int to = std::min(from + static_cast<int>(each_ / each), Records(of));
    column.of.push_back(SumOf(of, from, to));
    const auto within = [from, to](std::uint32_t record) {
      return int(record) >= from && int(record) < to;
    };
    column.saved |= std::any_of(of.images().begin(), of.images().end(), within);
    column.came_back |= std::any_of(of.returns().begin(), of.returns().end(), within);
  }

  // A process knows when the last one of its own node came. If those of another node took longer
  // from the release before to their last arrival, it has waited for them, too, in what it took for
  // the release: as the totals have it (base/superstep_sums.h). Delivery, and an image, come after
  // that release; in a column of several supersteps most of it is the column's own.
  void WaitForOtherNodes(Column& column) const {
    std::map<std::string, double> span_ns;
    double longest_ns = 0;
    for (std::size_t i = 0; i < column.of.size(); ++i) {
      const ProcessFigures& of = column.of[i];
      double delivery_ns = of.exchange_ns;
      if (each_ == 1) delivery_ns = column.first == 0 ? 0 : made_.columns.back().of[i].exchange_ns;
      double& of_node = span_ns[made_.nodes[i]];
      of_node = std::max(of_node, delivery_ns + of.compute_ns + of.wait_ns);
      longest_ns = std::max(longest_ns, of_node);
    }
    for (std::size_t i = 0; i < column.of.size(); ++i) {
      ProcessFigures& of = column.of[i];
      const double waited_ns = std::min(longest_ns - span_ns[made_.nodes[i]], of.release_ns);
      of.wait_ns += waited_ns;
      of.release_ns -= waited_ns;
    }
  }

  // Places in libraries differ from process to process.
  static std::uint64_t KeyOf(const ProfileSite& site) {
    const std::uint64_t address = site.address();
    return (address & kFromHeaders) != 0 || address == 0 ? address : kInLibrary;
  }

  std::size_t CallOf(const ProfileSite& site) {
    const std::uint64_t key = KeyOf(site);
    const auto [found, is_new] = call_by_address_.try_emplace(key, made_.calls.size());
    if (is_new) made_.calls.push_back({.address = key, .name = "", .all = {}});
    return found->second;
  }

  std::size_t CallAt(const ProcessProfile& of, std::uint64_t superstep) {
    const std::uint64_t each = of.supersteps_of_record();
    std::optional<std::size_t> call;
    for (std::uint64_t i = superstep / each; i < (superstep + each_) / each; ++i) {
      if (i == std::uint64_t(Records(of))) break;
      const std::uint32_t site = of.site(static_cast<int>(i));
      if (site == 0) return kSeveralCalls;
      const std::size_t here = CallOf(of.sites(static_cast<int>(site) - 1));
      if (call && *call != here) return kSeveralCalls;
      call = here;
    }
    return *call;
  }

  // Several places of a process may be one call. So first its own, added up, and of these sums the
  // largest of all processes.
  void AddCallsOf(const ProcessProfile& process) {
    struct Sums {
      std::uint64_t supersteps = 0;
      ProcessFigures of;
    };
    std::map<std::size_t, Sums> sums_of;
    for (const ProfileSite& site : process.sites()) {
      const std::size_t call = CallOf(site);
      Sums& sums = sums_of[call];
      sums.supersteps += site.supersteps();
      sums.of.compute_ns += static_cast<double>(site.compute_ns());
      sums.of.wait_ns += static_cast<double>(site.wait_ns());
      sums.of.release_ns += static_cast<double>(site.release_ns());
      sums.of.exchange_ns += static_cast<double>(site.exchange_ns());
      sums.of.out_bytes += static_cast<double>(site.bytes_out());
      sums.of.in_bytes += static_cast<double>(site.bytes_in());
      made_.calls[call].all.messages += static_cast<double>(site.messages_out());
    }
    for (const auto& [call, sums] : sums_of) {
      SuperstepFigures& all = made_.calls[call].all;
      all.supersteps = std::max(all.supersteps, sums.supersteps);
      AddProcess(all, sums.of, processes());
    }
  }

  const proto::Profile& profile_;
  JobProfile& made_;
  std::uint64_t each_ = 1;
  std::map<std::uint64_t, std::size_t> call_by_address_;
};

/// By which sums of largest sums are raised to the sum of what was largest in each superstep.
double Raise(double exact, double sum) { return sum > 0 && exact > sum ? exact / sum : 1; }

std::string TitleOf(const proto::Job& job) {
  const std::string of = job.job() == 0 ? "" : absl::StrCat("job ", job.job(), ", ");
  return absl::StrCat(of, Harmless(job.spec().name()), " on ", job.totals().processes(),
                      " processes");
}

template <typename List>
void RaiseTo(const proto::JobTotals& totals, List& list) {
  SuperstepFigures sum;
  for (const auto& item : list) AddTo(sum, item.all);
  const double w = Raise(static_cast<double>(totals.w_ns()), sum.w_ns);
  const double h = Raise(static_cast<double>(totals.h_bytes()), sum.h_bytes);
  for (auto& item : list) {
    item.all.w_ns *= w;
    item.all.h_bytes *= h;
  }
}

}  // namespace

void AddTo(SuperstepFigures& sum, const SuperstepFigures& more) {
  sum.supersteps += more.supersteps;
  sum.compute_ns += more.compute_ns;
  sum.wait_ns += more.wait_ns;
  sum.release_ns += more.release_ns;
  sum.exchange_ns += more.exchange_ns;
  sum.w_ns += more.w_ns;
  sum.h_bytes += more.h_bytes;
  sum.out_bytes += more.out_bytes;
  sum.messages += more.messages;
}

void AddTo(ProcessFigures& sum, const ProcessFigures& more) {
  sum.compute_ns += more.compute_ns;
  sum.wait_ns += more.wait_ns;
  sum.release_ns += more.release_ns;
  sum.exchange_ns += more.exchange_ns;
  sum.out_bytes += more.out_bytes;
  sum.in_bytes += more.in_bytes;
  sum.out_messages += more.out_messages;
  sum.in_messages += more.in_messages;
}

absl::StatusOr<JobProfile> MakeJobProfile(const proto::Profile& profile, const proto::Job& job) {
  for (const ProcessProfile& of : profile.of())
    if (const absl::Status s = CheckProcess(of); !s.ok()) return s;
  JobProfile made{.title = TitleOf(job),
                  .p = profile.processes(),
                  .model = ModelOf(job.totals()),
                  .losses = {job.losses().begin(), job.losses().end()}};
  Maker maker(profile, made);
  maker.MakeColumns();
  maker.MakeCalls();
  maker.MakeGroupCalls();
  if (made.supersteps_of_column > 1) {
    RaiseTo(job.totals(), made.columns);
    RaiseTo(job.totals(), made.calls);
  }
  double start_ns = 0;
  for (Column& column : made.columns) {
    column.start_ns = start_ns;
    start_ns += column.all.time_ns();
    AddTo(made.all, column.all);
  }
  return made;
}

std::vector<Column> Condense(const std::vector<Column>& columns, std::size_t columns_max) {
  if (columns.size() <= columns_max) return columns;
  double total_ns = 0;
  for (const Column& column : columns) total_ns += column.all.time_ns();
  const double each_ns = total_ns / static_cast<double>(columns_max);
  std::vector<Column> condensed;
  for (const Column& column : columns) {
    if (condensed.empty() || condensed.back().all.time_ns() + column.all.time_ns() / 2 > each_ns) {
      condensed.push_back(column);
      continue;
    }
    Column& into = condensed.back();
    AddTo(into.all, column.all);
    if (into.call != column.call) into.call = kSeveralCalls;
    into.saved |= column.saved;
    into.came_back |= column.came_back;
    for (std::size_t i = 0; i < into.of.size(); ++i) AddTo(into.of[i], column.of[i]);
  }
  return condensed;
}

}  // namespace bspnow::client
