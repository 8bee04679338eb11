#include "hop/access_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/limits.h"
#include "base/lines.h"
#include "base/log.h"

namespace ringside::hop {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

bool is_of_kind(const struct stat& status, mode_t kind) noexcept {
  return (status.st_mode & S_IFMT) == kind;
}

// A file descriptor, or -1 with errno.
int open_path(const std::string& path) noexcept {
  if (path == "-") return ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  struct stat status {};
  // A pipe without a reader would make open() wait; with us as its reader too it does not.
  const bool is_pipe = ::stat(path.c_str(), &status) == 0 && is_of_kind(status, S_IFIFO);
  constexpr mode_t mode = 0640;  // addresses of clients are in it
  return ::open(path.c_str(),
                (is_pipe ? O_RDWR : O_WRONLY) | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, mode);
}

// With errno where it is false. A file that is missing is made, so its folder is asked.
bool could_open(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (::access(path.c_str(), W_OK) != 0) return false;
    errno = EISDIR;
    return !is_of_kind(status, S_IFDIR);
  }
  if (errno != ENOENT) return false;
  const auto folder = std::filesystem::path(path).parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0;
}

Error cannot_open(const std::string& path) {
  return invalid_input(fmt::format("{}: {}; name a file that can be written to, or - for stdout",
                                   path, reason(errno)));
}

bool is_regular_file(int file) noexcept {
  struct stat status {};
  return ::fstat(file, &status) == 0 && is_of_kind(status, S_IFREG);
}

// So that one burst of long lines does not keep its memory for ever.
void shrink(AccessRecord& record) {
  constexpr std::size_t usual_size_bytes = 256;
  for (std::string* text : {&record.request, &record.host, &record.referer, &record.user_agent}) {
    if (text->capacity() > usual_size_bytes) std::string().swap(*text);
  }
}

}  // namespace

void AccessLog::Queue::write(AccessRecord& record) noexcept {
  // Followers alone are told of no more than so many at a time.
  if (slots_.empty()) {
    slots_.resize(log_.is_written() ? limits::access_log_records : limits::log_reader_lines);
  }
  const std::size_t written = written_.load(std::memory_order_relaxed);
  const std::size_t waiting = written - taken_.load(std::memory_order_acquire);
  const bool has_room = waiting < slots_.size();
  choose_followers(record, has_room);
  if (!has_room) {
    if (log_.is_written()) dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (!log_.is_written() && !record.followers.list) return;
  std::swap(slots_[written % slots_.size()], record);
  written_.store(written + 1, std::memory_order_release);
  // The writer looks by itself every limits::access_log_flush: a system call only in a rush.
  if (waiting + 1 == slots_.size() / 2) log_.wake();
}

void AccessLog::Queue::look_at_readers() {
  if (const std::uint64_t now = log_.readers_.generation(); now != readers_seen_) {
    readers_ = log_.readers_.list();
    readers_seen_ = now;
  }
}

// At full load this is so most of the time: to be counted must cost less than to be told of.
bool AccessLog::Queue::is_missed_by_all() {
  look_at_readers();
  for (const auto& reader : *readers_) {
    if (!reader->would_miss()) return false;
  }
  for (const auto& reader : *readers_) reader->miss();
  return true;
}

void AccessLog::Queue::choose_followers(AccessRecord& record, bool has_room) {
  look_at_readers();
  record.followers = {};
  for (std::size_t i = 0; i < readers_->size(); ++i) {
    if ((*readers_)[i]->claim(record, has_room)) record.followers.chosen.set(i);
  }
  if (record.followers.chosen.any()) record.followers.list = readers_;
}

void AccessLog::Queue::tell(Followers& followers, std::string_view line) {
  if (!followers.list) return;
  for (std::size_t i = 0; i < followers.list->size(); ++i) {
    if (followers.chosen.test(i)) (*followers.list)[i]->append(line);
  }
  followers = {};
}

// The slots up to `written_` are the writer's until it has taken them. Where hardly any is left the
// oldest are missing in the file, in the place of the newest: else a file that takes nothing would
// leave no room for who follows.
void AccessLog::Queue::tell_ahead() {
  const std::size_t end = written_.load(std::memory_order_acquire);
  std::size_t next = taken_.load(std::memory_order_relaxed);
  if (next == end) return;
  std::string line;
  for (; next != end; ++next) {
    AccessRecord& record = slots_[next % slots_.size()];
    if (!record.followers.list) continue;
    line.clear();
    append_log_line(line, record);
    tell(record.followers, line);
  }
  next = taken_.load(std::memory_order_relaxed);
  const std::size_t spare = slots_.size() / 8;
  while (end - next + spare > slots_.size()) {
    shrink(slots_[next % slots_.size()]);
    taken_.store(++next, std::memory_order_release);
    dropped_.fetch_add(1, std::memory_order_relaxed);
  }
}

bool AccessLog::Queue::take(std::string& out) {
  const std::size_t end = written_.load(std::memory_order_acquire);
  std::size_t next = taken_.load(std::memory_order_relaxed);
  const bool any = next != end;
  while (next != end && out.size() < limits::access_log_write_size_bytes) {
    AccessRecord& record = slots_[next % slots_.size()];
    const std::size_t begin = out.size();
    append_log_line(out, record);
    tell(record.followers, std::string_view(out).substr(begin));
    if (!log_.is_written()) out.resize(begin);
    shrink(record);
    taken_.store(++next, std::memory_order_release);
  }
  return any;
}

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& path, std::size_t cores,
                                                   const Clock& clock) {
  const int file = open_path(path);
  if (file < 0) return cannot_open(path);
  return std::unique_ptr<AccessLog>(new AccessLog(path, file, cores, clock));
}

