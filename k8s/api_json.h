#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "k8s/failure.h"

namespace ringside::k8s {

[[nodiscard]] Failure malformed(std::string message);

class ApiField;

// One JSON text of an API server, read strictly: what is of another type than the API gives it is
// FailureReason::malformed, with the field's path. Only fields that this room has a use for are
// kept, so that a pod template or `managedFields` costs no memory; where a key stands twice the
// last one counts, as in Go. Borrows nothing after construction. Not thread-safe.
//
// The first thing that is wrong is remembered and all reading goes on with nothing, so that who
// reads asks once, at the end.
class ApiJson {
 public:
  explicit ApiJson(std::string_view text);
  ApiJson(const ApiJson&) = delete;
  ApiJson& operator=(const ApiJson&) = delete;

  [[nodiscard]] ApiField root();  // borrows this
  [[nodiscard]] const std::optional<Failure>& failure() const noexcept { return failure_; }
  void fail(Failure failure);  // changes nothing where something was wrong already

 private:
  nlohmann::json root_;
  std::optional<Failure> failure_;
};

// A field and where it stands. `null` is as good as absent: Go servers send it for empty lists.
// Borrows its ApiJson.
class ApiField {
 public:
  ApiField(ApiJson& whole, const nlohmann::json* value, std::string path);

  [[nodiscard]] bool is_absent() const noexcept { return value_ == nullptr; }
  [[nodiscard]] ApiJson& whole() const noexcept { return *whole_; }
  [[nodiscard]] ApiField at(std::string_view key) const;  // of an object; absent in an absent one
  [[nodiscard]] std::vector<ApiField> elements() const;   // of an array; none of an absent one
  [[nodiscard]] std::string text() const;                 // absent: empty
  [[nodiscard]] std::string needed_text() const;          // absent or empty: malformed
  [[nodiscard]] std::optional<bool> truth() const;        // absent: nothing
  [[nodiscard]] std::optional<std::uint64_t> count() const;  // whole and not negative
  void fail(std::string_view what) const;                    // "PATH what"

 private:
  void be(std::string_view wanted) const;

  ApiJson* whole_;
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace ringside::k8s
