#include "client/cluster/testing/fake_jobs_service.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "proto/jobs.grpc.pb.h"

namespace bspnow::client {
namespace {

using grpc::ServerContext;
using grpc::Status;
using Stream = grpc::ServerReaderWriter<proto::FromJob, proto::ToJob>;

class Service : public proto::Jobs::Service {
 public:
  explicit Service(FakeJobs& jobs) : jobs_(jobs) {}

  Status FindMissingBlobs(ServerContext*, const proto::FindMissingBlobsRequest* request,
                          proto::FindMissingBlobsReply* reply) override {
    for (const std::string& sha256 : request->sha256()) {
      if (jobs_.blobs.count(sha256) == 0) reply->add_sha256(sha256);
    }
    return Status::OK;
  }

  Status UploadBlob(ServerContext*, grpc::ServerReader<proto::FileChunk>* reader,
                    proto::UploadBlobReply*) override {
    proto::FileChunk chunk;
    std::string sha256;
    std::string data;
    while (reader->Read(&chunk)) {
      if (sha256.empty()) sha256 = chunk.name();
      data += chunk.data();
      jobs_.largest_chunk = std::max(jobs_.largest_chunk, chunk.data().size());
    }
    jobs_.uploads += 1;
    jobs_.blobs[sha256] = data;
    return Status::OK;
  }

  Status SubmitJob(ServerContext*, const proto::SubmitJobRequest* request,
                   proto::SubmitJobReply* reply) override {
    jobs_.submissions += 1;
    const auto [known, added] = keys_.emplace(request->submission_key(), jobs_.jobs.size() + 1);
    if (added) jobs_.jobs.push_back(request->spec());
    if (jobs_.submissions <= jobs_.broken_submissions) {
      return Status(grpc::StatusCode::UNAVAILABLE, "the reply is lost");
    }
    reply->set_job(known->second);
    jobs_.submitting();
    return Status::OK;
  }

  Status CancelJob(ServerContext*, const proto::CancelJobRequest* request,
                   proto::Job* job) override {
    jobs_.cancelled.push_back(request->job());
    *job = jobs_.end;
    return Status::OK;
  }

  Status ShowJob(ServerContext*, const proto::ShowJobRequest* request, proto::Job* job) override {
    if (request->job() > jobs_.jobs.size()) {
      return Status(grpc::StatusCode::NOT_FOUND, "there is no job 99");
    }
    *job = jobs_.end;
    return Status::OK;
  }

  Status WaitJob(ServerContext*, const proto::WaitJobRequest*, proto::Job* job) override {
    *job = jobs_.end;
    return Status::OK;
  }

  Status CheckpointJob(ServerContext*, const proto::CheckpointJobRequest*,
                       proto::Job* job) override {
    if (!jobs_.given_up.empty()) return Status(grpc::StatusCode::ABORTED, jobs_.given_up);
    *job = jobs_.end;
    job->mutable_checkpoints()->set_committed(1);
    return Status::OK;
  }

  Status SuspendJob(ServerContext*, const proto::SuspendJobRequest* request,
                    proto::Job* job) override {
    jobs_.suspended.push_back(request->job());
    *job = jobs_.end;
    job->set_state(proto::SUSPENDED);
    return Status::OK;
  }

  Status ResumeJob(ServerContext*, const proto::ResumeJobRequest*, proto::Job* job) override {
    *job = jobs_.end;
    job->set_state(proto::WAITING);
    return Status::OK;
  }

  Status ReadLog(ServerContext*, const proto::ReadLogRequest* request,
                 grpc::ServerWriter<proto::LogLine>* writer) override {
    for (const proto::LogLine& line : LinesAfter(request->seen())) {
      writer->Write(line);
      if (Breaks()) return Broken();
    }
    return Status::OK;
  }

