// The coordinator's service of jobs, as a client calls it: each call waits for its reply. The only
// file, with attach_stub.cc, that knows gRPC; failures come as absl::Status. Calls that may take
// long survive a coordinator that is started again within the reconnect timeout.
#ifndef CLIENT_CLUSTER_JOBS_STUB_H_
#define CLIENT_CLUSTER_JOBS_STUB_H_

#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/cluster/content.h"
#include "client/cluster/reconnection.h"
#include "files/file_sink.h"
#include "net/login/login.h"
#include "net/tls/rpc_credentials.h"
#include "proto/jobs.pb.h"

namespace grpc {
class Channel;
}

namespace bspnow::client {

/// Where a coordinator is, and how it is spoken to.
struct CoordinatorPlace {
  std::string address;  ///< HOST:PORT.
  std::string tls_dir;  ///< Empty: in plain text.
  /// Who the caller is. A certificate that he has named himself goes before a login socket and a
  /// token that he has not.
  enum class Proof : std::uint8_t { kTokenFirst, kCertificateFirst } proof = Proof::kTokenFirst;
};

/// By id.
struct JobList {
  std::vector<proto::Job> jobs{};
  std::vector<std::uint64_t> damaged{};  ///< As in ListJobsReply.
};

/// `tls_option`: --tls of the command line; BSP_TLS and settings for all users name no certificate
/// of the caller's choice.
inline CoordinatorPlace::Proof ProofOf(const std::string& tls_option) {
  return tls_option.empty() ? CoordinatorPlace::Proof::kTokenFirst
                            : CoordinatorPlace::Proof::kCertificateFirst;
}

inline LoginSettings LoginTo(const CoordinatorPlace& place, const RpcCredentials& credentials) {
  LoginSettings login = LoginSettingsOfEnvironment();
  if (place.proof == CoordinatorPlace::Proof::kCertificateFirst && credentials.has_certificate())
    login.unnamed = LoginSettings::Unnamed::kLeft;
  return login;
}

class JobsStub {
 public:
  /// A line for the user.
  using Say = std::function<void(const std::string& line)>;

  /// Connects; within 5 s Unavailable with what to do if nobody answers there, and tries again for
  /// `patience_ms`; FailedPrecondition if it is TLS that keeps them apart. `say` is called when a
  /// call has lost the coordinator, or there is none, and it is tried again.
  static absl::StatusOr<JobsStub> Connect(const CoordinatorPlace& place, Say say,
                                          std::uint64_t patience_ms);

  /// For how long a call that has lost the coordinator is tried again.
  void SetReconnectTimeout(std::uint64_t reconnect_ms) { reconnect_ms_ = reconnect_ms; }

  /// Uploads those of the contents that the coordinator lacks. `sent` is given the bytes that are
  /// done, of all that must be sent; a Status that is not ok ends the upload with it.
  using Progress = std::function<absl::Status(std::uint64_t done, std::uint64_t all)>;
  absl::Status Upload(const std::vector<Content>& contents, const Progress& sent);

  /// Repeats a call that broke; the key in the request makes that safe.
  absl::StatusOr<proto::SubmitJobReply> Submit(const proto::SubmitJobRequest& request);

  /// Those that are asked for, whatever the page. `last`: the newest so many; 0: all.
  absl::StatusOr<JobList> ListJobs(proto::ListJobsRequest request, std::size_t last);
  /// As whom the coordinator knows the caller.
  absl::StatusOr<std::string> Caller();
  absl::StatusOr<proto::Job> Show(const proto::ShowJobRequest& request);

  /// Returns when the job has ended, however long that takes; survives a coordinator that is
  /// started again.
  absl::StatusOr<proto::Job> Wait(const proto::WaitJobRequest& request);

  absl::StatusOr<proto::Job> Cancel(const proto::CancelJobRequest& request);
  absl::StatusOr<proto::Job> Alter(const proto::AlterJobRequest& request);

  /// Return when the checkpoint is committed; Aborted if it was given up, and why;
  /// DeadlineExceeded if there is none after `timeout_s` (0: however long that takes).
  absl::StatusOr<proto::Job> Checkpoint(const proto::CheckpointJobRequest& request,
                                        std::uint64_t timeout_s);
  absl::StatusOr<proto::Job> Suspend(const proto::SuspendJobRequest& request,
                                     std::uint64_t timeout_s);
  absl::StatusOr<proto::Job> Resume(const proto::ResumeJobRequest& request);

  absl::StatusOr<proto::ListNodesReply> ListNodes();
  absl::StatusOr<proto::Node> Drain(const proto::DrainNodeRequest& request);
  absl::StatusOr<proto::Node> Forget(const proto::ForgetNodeRequest& request);
  absl::Status StoreParameters(const proto::MachineParameters& parameters);
  absl::StatusOr<proto::MachineParameters> ShowParameters(
      const proto::ShowParametersRequest& request);
  absl::StatusOr<proto::OpenPageReply> OpenPage();

  /// Hands over each piece of a stream as it comes; a Status that is not ok ends the call with it.
  /// ReadLog survives a coordinator that is started again, and gives each byte once.
  absl::Status ReadLog(const proto::ReadLogRequest& request,
                       const std::function<absl::Status(const proto::LogLine&)>& line);

  /// Fetches files of a job, one after the other. Of those that the coordinator cannot read it
  /// returns which, and why; empty: none.
  absl::StatusOr<std::string> Fetch(const proto::FetchFilesRequest& request, files::FileSink& sink);

  /// Fetches what its processes recorded.
  absl::Status ReadProfile(const proto::ReadProfileRequest& request, files::FileSink& sink);

  /// What the user is told of a call that has failed, where gRPC's words say nothing.
  absl::Status InOurWords(const absl::Status& status) const;

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  const std::string& coordinator() const { return place_.address; }

 private:
  JobsStub(CoordinatorPlace place, std::shared_ptr<grpc::Channel> channel, Say say);
  absl::Status Explained(const absl::Status& status) const;
  absl::Status LostOr(const absl::Status& status) const;
  absl::Status UntilAnswered(const std::function<absl::Status(Reconnection&)>& call);
  template <typename Reply, typename Request, typename Method>
  absl::StatusOr<Reply> CallUntilAnswered(Method method, const Request& request);
  absl::Status UploadMissing(const std::vector<Content>& contents, const Progress& sent);
  absl::Status UploadOne(const Content& content,
                         const std::function<absl::Status(std::uint64_t)>& sent);

  CoordinatorPlace place_;
  std::shared_ptr<grpc::Channel> channel_;
  Say say_;
  std::uint64_t reconnect_ms_ = kReconnectUsualMs;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_JOBS_STUB_H_
