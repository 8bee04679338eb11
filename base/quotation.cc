#include "base/quotation.h"

namespace ringside {
namespace {

constexpr std::size_t shown_size_bytes = 64;

}  // namespace

std::string quotation(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, shown_size_bytes)) {
    out.push_back(c >= ' ' && c < '\x7f' ? c : '?');
  }
  out += text.size() > shown_size_bytes ? "…\"" : "\"";
  return out;
}

}  // namespace ringside
