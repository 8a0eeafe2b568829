// What ended jobs have used: for people, and for spreadsheets.
#ifndef CLIENT_VIEW_HISTORY_VIEW_H_
#define CLIENT_VIEW_HISTORY_VIEW_H_

#include <string>
#include <vector>

#include "client/view/text_table.h"
#include "proto/jobs.pb.h"

namespace bspnow::client {

TextTable HistoryTable(const std::vector<proto::Job>& jobs);

/// RFC 4180, with a line of names, which are those of JSON; listed in bsp(1). Times are UTC.
std::string HistoryCsv(const std::vector<proto::Job>& jobs);

}  // namespace bspnow::client

#endif  // CLIENT_VIEW_HISTORY_VIEW_H_
