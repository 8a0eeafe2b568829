#include "net/metrics/metric_list.h"

#include <gtest/gtest.h>

namespace bspnow {
namespace {

TEST(MetricListTest, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(ValidUtf8("caf\xc3\xa9 \"1\"\n"), "caf\xc3\xa9 \"1\"\n");
  EXPECT_EQ(ValidUtf8("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80").find('\xed'), std::string::npos);  // Half of a pair.
}

TEST(MetricListTest, AFamilyWithoutSeriesIsNotShown) {
  MetricList list;
  list.Gauge("empty", "Nothing.");
  list.Counter("some_total", "One.");
  list.Add({{"of", "\xfe"}}, 3);
  const auto families = list.Take();
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].metric[0].counter.value, 3);
  EXPECT_EQ(families[0].metric[0].label[0].value, "\xef\xbf\xbd");
}

}  // namespace
}  // namespace bspnow