  Status FetchFiles(ServerContext*, const proto::FetchFilesRequest*,
                    grpc::ServerWriter<proto::FileChunk>* writer) override {
    for (const auto& [name, text] : jobs_.files) {
      proto::FileChunk chunk;
      chunk.set_name(name);
      chunk.set_bytes(text.size());
      chunk.set_data(text);
      writer->Write(chunk);
    }
    for (const std::string& why : jobs_.unread) {
      proto::FileChunk chunk;
      chunk.set_unread(why);
      writer->Write(chunk);
    }
    return jobs_.stops ? Status::CANCELLED : Status::OK;
  }

  // Prints the log, then the input, and ends when that does, or at a signal.
  Status AttachJob(ServerContext*, Stream* stream) override {
    proto::ToJob in;
    if (!stream->Read(&in)) return Status::CANCELLED;
    const auto seen = in.seen();
    std::size_t sent = 0;
    Send(*stream, LinesAfter(seen), sent);
    proto::FromJob out;
    *out.mutable_end() = jobs_.end;
    while (stream->Read(&in)) {
      if (in.has_input()) {
        TakeInput(in);
        if (Breaks()) return Broken();
        Send(*stream, LinesAfter(seen), sent);
        SayTaken(*stream);
      }
      if (in.leave()) jobs_.left = true;
      if (in.has_signal()) out.mutable_end()->set_exit_status(128 + in.signal());
      if (in.has_signal() || in.has_input_end() || in.has_leave()) break;
    }
    stream->Write(out);
    return Status::OK;
  }

 private:
  using Seen = google::protobuf::RepeatedPtrField<proto::StreamEnd>;

  bool Breaks() { return jobs_.breaks > 0 && jobs_.breaks-- > 0; }
  static Status Broken() { return Status(grpc::StatusCode::UNAVAILABLE, "cut"); }

  std::vector<proto::LogLine> LinesAfter(const Seen& seen) const {
    std::vector<proto::LogLine> lines;
    std::map<std::pair<std::uint32_t, int>, std::uint64_t> bytes;
    for (proto::LogLine line : jobs_.log) {
      std::uint64_t& end = bytes[{line.pid(), line.stream()}];
      line.set_offset(end);
      end += line.text().size();
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const proto::StreamEnd& has) {
        return has.pid() == line.pid() && has.stream() == line.stream() && has.bytes() >= end;
      });
      if (!known) lines.push_back(line);
    }
    return lines;
  }

  static void Send(Stream& stream, const std::vector<proto::LogLine>& lines, std::size_t& sent) {
    for (; sent < lines.size(); ++sent) {
      proto::FromJob out;
      *out.mutable_line() = lines[sent];
      stream.Write(out);
    }
  }

  void TakeInput(const proto::ToJob& in) {
    if (in.input_offset() != input_bytes_) return;  // It is here.
    input_bytes_ += in.input().size();
    proto::LogLine& line = jobs_.log.emplace_back();
    line.set_stream(proto::STDOUT);
    line.set_text(in.input());
  }

  void SayTaken(Stream& stream) const {
    proto::FromJob out;
    out.set_input_taken(input_bytes_);
    stream.Write(out);
  }

  FakeJobs& jobs_;
  std::map<std::string, std::uint64_t> keys_;
  std::uint64_t input_bytes_ = 0;  ///< Of the one attached job.
};

}  // namespace

class FakeJobsService::Server {
 public:
  explicit Server(FakeJobs& jobs) : service_(jobs) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
  }

  ~Server() { server_->Shutdown(); }

  int port() const { return port_; }

 private:
  Service service_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// It takes any token; a client must have one.
FakeJobsService::FakeJobsService(FakeJobs& jobs) : server_(std::make_unique<Server>(jobs)) {
  const std::string token = scratch_.path() + "/token";
  std::ofstream(token) << "any";
  chmod(token.c_str(), S_IRUSR | S_IWUSR);
  setenv("BSP_TOKEN_FILE", token.c_str(), 1);
  address_ = "127.0.0.1:" + std::to_string(server_->port());
}

FakeJobsService::~FakeJobsService() = default;

}  // namespace bspnow::client
