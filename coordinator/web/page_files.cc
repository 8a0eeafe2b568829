#include "coordinator/web/page_files.h"

#include <array>

namespace bspnow::coordinator {
namespace {

// clang-format off
constexpr std::string_view kStyle =
#include "coordinator/web/page/page.css.inc"
;
constexpr std::string_view kHtml =
#include "coordinator/web/page/page.html.inc"
;
constexpr std::string_view kScript =
#include "coordinator/web/page/page.js.inc"
;
// clang-format on

constexpr std::array<PageFile, 3> kFiles = {{
    {.path = "/", .type = "text/html; charset=utf-8", .text = kHtml},
    {.path = "/page.css", .type = "text/css; charset=utf-8", .text = kStyle},
    {.path = "/page.js", .type = "text/javascript; charset=utf-8", .text = kScript},
}};

}  // namespace

std::span<const PageFile> PageFiles() { return kFiles; }

}  // namespace bspnow::coordinator
