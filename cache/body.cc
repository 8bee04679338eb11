#include "cache/body.h"

#include <cstring>

namespace ringside::cache {

Piece::Piece(std::string_view bytes)
    : size_bytes_(bytes.size()), bytes_(std::make_unique_for_overwrite<char[]>(bytes.size())) {
  if (!bytes.empty()) std::memcpy(bytes_.get(), bytes.data(), bytes.size());
}

Piece::Piece(const std::vector<std::shared_ptr<const Piece>>& pieces) : size_bytes_(0) {
  for (const PiecePointer& piece : pieces) size_bytes_ += piece->size_bytes_;
  bytes_ = std::make_unique_for_overwrite<char[]>(size_bytes_);
  char* place = bytes_.get();
  for (const PiecePointer& piece : pieces) {
    std::memcpy(place, piece->bytes_.get(), piece->size_bytes_);
    place += piece->size_bytes_;
  }
}

}  // namespace ringside::cache
