#include "coordinator/core/checkpoints/checkpoint_catalogue.h"

#include <utility>

#include "proto/journal.pb.h"

namespace bspnow::coordinator {
namespace {

void Encode(const CheckpointPart& part, proto::JournalPart& message) {
  message.set_host(part.host);
  message.set_share(part.share);
  for (const std::string& holder : part.holders) message.add_holders(holder);
  for (const std::string& holder : part.former) message.add_former_holders(holder);
  for (const SavedImage& image : part.images) {
    message.add_pids(Value(image.pid));
    message.add_file_bytes(image.file_bytes);
    message.add_output_bytes(image.output_bytes);
    message.add_error_bytes(image.error_bytes);
  }
}

void Encode(const Checkpoint& checkpoint, proto::JournalCheckpoint& message) {
  message.set_number(checkpoint.number);
  message.set_base(checkpoint.base);
  message.set_superstep(Value(checkpoint.superstep));
  message.set_participants(checkpoint.participants);
  message.set_of_areas(checkpoint.of_areas);
  for (const std::string& feature : checkpoint.cpu_features) message.add_cpu_features(feature);
  for (const CheckpointPart& part : checkpoint.parts) Encode(part, *message.add_parts());
  for (const Printed& left : checkpoint.left) {
    message.add_left_pids(Value(left.pid));
    message.add_left_output_bytes(left.output_bytes);
    message.add_left_error_bytes(left.error_bytes);
  }
  message.set_pause_ns(checkpoint.cost.pause_ns);
  message.set_background_ns(checkpoint.cost.background_ns);
  message.set_committed_unix_ms(checkpoint.committed_unix_ms);
  *message.mutable_totals() = checkpoint.totals;
}

absl::StatusOr<CheckpointPart> Decode(const proto::JournalPart& message) {
  const int images = message.pids_size();
  if (images == 0 || message.file_bytes_size() != images || message.output_bytes_size() != images ||
      message.error_bytes_size() != images)
    return absl::DataLossError("a part of a checkpoint in the journal has incomplete images");
  CheckpointPart part{.host = message.host(),
                      .images = {},
                      .holders = {message.holders().begin(), message.holders().end()},
                      .share = message.share(),
                      .former = {message.former_holders().begin(), message.former_holders().end()}};
  for (int i = 0; i < images; ++i)
    part.images.push_back({.pid = Pid{message.pids(i)},
                           .file_bytes = message.file_bytes(i),
                           .output_bytes = message.output_bytes(i),
                           .error_bytes = message.error_bytes(i)});
  return part;
}

absl::StatusOr<Checkpoint> Decode(const proto::JournalCheckpoint& message) {
  Checkpoint checkpoint{
      .number = message.number(),
      .base = message.base(),
      .superstep = Superstep{message.superstep()},
      .participants = message.participants(),
      .of_areas = message.of_areas(),
      .cpu_features = {message.cpu_features().begin(), message.cpu_features().end()},
      .parts = {},
      .left = {},
      .cost = {.pause_ns = message.pause_ns(), .background_ns = message.background_ns()},
      .committed_unix_ms = message.committed_unix_ms(),
      .totals = message.totals()};
  const int left = message.left_pids_size();
  if (message.left_output_bytes_size() != left || message.left_error_bytes_size() != left)
    return absl::DataLossError("a checkpoint in the journal lacks what processes had printed");
  for (int i = 0; i < left; ++i)
    checkpoint.left.push_back({.pid = Pid{message.left_pids(i)},
                               .output_bytes = message.left_output_bytes(i),
                               .error_bytes = message.left_error_bytes(i)});
  for (const proto::JournalPart& part : message.parts()) {
    absl::StatusOr<CheckpointPart> decoded = Decode(part);
    if (!decoded.ok()) return decoded.status();
    checkpoint.parts.push_back(*std::move(decoded));
  }
  return checkpoint;
}

}  // namespace

std::string EncodeCatalogue(const CheckpointCatalogue& catalogue) {
  proto::JournalCheckpoints message;
  message.set_last_number(catalogue.last_number);
  message.set_count(catalogue.count);
  message.set_term(catalogue.term);
  message.set_given_up(catalogue.history.given_up);
  message.set_last_failure(catalogue.history.last_failure);
  message.set_spent_ns(catalogue.history.spent_ns);
  message.set_run_ns(catalogue.history.run_ns);
  *message.mutable_epoch_totals() = catalogue.history.epoch_totals;
  for (const Checkpoint& checkpoint : catalogue.checkpoints)
    Encode(checkpoint, *message.add_checkpoints());
  return message.SerializeAsString();
}

absl::StatusOr<CheckpointCatalogue> DecodeCatalogue(const std::string& bytes) {
  proto::JournalCheckpoints message;
  if (!message.ParseFromString(bytes))
    return absl::DataLossError("checkpoints in the journal are not readable");
  CheckpointCatalogue catalogue{.last_number = message.last_number(),
                                .count = message.count(),
                                .term = message.term(),
                                .checkpoints = {},
                                .history = {.given_up = message.given_up(),
                                            .last_failure = message.last_failure(),
                                            .spent_ns = message.spent_ns(),
                                            .run_ns = message.run_ns(),
                                            .epoch_totals = message.epoch_totals()}};
  for (const proto::JournalCheckpoint& each : message.checkpoints()) {
    absl::StatusOr<Checkpoint> checkpoint = Decode(each);
    if (!checkpoint.ok()) return checkpoint.status();
    if (!catalogue.checkpoints.empty() && checkpoint->number <= catalogue.checkpoints.back().number)
      return absl::DataLossError("checkpoints in the journal are not in their order");
    catalogue.checkpoints.push_back(*std::move(checkpoint));
  }
  return catalogue;
}

}  // namespace bspnow::coordinator
