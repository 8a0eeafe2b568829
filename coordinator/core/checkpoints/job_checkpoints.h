// The checkpoints of one job: a pure state machine. What nodes report goes in, what they must be
// told comes out.
//
//   none -> asked -> stored by its hosts -> copied to partners -> committing -> committed
//
// From any stage but the last two it can be given up, for a reason: whoever waits behind it is let
// go, and the next one is full. At most one is under way. The last two committed ones, and what
// they build upon, are kept wherever they are held. See "Checkpoints" in docs/design.md.
#ifndef COORDINATOR_CORE_CHECKPOINTS_JOB_CHECKPOINTS_H_
#define COORDINATOR_CORE_CHECKPOINTS_JOB_CHECKPOINTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "coordinator/core/checkpoints/checkpoint.h"

namespace bspnow::coordinator {

/// What processes do after an image: go on, or wait until they are released or ended.
enum class Hold : std::uint32_t { kNo = 0, kYes = 1 };

/// Nodes that are up, or those of them that stay: name, and the name of the directory that a node
/// shares with others for images; empty if it has its own disk.
using LiveNodes = std::map<std::string, std::string>;

struct CheckpointOrders {
  struct Copy {
    std::string host;
    std::uint64_t checkpoint;
    std::vector<std::uint64_t> chain;
    std::string to_node;
  };
  struct Keep {
    std::string node;
    std::vector<std::uint64_t> checkpoints;  ///< None: the job's images are not needed any more.
  };
  struct ReleaseHeld {
    std::string node;
    std::uint64_t checkpoint;
  };
  /// What has become of the one that was under way.
  struct End {
    std::uint64_t number;
    Hold hold;
    std::string failure;  ///< Empty: committed.
    CheckpointCost cost;  ///< As far as it is known.
  };
  std::vector<Copy> copies;
  std::vector<ReleaseHeld> release_held;
  /// To be written to the journal; answer with OnCommitted or OnCommitFailed.
  std::optional<CheckpointCatalogue> commit;
  /// The same, after many failures: answer with OnNumbersStored or OnNumbersRefused.
  std::optional<CheckpointCatalogue> numbers;
  std::vector<Keep> keeps;  ///< To be sent before `release_held`.
  std::optional<End> end;
};

/// Length of a chain: a full image and what builds upon it.
inline constexpr std::size_t kChainMax = 8;
/// Committed checkpoints to which a job can go back.
inline constexpr std::size_t kGoBackMax = 2;
/// Attempts between two writes to the journal. Numbers of failed ones are not stored, and must not
/// come again after a restart: each term of the coordinator skips this many, and more.
inline constexpr std::uint64_t kAttemptsMax = 100;
/// Places at which the numbers of a term may begin. An older copy of the journal gives out a term
/// again, and a node that was away may keep images of the first one: the key of the run says where.
inline constexpr std::uint64_t kFirstNumbersOfTerm = std::uint64_t{1} << 24;

/// Totals that are kept until it is known at which superstep an image was taken. Mostly that is one
/// of the first, since images take long to write and little to begin; but an order may wait for
/// groups to close. So the first half of them are the first ones, and the others reach to the
/// newest, ever fewer of the older ones.
inline constexpr std::size_t kTotalsMax = 32;

class JobCheckpoints {
 public:
  struct Plan {
    std::uint32_t copies;        ///< Of each image, beside its host's; fewer if there are no nodes.
    std::uint64_t term;          ///< Of this coordinator.
    std::uint64_t term_key = 0;  ///< Random, of its run.
  };
  explicit JobCheckpoints(const Plan& plan);

  /// After a restart of the coordinator, before anything else.
  void Restore(CheckpointCatalogue catalogue);

  // ---- One checkpoint ---------------------------------------------------------------------------

  struct Asked {
    std::uint64_t number;
    std::uint64_t base;
  };
  /// Of the job, until now.
  struct SoFar {
    proto::JobTotals totals{};
    std::vector<Printed> left{};  ///< By processes that have ended.
  };
  /// Nothing while one is under way, or their numbers are being stored. `hosts`: of processes that
  /// take part.
  std::optional<Asked> Ask(std::vector<std::string> hosts, Hold hold, SoFar so_far);

