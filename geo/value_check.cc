#include "geo/value_check.h"

#include "base/limits.h"

namespace ringside::geo {
namespace {

// The types of https://maxmind.github.io/MaxMind-DB/ ("Output Data Section").
enum Type : unsigned {
  kExtended = 0,
  kPointer = 1,
  kString = 2,
  kDouble = 3,
  kBytes = 4,
  kUint16 = 5,
  kUint32 = 6,
  kMap = 7,
  kInt32 = 8,
  kUint64 = 9,
  kUint128 = 10,
  kArray = 11,
  kBoolean = 14,
  kFloat = 15,
};

}  // namespace

bool ValueCheck::is_sound_map(std::size_t offset) {
  parts_ = 0;
  const auto top = followed(offset);
  return top && top->type == kMap && pass(offset, 0).has_value();
}

std::optional<std::size_t> ValueCheck::number(std::size_t offset, std::size_t bytes) const {
  if (offset > section_.size() || section_.size() - offset < bytes) return std::nullopt;
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | section_[offset + i];
  return value;
}

std::optional<ValueCheck::Header> ValueCheck::header(std::size_t offset) const {
  const auto control = number(offset, 1);
  if (!control) return std::nullopt;
  Header out{static_cast<unsigned>(*control >> 5), *control & 31, offset + 1};
  if (out.type == kPointer) return pointer(offset);
  if (out.type == kExtended) {
    const auto extension = number(out.behind++, 1);
    if (!extension) return std::nullopt;
    out.type = static_cast<unsigned>(*extension) + 7;
  }
  if (out.size >= 29) {
    const std::size_t more_bytes = out.size - 28;
    const auto more = number(out.behind, more_bytes);
    if (!more) return std::nullopt;
    constexpr std::size_t starts[] = {29, 285, 65821};
    out.size = starts[more_bytes - 1] + *more;
    out.behind += more_bytes;
  }
  return out;
}

std::optional<ValueCheck::Header> ValueCheck::pointer(std::size_t offset) const {
  const std::size_t control = section_[offset];
  const std::size_t bytes = (control >> 3 & 3) + 1;
  const auto low = number(offset + 1, bytes);
  if (!low) return std::nullopt;
  constexpr std::size_t starts[] = {0, 2048, 526336, 0};
  const std::size_t high = bytes == 4 ? 0 : (control & 7) << (8 * bytes);
  return Header{kPointer, starts[bytes - 1] + high + *low, offset + 1 + bytes};
}

std::optional<ValueCheck::Header> ValueCheck::followed(std::size_t offset) const {
  const auto here = header(offset);
  if (!here || here->type != kPointer) return here;
  const auto there = header(here->size);
  return there && there->type != kPointer ? there : std::nullopt;  // no pointers to pointers
}

bool ValueCheck::is_string(std::size_t offset) const {
  const auto value = followed(offset);
  return value && value->type == kString;
}

std::optional<std::size_t> ValueCheck::pass(std::size_t offset, unsigned depth) {
  if (depth > limits::geo_value_depth || ++parts_ > limits::geo_value_parts) return std::nullopt;
  const auto value = header(offset);
  if (!value) return std::nullopt;
  if (value->type == kPointer) {
    if (!followed(offset) || !pass(value->size, depth + 1)) return std::nullopt;
    return value->behind;
  }
  if (value->type == kMap || value->type == kArray) return pass_members(*value, depth);
  return pass_scalar(*value);
}

std::optional<std::size_t> ValueCheck::pass_members(const Header& container, unsigned depth) {
  std::optional<std::size_t> offset = container.behind;
  for (std::size_t i = 0; i < container.size && offset; ++i) {
    if (container.type == kMap) {
      if (!is_string(*offset)) return std::nullopt;
      offset = pass(*offset, depth + 1);
      if (!offset) return std::nullopt;
    } else if (arrays_ == Arrays::of_strings && !is_string(*offset)) {
      return std::nullopt;
    }
    offset = pass(*offset, depth + 1);
  }
  return offset;
}

std::optional<std::size_t> ValueCheck::pass_scalar(const Header& scalar) const {
  const auto sized = [&](bool fits) -> std::optional<std::size_t> {
    if (!fits || !number(scalar.behind, scalar.size)) return std::nullopt;
    return scalar.behind + scalar.size;
  };
  switch (scalar.type) {
    case kString:
    case kBytes:
      return sized(true);
    case kUint16:
      return sized(scalar.size <= 2);
    case kUint32:
    case kInt32:
      return sized(scalar.size <= 4);
    case kUint64:
      return sized(scalar.size <= 8);
    case kUint128:
      return sized(scalar.size <= 16);
    case kDouble:
      return sized(scalar.size == 8);
    case kFloat:
      return sized(scalar.size == 4);
    case kBoolean:
      return scalar.behind;  // the size is the value
    default:
      return std::nullopt;
  }
}

}  // namespace ringside::geo
