// pagerank_exchange.h: the communication of PageRank, in BSPlib's two styles. Both take one
// superstep and give the same bits; which one is clearer is for the reader to say.
//
// With puts the receiver lays out one area for all that it will ever get, and tells every sender
// where its part begins: three supersteps to set up, then one put per pair of processes and
// iteration, of bare numbers. With messages nothing is set up: each number carries the node that it
// is for as its tag. That costs 4 bytes more for each, and is all there is to a changing pattern.
#ifndef EXAMPLES_PAGERANK_EXCHANGE_H_
#define EXAMPLES_PAGERANK_EXCHANGE_H_

#include <bsp.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "distribution.h"
#include "edge_list.h"

/// Sums over nodes that every process must know. Of one process's nodes, or of all.
struct Totals {
  double dangling = 0.0;  ///< Rank of the nodes that point nowhere.
  double change = 0.0;    ///< L1 norm of what the last iteration changed.
};

/// The nodes that one process's edges point to, each once: for each of them it sends one number.
struct Targets {
  std::vector<int> node;   ///< Ascending, hence those on one process side by side.
  std::vector<int> begin;  ///< Those on process q: positions begin[q] to begin[q + 1] - 1.

  int CountOn(int pid) const { return begin[pid + 1] - begin[pid]; }
};

inline Targets FindTargets(const std::vector<Edge>& edges, int node_count) {
  Targets targets;
  for (const Edge& edge : edges) targets.node.push_back(edge.to);
  std::sort(targets.node.begin(), targets.node.end());
  targets.node.erase(std::unique(targets.node.begin(), targets.node.end()), targets.node.end());
  for (int pid = 0; pid <= bsp_nprocs(); ++pid) {
    const int first = BlockBegin(node_count, bsp_nprocs(), pid);
    const auto begin = std::lower_bound(targets.node.begin(), targets.node.end(), first);
    targets.begin.push_back(static_cast<int>(begin - targets.node.begin()));
  }
  return targets;
}

/// The size of `count` items; BSPlib counts bytes in an int.
inline int SizeInBytes(std::size_t count, std::size_t item_bytes) {
  if (count > 0x7fffffff / item_bytes) bsp_abort("pagerank: %zu items are too many", count);
  return static_cast<int>(count * item_bytes);
}

/// Sends what is for others, and receives. Collective.
class Exchange {
 public:
  virtual ~Exchange() = default;

  /// One superstep. contribution[i] is for node targets.node[i]; what arrives for this process's
  /// nodes is added up in `incoming`. Returns the sum of all processes' `mine`.
  virtual Totals Deliver(const std::vector<double>& contribution, const Totals& mine,
                         std::vector<double>& incoming) = 0;

 protected:
  /// Every process adds in the order of the pids, so that all get the same bits and agree on when
  /// to stop, in whatever order the parts arrived.
  static Totals Sum(const std::vector<Totals>& parts) {
    Totals sum;
    for (const Totals& part : parts) {
      sum.dangling += part.dangling;
      sum.change += part.change;
    }
    return sum;
  }
};

