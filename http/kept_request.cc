#include "http/kept_request.h"

namespace ringside::http {

KeptRequest::KeptRequest(const RequestHead& request) : head_(request) {
  std::size_t size = request.method.size() + request.target.size() + request.host.size();
  for (const Field& field : request.fields) size += field.name.size() + field.value.size();
  bytes_.reserve(size);  // so that no view is left behind
  const auto keep = [this](std::string_view text) {
    const std::size_t start = bytes_.size();
    bytes_.append(text);
    return std::string_view(bytes_).substr(start);
  };
  head_.method = keep(request.method);
  head_.target = keep(request.target);
  head_.host = keep(request.host);
  head_.fields.clear();
  for (const Field& field : request.fields) {
    const std::string_view name = keep(field.name);
    head_.fields.add(name, keep(field.value));
  }
}

}  // namespace ringside::http
