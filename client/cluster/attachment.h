// What a client and its job owe each other, from stream to stream: what the client has of the
// output, and which input the job lacks. Pure.
#ifndef CLIENT_CLUSTER_ATTACHMENT_H_
#define CLIENT_CLUSTER_ATTACHMENT_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "proto/jobs.pb.h"

namespace bspnow::client {

/// How far somebody has the log of a job.
class SeenOutput {
 public:
  void Add(const proto::LogLine& line);

  std::vector<proto::StreamEnd> Ends() const;

 private:
  using Stream = std::tuple<std::uint32_t, proto::OutputStream, bool>;  ///< As StreamEnd has it.

  std::map<Stream, std::uint64_t> bytes_;
};

class Attachment {
 public:
  Attachment(std::uint64_t job, std::string submission_key)
      : job_(job), submission_key_(std::move(submission_key)) {}

  /// What a new stream begins with.
  std::vector<proto::ToJob> Begin() const;

  void OnLine(const proto::LogLine& line) { seen_.Add(line); }

  /// The next piece of standard input, empty at its end; what is to be sent. It is kept until it is
  /// taken.
  proto::ToJob OnInput(std::string piece);

  /// The job has received this many input bytes; true if the next piece is wanted.
  bool OnInputTaken(std::uint64_t bytes);

 private:
  proto::ToJob InputMessage() const;

  const std::uint64_t job_;
  const std::string submission_key_;
  SeenOutput seen_;
  std::uint64_t taken_bytes_ = 0;  ///< Of input; also the offset of piece_.
  std::string piece_;              ///< Of input, that is not known to be taken.
  bool input_ended_ = false;
};

}  // namespace bspnow::client

#endif  // CLIENT_CLUSTER_ATTACHMENT_H_