class PutExchange : public Exchange {
 public:
  PutExchange(const Targets& targets, int node_count)
      : targets_(targets), offset_(bsp_nprocs()), totals_(bsp_nprocs()) {
    const int p = bsp_nprocs(), s = bsp_pid();
    std::vector<int> count(p);  // How many numbers each process has for this one.
    bsp_push_reg(count.data(), SizeInBytes(p, sizeof(int)));
    bsp_push_reg(offset_.data(), SizeInBytes(p, sizeof(int)));
    bsp_push_reg(totals_.data(), SizeInBytes(p, sizeof(Totals)));
    bsp_sync();

    for (int pid = 0; pid < p; ++pid) {
      const int mine = targets.CountOn(pid);
      bsp_put(pid, &mine, count.data(), s * sizeof(int), sizeof(int));
    }
    bsp_sync();

    std::vector<int> begin(p + 1, 0);
    std::partial_sum(count.begin(), count.end(), begin.begin() + 1);
    node_.resize(begin[p] + 1);   // One more than needed: an empty area would have no address, and
    value_.resize(begin[p] + 1);  // the address is what names it in a put to another process.
    bsp_push_reg(node_.data(), SizeInBytes(node_.size(), sizeof(int)));
    bsp_push_reg(value_.data(), SizeInBytes(value_.size(), sizeof(double)));
    for (int pid = 0; pid < p; ++pid)
      bsp_put(pid, &begin[pid], offset_.data(), s * sizeof(int), sizeof(int));
    bsp_pop_reg(count.data());
    bsp_sync();

    for (int pid = 0; pid < p; ++pid)
      bsp_put(pid, targets.node.data() + targets.begin[pid], node_.data(),
              offset_[pid] * sizeof(int), targets.CountOn(pid) * sizeof(int));
    bsp_pop_reg(offset_.data());
    bsp_pop_reg(node_.data());
    bsp_sync();

    node_.resize(begin[p]);
    for (int& node : node_) node -= BlockBegin(node_count, p, s);
  }

  Totals Deliver(const std::vector<double>& contribution, const Totals& mine,
                 std::vector<double>& incoming) override {
    const int p = bsp_nprocs(), s = bsp_pid();
    for (int pid = 0; pid < p; ++pid) {
      // Not bsp_hpput: a process that is ahead would write into an area that another one, which
      // has just left the same barrier, is still reading from.
      bsp_put(pid, contribution.data() + targets_.begin[pid], value_.data(),
              offset_[pid] * sizeof(double), targets_.CountOn(pid) * sizeof(double));
      bsp_put(pid, &mine, totals_.data(), s * sizeof(Totals), sizeof(Totals));
    }
    bsp_sync();
    std::fill(incoming.begin(), incoming.end(), 0.0);
    for (std::size_t i = 0; i < node_.size(); ++i) incoming[node_[i]] += value_[i];
    return Sum(totals_);
  }

 private:
  const Targets& targets_;
  std::vector<int> offset_;     ///< Where this process's part begins in value_ of each process.
  std::vector<Totals> totals_;  ///< By source.
  std::vector<int> node_;       ///< Which of this process's nodes the number in value_ is for.
  std::vector<double> value_;   ///< What arrived, by source.
};

class MessageExchange : public Exchange {
 public:
  MessageExchange(const Targets& targets, int node_count)
      : targets_(targets), node_count_(node_count), totals_(bsp_nprocs()) {
    int tag_nbytes = sizeof(int);
    bsp_set_tagsize(&tag_nbytes);
    bsp_sync();
  }

  /// The tag is the node, as its process counts, or -1 - source for a message with totals.
  Totals Deliver(const std::vector<double>& contribution, const Totals& mine,
                 std::vector<double>& incoming) override {
    const int p = bsp_nprocs(), totals_tag = -1 - bsp_pid();
    for (int pid = 0; pid < p; ++pid) {
      const int first = BlockBegin(node_count_, p, pid);
      for (int i = targets_.begin[pid]; i < targets_.begin[pid + 1]; ++i) {
        const int tag = targets_.node[i] - first;
        bsp_send(pid, &tag, &contribution[i], sizeof(double));
      }
      bsp_send(pid, &totals_tag, &mine, sizeof(Totals));
    }
    bsp_sync();

    std::fill(incoming.begin(), incoming.end(), 0.0);
    int nbytes, tag;
    for (bsp_get_tag(&nbytes, &tag); nbytes >= 0; bsp_get_tag(&nbytes, &tag)) {
      if (tag < 0) {
        bsp_move(&totals_[-1 - tag], sizeof(Totals));
      } else {
        double value;
        bsp_move(&value, sizeof value);
        incoming[tag] += value;
      }
    }
    return Sum(totals_);
  }

 private:
  const Targets& targets_;
  int node_count_;
  std::vector<Totals> totals_;  ///< By source.
};

#endif  // EXAMPLES_PAGERANK_EXCHANGE_H_