std::unique_ptr<AccessLog> AccessLog::unwritten(std::size_t cores, const Clock& clock) {
  return std::unique_ptr<AccessLog>(new AccessLog({}, -1, cores, clock));
}

Result<void> AccessLog::check(const std::string& path) {
  if (path == "-" || could_open(path)) return {};
  return cannot_open(path);
}

AccessLog::AccessLog(std::string path, int file, std::size_t cores, const Clock& clock)
    : path_(std::move(path)),
      clock_(clock),
      file_(file),
      is_regular_(file >= 0 && is_regular_file(file)) {
  for (std::size_t core = 0; core < cores; ++core) {
    queues_.push_back(std::make_unique<Queue>(*this));
  }
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "access-log");
}

AccessLog::~AccessLog() {
  stop();
  if (is_written()) ::close(file_);
}

Result<LogReader::Taken> AccessLog::follow(const std::string& reader, const LogFilter& filter) {
  auto taken = readers_.take(reader, filter, clock_.steady_now());
  wake_for_sure();
  return taken;
}

void AccessLog::reopen() noexcept {
  reopen_ = true;
  wake();
}

void AccessLog::stop() noexcept {
  if (stopping_.exchange(true)) return;
  wake_for_sure();
  thread_.join();
}

AccessLog::Figures AccessLog::figures() const noexcept {
  Figures out{written_.load(), dropped_.load(), failures_.load()};
  for (const auto& queue : queues_) out.dropped += queue->dropped_.load(std::memory_order_relaxed);
  return out;
}

// The writer holds the mutex from its last look until it waits, so this is not missed.
void AccessLog::wake_for_sure() noexcept {
  const std::lock_guard lock(mutex_);
  changed_.notify_one();
}

void AccessLog::run() {
  while (true) {
    const bool last_round = stopping_;  // read before the queues: nothing is left behind
    if (reopen_.exchange(false)) open_again();
    if (batch_.empty()) fill();
    if (readers_.any()) readers_.forget_silent(clock_.steady_now());
    if (!batch_.empty()) {
      const bool is_stuck = !flush();
      if (is_stuck && last_round) break;
      if (!batch_.empty() && readers_.any()) tell_ahead();
      continue;
    }
    if (last_round) return;
    std::unique_lock lock(mutex_);
    if (stopping_) continue;
    changed_.wait_for(
        lock, is_written() || readers_.any() ? limits::access_log_flush : limits::access_log_idle);
  }
  // Nobody takes it: what is left is counted, not waited for.
  do {
    drop_rest();
    fill();
  } while (!batch_.empty());
}

void AccessLog::tell_ahead() {
  for (const auto& queue : queues_) queue->tell_ahead();
}

void AccessLog::fill() {
  // What a failed write has torn is ended, so that the next line is whole.
  if (mid_line_) batch_ += '\n';
  const std::size_t before = batch_.size();
  for (const auto& queue : queues_) queue->take(batch_);
  if (batch_.size() == before) batch_.clear();
}

// A regular file takes all at once. Of a pipe or a terminal poll() says only that so much can be
// written without waiting.
std::size_t AccessLog::piece_size_bytes() const noexcept {
  const std::string_view rest = std::string_view(batch_).substr(begun_);
  return is_regular_ ? rest.size() : piece_for_pipe(rest).size();
}

bool AccessLog::flush() {
  pollfd ready{file_, POLLOUT, 0};
  if (::poll(&ready, 1, static_cast<int>(limits::access_log_flush.count())) <= 0) return false;
  const std::string_view piece = std::string_view(batch_).substr(begun_, piece_size_bytes());
  const ssize_t wrote = ::write(file_, piece.data(), piece.size());
  if (wrote < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (wrote < 0) {
    fail("written to");
    drop_rest();
    return true;
  }
  if (std::exchange(failing_, false)) log::info("the access log {} is written again", path_);
  const std::string_view done = piece.substr(0, static_cast<std::size_t>(wrote));
  if (!done.empty()) {
    written_ += lines_in(done) - (mends() ? 1 : 0);
    mid_line_ = done.back() != '\n';
    begun_ += done.size();
  }
  if (begun_ == batch_.size()) {
    batch_.clear();
    begun_ = 0;
  }
  return true;
}

// Logged once until it goes well again: a full disk is told of in one line, not in thousands.
void AccessLog::fail(const char* what) noexcept {
  const int code = errno;
  failures_ += 1;
  if (std::exchange(failing_, true)) return;
  log::error("the access log {} can't be {}: {}; what it misses is counted as dropped", path_, what,
             reason(code));
}

void AccessLog::drop_rest() noexcept {
  if (batch_.empty()) return;
  dropped_ += lines_in(std::string_view(batch_).substr(begun_)) - (mends() ? 1 : 0);
  batch_.clear();
  begun_ = 0;
}

void AccessLog::open_again() {
  if (!is_written() || path_ == "-") return;
  const int file = open_path(path_);
  if (file < 0) {
    fail("opened again");
    return;
  }
  ::close(std::exchange(file_, file));
  is_regular_ = is_regular_file(file_);
  failing_ = false;
  if (!std::exchange(mid_line_, false) || batch_.empty()) return;
  // The old file has the beginning of a line: its rest is not for the new one.
  if (begun_ > 0) dropped_ += 1;
  begun_ = batch_.find('\n', begun_) + 1;
  if (begun_ < batch_.size()) return;
  batch_.clear();
  begun_ = 0;
}

}  // namespace ringside::hop
