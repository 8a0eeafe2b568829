#include "worker/core/event_text.h"

#include <gtest/gtest.h>

namespace bspnow::worker {
namespace {

std::string Valid(const std::string& reason) {
  proto::WorkerEvent event;
  event.mutable_broken()->set_reason(reason);
  MakeTextValid(event);
  return event.broken().reason();
}

TEST(EventTextTest, KeepsWhatIsUtf8) {
  for (const char* text : {"", "plain", "\u00e4 \u20ac \U0001f600", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(Valid(text), text);
  }
}

TEST(EventTextTest, ReplacesWhatIsNot) {
  EXPECT_EQ(Valid("a\xff/b"), "a?/b");
  EXPECT_EQ(Valid("cut \xe2\x82"), "cut ??");
  EXPECT_EQ(Valid("\xc0\xaf"), "??");            // Too long.
  EXPECT_EQ(Valid("\xed\xa0\x80"), "???");       // A surrogate.
  EXPECT_EQ(Valid("\xf5\x80\x80\x80"), "????");  // Beyond the last.
  EXPECT_EQ(Valid("\xe4\xe2\x82\xac"), "?\u20ac");
}

TEST(EventTextTest, LetsTheReceiverReadTheEvent) {
  proto::WorkerEvent event;
  event.mutable_checkpoint_failed()->set_reason("opening \xff: Permission denied");
  MakeTextValid(event);
  EXPECT_TRUE(proto::WorkerEvent().ParseFromString(event.SerializeAsString()));
}

}  // namespace
}  // namespace bspnow::worker
