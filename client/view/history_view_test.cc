#include "client/view/history_view.h"

#include <gtest/gtest.h>

namespace bspnow::client {
namespace {

proto::Job EndedJob(const std::string& name) {
  proto::Job job;
  job.set_job(12);
  job.mutable_spec()->set_name(name);
  job.mutable_spec()->set_user("anna");
  job.mutable_spec()->set_nprocs(8);
  job.set_state(proto::FAILED);
  job.set_exit_status(3);
  job.set_reason("cancelled by eve");
  job.set_submitted_unix_ms(1'795'132'800'000);
  job.set_ended_unix_ms(1'795'132'861'500);
  job.set_run_ms(61'000);
  job.set_cpu_ns(480'000'000'000);
  job.set_peak_memory_bytes(5'000'000);
  job.mutable_totals()->set_supersteps(41);
  return job;
}

TEST(HistoryViewTest, CsvHasALineOfNamesAndOneForEachJob) {
  const std::string csv = HistoryCsv({EndedJob("heat")});
  const std::size_t second = csv.find("\r\n") + 2;
  EXPECT_EQ(csv.substr(0, 24), "job,name,user,nprocs,sta");
  EXPECT_EQ(csv.substr(second),
            "12,heat,anna,8,failed,3,2026-11-20T00:00:00Z,,2026-11-20T00:01:01Z,61000,480000000000,"
            "5000000,41,0,0,0,0,cancelled by eve\r\n");
}

TEST(HistoryViewTest, NoNameBreaksALineOrComputes) {
  EXPECT_NE(HistoryCsv({EndedJob("a,\"b\"\n")}).find("12,\"a,\"\"b\"\"\n\",anna"),
            std::string::npos);
  EXPECT_NE(HistoryCsv({EndedJob("=1+2")}).find("12,\"'=1+2\",anna"), std::string::npos);
}

TEST(HistoryViewTest, TheTableIsForPeople) {
  proto::Job job = EndedJob("heat");
  job.mutable_array()->set_index(7);
  const std::string text = HistoryTable({job}).Text(Colours::kOff);
  EXPECT_NE(text.find("heat[7]"), std::string::npos);
  EXPECT_NE(text.find("1:01"), std::string::npos);  // It ran,
  EXPECT_NE(text.find("8:00"), std::string::npos);  // on all processors together.
  EXPECT_NE(text.find("4.8 MiB"), std::string::npos);
  EXPECT_NE(text.find("cancelled by eve\n"), std::string::npos);
}

TEST(HistoryViewTest, TheTableCutsLongNames) {
  proto::Job job = EndedJob("\xc3\xbc" + std::string(26, 'a'));
  EXPECT_NE(HistoryTable({job}).Text(Colours::kOff).find(job.spec().name() + " "),
            std::string::npos);
  job.mutable_spec()->mutable_name()->append("a");
  job.mutable_array()->set_index(7);
  const std::string text = HistoryTable({job}).Text(Colours::kOff);
  EXPECT_NE(text.find("\xc3\xbc" + std::string(23, 'a') + "...[7] "), std::string::npos) << text;
  EXPECT_NE(HistoryCsv({job}).find(job.spec().name()), std::string::npos);
}

}  // namespace
}  // namespace bspnow::client
