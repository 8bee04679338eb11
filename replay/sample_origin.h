#pragma once

#include <cstdint>
#include <memory>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"

namespace ringside::replay {

// A small origin for demonstrations and tests: answers every GET and HEAD with a page that depends
// on the path and the country it was told (X-Country), cacheable for an hour, with an ETag that it
// revalidates, and counts what it was asked. Other methods are told how many bytes they sent.
class SampleOrigin {
 public:
  // Binds and serves on one thread. The clock must outlive the origin.
  [[nodiscard]] static Result<std::unique_ptr<SampleOrigin>> start(const Endpoint& listen,
                                                                   const Clock& clock);
  ~SampleOrigin();                         // stop()
  [[nodiscard]] Endpoint address() const;  // with the port that was bound
  // Requests whose head was read, whatever the method. Counted before the answer. Thread-safe.
  [[nodiscard]] std::uint64_t requests() const noexcept;
  void stop();  // breaks off what is in flight; idempotent

 private:
  struct Impl;
  explicit SampleOrigin(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::replay