  /// What a host says when all that it has to save is durable. Unless that is of the one under way,
  /// it is let go: the coordinator may have been restarted since it was asked for.
  struct Stored {
    std::uint64_t number;
    Superstep superstep;
    std::uint32_t participants;
    bool of_areas;
    std::vector<SavedImage> images;
    std::vector<std::string> cpu_features;
    CheckpointCost cost;
  };
  CheckpointOrders OnStored(const std::string& host, const Stored& stored, const LiveNodes& live);
  CheckpointOrders OnFailed(const std::string& host, std::uint64_t number,
                            const std::string& reason);
  /// `failure`: empty if the images are durable there.
  CheckpointOrders OnCopied(const std::string& host, std::uint64_t number,
                            const std::string& to_node, const std::string& failure,
                            const LiveNodes& live);
  /// What the running epoch's supersteps have cost so far. An image is taken later than it was
  /// asked for, and what its last superstep cost is known with the next one: so until then the
  /// newest that is not beyond it is the checkpoint's, also once it is committed. False: no more
  /// are of use.
  bool OnTotals(const proto::JobTotals& totals);
  /// As many as are kept have come since the one under way was asked for, and it has no image yet.
  bool HasAllTotals() const {
    return taking_ && taking_->checkpoint.parts.empty() && taking_->totals.size() == kTotalsMax;
  }
  CheckpointOrders OnCommitted(std::uint64_t number, std::int64_t unix_ms);
  CheckpointOrders OnCommitFailed(std::uint64_t number, const std::string& why);
  /// As CheckpointOrders::numbers, after a refusal: what Ask waits for, unless it is under way.
  std::optional<CheckpointCatalogue> NumbersToStore();
  void OnNumbersStored() {
    attempts_ = 0;
    storing_numbers_ = false;
  }
  void OnNumbersRefused() { storing_numbers_ = false; }
  /// `live` without it.
  CheckpointOrders OnNodeLost(const std::string& node, const LiveNodes& live);
  /// Its epoch is over. A commit that is on its way still counts.
  CheckpointOrders GiveUp(const std::string& why);

  // ---- Going back -------------------------------------------------------------------------------

  /// The newest that can be had: not damaged, each image on a node that is up.
  const Checkpoint* Best(const LiveNodes& live) const;
  /// Nodes whose return would give a Best where there is none; nobody if nothing is worth that.
  std::vector<std::string> Awaited(const LiveNodes& live) const;
  /// Images of it could not be had from any holder, or what had been printed by then is lost.
  void OnDamaged(std::uint64_t number);
  /// The job goes on from there (0: its start): what is newer counts no more. Something to write to
  /// the journal, before anything runs, if any was ever committed.
  std::optional<CheckpointCatalogue> GoBackTo(std::uint64_t number);
  /// These nodes have a directory for its images, or make one.
  void OnDirectoryAt(const std::vector<std::string>& nodes) {
    touched_.insert(nodes.begin(), nodes.end());
  }
  /// It and what it builds upon, oldest first.
  std::vector<std::uint64_t> ChainOf(std::uint64_t number) const;

  // ---- Holders ----------------------------------------------------------------------------------

  /// A node that registers has these of the job, and none else. Processes that wait there behind
  /// one of them, since before a restart of the coordinator, are let go.
  CheckpointOrders OnNodeStores(const std::string& node, const std::set<std::uint64_t>& numbers);
  /// The job has ended: nobody needs to hold anything.
  std::vector<CheckpointOrders::Keep> Drop();

  /// Nodes that are up and have the image of the last one of which there are fewest; a directory
  /// that is shared counts as many as there should be.
  std::size_t CopiesOfLast(const LiveNodes& live) const;
  /// It has images of its own disk that the job may go back to.
  bool IsHolder(const std::string& node) const;
  /// Of the last one there are fewer than there should be and could be.
  bool LacksCopies(const LiveNodes& live) const;

