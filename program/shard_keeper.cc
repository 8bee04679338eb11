#include "program/shard_keeper.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/log.h"
#include "http1/admin_client.h"
#include "program/admin_access.h"

namespace ringside::program {
namespace {

constexpr int ok = 200;

Result<std::string> ask_writer(const Endpoint& writer, const std::string& method,
                               const std::string& path, const std::string& body,
                               const std::string& token) {
  auto answer = http::ask_admin(writer, method, path, body, limits::state_timeout, token);
  if (!answer) return answer.error();
  if (answer->status == ok) return std::move(answer->body);
  return Error{ErrorKind::refused, ErrorSource::peer, Retry::no,
               fmt::format("{} {} is answered {}: {}", method, path, answer->status,
                           answer->body.substr(0, answer->body.find('\n')))};
}

std::unique_ptr<SharedState> share(Service& service, std::unique_ptr<SharedState> shared) {
  service.share_state(shared.get());
  return shared;
}

}  // namespace

// The service knows of the shared state before anybody can ask it for a cut.
ShardKeeper::ShardKeeper(const Configuration& configuration, Service& service,
                         std::unique_ptr<SharedState> shared)
    : source_(configuration.state_writer->text()),
      writer_(configuration.state_writer->at),
      shared_(share(service, std::move(shared))),
      token_file_(configuration.admin_token_file),
      service_(service),
      pause_(shared_ ? limits::state_config_map_poll : limits::state_poll),
      thread_([this] {
        pthread_setname_np(pthread_self(), "shards");
        run();
      }) {}

ShardKeeper::~ShardKeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  told_.notify_all();
  if (shared_) shared_->stop();
  thread_.join();
  service_.share_state(nullptr);
}

void ShardKeeper::look_again() {
  {
    const std::lock_guard lock(mutex_);
    is_told_ = true;
  }
  told_.notify_all();
}

std::string ShardKeeper::line() const {
  if (!follows()) return "state: written by this process";
  const std::lock_guard lock(mutex_);
  if (!has_heard_ && trouble_.empty()) {
    return fmt::format("state: as at the start; {} is asked", source_);
  }
  if (trouble_.empty()) return fmt::format("state: as {} has it", source_);
  return fmt::format("state: as it was; {} is not heard: {}", source_, trouble_);
}

void ShardKeeper::run() {
  while (true) {
    look();
    std::unique_lock lock(mutex_);
    told_.wait_for(lock, pause_, [&] { return is_told_ || is_ending_; });
    if (is_ending_) return;
    is_told_ = false;
  }
}

void ShardKeeper::look() {
  if (follows()) {
    const auto heard = follow();
    note(heard);
    if (!heard) return;
  }
  service_.keep_table();
  if (looks_to_pass_ > 0) {
    --looks_to_pass_;
    return;
  }
  auto asked = ask_for_cut();
  const auto was_second = [&] { return shared_ && asked.error().kind == ErrorKind::refused; };
  if (!asked && was_second()) {  // what is there now may need another cut, or none
    note(follow());
    asked = ask_for_cut();
  }
  if (asked) {
    failures_ = 0;
    return;
  }
  if (was_second()) return;  // the next look shows what the others have made of it
  const auto looks_most = static_cast<unsigned>(limits::cut_pause / pause_);
  looks_to_pass_ = std::min(1U << std::min(failures_++, 10U), looks_most);
  log::warning("the shards stay as they are, and their change is asked for again later: {}",
               asked.error().message);
}

Result<void> ShardKeeper::follow() {
  if (shared_) {
    auto followed = service_.follow_shared();
    const bool was_second = !followed && followed.error().kind == ErrorKind::refused;
    return was_second ? service_.follow_shared() : followed;
  }
  const auto page = ask_writer(*writer_, "GET", "/topology", "", "");
  if (!page) return page.error();
  const auto published = shard::parse_topology_json(*page, shard::Addresses::not_needed);
  return published ? service_.follow_state(*published) : published.error();
}

Result<void> ShardKeeper::ask_for_cut() {
  const auto wanted = service_.cut_wanted();
  if (!wanted) return {};
  if (!writer_) {
    const auto cut = service_.cut(*wanted);
    return cut ? Result<void>{} : cut.error();
  }
  std::string token;
  if (!token_file_.empty()) {
    auto read = read_admin_token(token_file_);
    if (!read) return read.error();
    token = *std::move(read);
  }
  const auto done = ask_writer(*writer_, "POST", "/split", to_json(*wanted), token);
  if (!done) return done.error();
  note(follow());
  return {};
}

// One line for each change, however long it stays so.
void ShardKeeper::note(const Result<void>& heard) {
  const std::string trouble = heard ? std::string() : heard.error().message;
  std::unique_lock lock(mutex_);
  has_heard_ = has_heard_ || heard;
  const std::string before = std::exchange(trouble_, trouble);
  lock.unlock();
  if (before.empty() && !trouble.empty()) {
    log::warning("the writer of the state, {}, is not heard, and it stays as it is: {}", source_,
                 trouble);
  } else if (!before.empty() && trouble.empty()) {
    log::info("the writer of the state, {}, is heard again", source_);
  }
}

}  // namespace ringside::program
