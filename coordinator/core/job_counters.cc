#include "coordinator/core/job_counters.h"

#include <algorithm>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

namespace bspnow::coordinator {

// By reflection: whatever sum JobTotals gets is counted.
void JobCounters::Add(const SuperstepStats& epoch) {
  const proto::JobTotals& from = epoch.counted_from();
  const proto::JobTotals now = epoch.totals();
  const google::protobuf::Descriptor& type = *proto::JobTotals::descriptor();
  const google::protobuf::Reflection& fields = *proto::JobTotals::GetReflection();
  for (int i = 0; i < type.field_count(); ++i) {
    const google::protobuf::FieldDescriptor* const field = type.field(i);
    if (field->cpp_type() != field->CPPTYPE_UINT64 || field->is_repeated()) continue;
    const std::uint64_t before = fields.GetUInt64(from, field);
    const std::uint64_t grown = std::max(fields.GetUInt64(now, field), before) - before;
    fields.SetUInt64(&sums, field, fields.GetUInt64(sums, field) + grown);
  }
}

}  // namespace bspnow::coordinator