  // ---- To look at -------------------------------------------------------------------------------

  bool under_way() const { return taking_.has_value(); }
  /// A host has not said yet that it has its images.
  bool AwaitsImages() const { return taking_ && taking_->stage == Stage::kAsked; }
  /// While another one has: so the job has come to where they are taken.
  bool AwaitsMoreImages() const { return AwaitsImages() && !taking_->checkpoint.parts.empty(); }
  /// Its processes are held until it is committed or given up.
  bool Holds() const { return taking_ && taking_->hold == Hold::kYes; }
  /// No number above it was ever in use.
  std::uint64_t last_number() const { return last_number_; }
  std::uint64_t under_way_number() const { return taking_ ? taking_->checkpoint.number : 0; }
  const Checkpoint* last() const { return committed_.empty() ? nullptr : &committed_.back(); }
  /// Ascending.
  const std::vector<Checkpoint>& committed() const { return committed_; }
  /// Committed in all.
  std::uint64_t count() const { return count_; }
  /// What nodes are to keep. The newest number is always there, so that what begins while they are
  /// told so is not theirs to remove.
  std::vector<std::uint64_t> keep_list() const;

 private:
  enum class Stage { kAsked, kCopying, kCommitting };
  enum class Need { kNone, kUnderWay, kFailed };

  /// Copies of what one host stored.
  struct Copying {
    std::set<std::string> to;     ///< Nodes that have been asked to take it.
    std::set<std::string> tried;  ///< That could not.
    std::string failure;          ///< Of the last one.
  };

  struct Taking {
    Checkpoint checkpoint;
    Hold hold;
    Stage stage = Stage::kAsked;
    std::vector<proto::JobTotals> totals{};  ///< Until its superstep is known; by supersteps.
    std::vector<std::string> hosts;
    std::map<std::string, Copying> copying;  ///< By host.
    std::vector<bool> copied;                ///< By part: nothing is to be done for it any more.
    std::set<std::string> told;              ///< Nodes that may have something of it.
  };

  CheckpointOrders GiveUpNow(const std::string& why);
  void SkipTerms(std::uint64_t terms);
  std::string Disagreement(const std::string& host, const Stored& stored) const;
  std::string MissingImage() const;
  void TakePart(const std::string& host, const Stored& stored, const LiveNodes& live);
  CheckpointOrders CopyOrCommit(const LiveNodes& live);
  using ImagesByNode = std::map<std::string, std::size_t>;
  Need CopyPart(const CheckpointPart& part, const LiveNodes& live, ImagesByNode& to_take,
                CheckpointOrders& orders);
  std::string PartnerOf(const CheckpointPart& part, const LiveNodes& live,
                        ImagesByNode& to_take) const;
  ImagesByNode ImagesToTake() const;
  void AddHoldersOfChain(const Checkpoint& taken, const CheckpointPart& part);
  CheckpointPart* PartOf(const std::string& host);
  const Checkpoint* Find(std::uint64_t number) const;
  std::set<std::uint64_t> Needed(const std::vector<Checkpoint>& committed) const;
  CheckpointCatalogue Catalogue(std::vector<Checkpoint> committed) const;

  std::uint32_t copies_;
  std::uint64_t term_;
  std::uint64_t term_key_;
  std::uint64_t last_number_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t attempts_ = 0;  ///< Since the journal has their numbers.
  bool storing_numbers_ = false;
  bool next_is_full_ = true;  ///< What changed since the last image is not known.
  bool epoch_over_ = false;   ///< Of the one that is being committed.
  std::optional<Taking> taking_;
  std::vector<Checkpoint> committed_;  ///< Ascending; no others are kept.
  std::set<std::uint64_t> damaged_;
  std::set<std::string> touched_;  ///< Nodes that may have anything of the job.
};

}  // namespace bspnow::coordinator

#endif  // COORDINATOR_CORE_CHECKPOINTS_JOB_CHECKPOINTS_H_
