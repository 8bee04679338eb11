#include "program/yaml_document.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

#include "base/check.h"
#include "base/limits.h"
#include "shard/quotation.h"

namespace ringside::program {
namespace {

using shard::quotation;

// Leaves the parser from within a handler; never leaves this file.
struct Refusal {
  int line;
  std::string message;
};

int line_of(const YAML::Mark& mark) noexcept { return mark.line + 1; }

// Builds the tree from the parser's events and refuses on the way, so that nothing is held that a
// limit forbids.
class TreeBuilder final : public YAML::EventHandler {
 public:
  [[nodiscard]] YamlValue take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    // yaml-cpp tells of an empty document in this way.
    if (open_.empty()) {
      root_.kind = YamlValue::Kind::map;
      return;
    }
    throw Refusal{last_key_line_ != 0 ? last_key_line_ : line_of(mark),
                  last_key_.empty() ? "an empty value; write one or take the line out"
                                    : fmt::format("{} has no value; write one or take the line out",
                                                  quotation(last_key_))};
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Refusal{line_of(mark), "an alias (*name); write the value out"};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    check(mark, tag, anchor);
    if (awaits_key()) {
      add_key(mark, value);
      return;
    }
    add({YamlValue::Kind::scalar, line_of(mark), value, {}, {}});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlValue::Kind::list);
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(mark, tag, anchor, YamlValue::Kind::map);
  }
  void OnMapEnd() override { open_.pop_back(); }

  void OnAnchor(const YAML::Mark& mark, const std::string& /*anchor_name*/) override {
    throw Refusal{line_of(mark), "an anchor (&name); write the value out where it is needed"};
  }

 private:
  // A list or map that has not ended. `key_given`: its next value belongs to its last key.
  struct Open {
    YamlValue* value;
    bool key_given = false;
  };

  void check(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refusal{line_of(mark), "an anchor (&name); write the value out"};
    // "?" is a plain value, "!" a quoted one.
    if (!tag.empty() && tag != "?" && tag != "!") {
      throw Refusal{line_of(mark), fmt::format("a tag ({}); leave it out", quotation(tag))};
    }
    if (++nodes_ > limits::configuration_nodes) {
      throw Refusal{line_of(mark), fmt::format("more than {} values; configure less",
                                               limits::configuration_nodes)};
    }
  }

  [[nodiscard]] bool awaits_key() const {
    return !open_.empty() && open_.back().value->kind == YamlValue::Kind::map &&
           !open_.back().key_given;
  }

  void add_key(const YAML::Mark& mark, const std::string& key) {
    auto& entries = open_.back().value->entries;
    const auto same = std::find_if(entries.begin(), entries.end(),
                                   [&](const auto& entry) { return entry.key == key; });
    if (same != entries.end()) {
      throw Refusal{line_of(mark), fmt::format("{} stands twice, first in line {}; take one out",
                                               quotation(key), same->line)};
    }
    if (entries.size() >= limits::configuration_map_keys) {
      throw Refusal{line_of(mark), fmt::format("more than {} keys in one map; take some out",
                                               limits::configuration_map_keys)};
    }
    entries.push_back({key, line_of(mark), {}});
    open_.back().key_given = true;
    last_key_ = key;
    last_key_line_ = line_of(mark);
  }

  YamlValue* add(YamlValue value) {
    last_key_.clear();
    last_key_line_ = 0;
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Open& parent = open_.back();
    if (parent.value->kind == YamlValue::Kind::list) {
      return &parent.value->items.emplace_back(std::move(value));
    }
    RINGSIDE_CHECK(parent.key_given);
    parent.key_given = false;
    parent.value->entries.back().value = std::move(value);
    return &parent.value->entries.back().value;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YamlValue::Kind kind) {
    check(mark, tag, anchor);
    if (awaits_key()) throw Refusal{line_of(mark), "a key that is no text; write a name"};
    if (open_.size() >= limits::configuration_depth) {
      throw Refusal{line_of(mark), fmt::format("lists and maps nested deeper than {}; flatten them",
                                               limits::configuration_depth)};
    }
    // Stays where it is: a container grows only after the value that was added last has ended.
    open_.push_back({add({kind, line_of(mark), {}, {}, {}})});
  }

  YamlValue root_;
  std::vector<Open> open_;
  std::size_t nodes_ = 0;
  std::string last_key_;   // without a value yet
  int last_key_line_ = 0;  // 0: none
};

int line_at(std::string_view text, std::size_t position) {
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<long>(position), '\n'));
}

// The parser's own words quote the file as it is, or the mark of its end, a control byte.
std::string in_print(std::string words) {
  for (char& c : words) {
    if (c < ' ' || c > '~') c = '?';
  }
  return words;
}

// The parser takes each of the text's documents by a call of its own.
YamlValue parse_one(std::string_view text) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder builder;
  if (!parser.HandleNextDocument(builder)) {
    YamlValue empty;
    empty.kind = YamlValue::Kind::map;
    return empty;
  }
  YamlValue root = builder.take();
  if (root.kind != YamlValue::Kind::map) {
    throw Refusal{root.line,
                  fmt::format("the file is {}; write `key: value` lines", name(root.kind))};
  }
  TreeBuilder second;
  if (parser.HandleNextDocument(second)) {
    throw Refusal{second.take().line, "a second document; write one a file, without `---` between"};
  }
  return root;
}

}  // namespace

std::string_view name(YamlValue::Kind kind) noexcept {
  switch (kind) {
    case YamlValue::Kind::scalar:
      return "a single value";
    case YamlValue::Kind::list:
      return "a list";
    case YamlValue::Kind::map:
      return "a map";
  }
  return "a value";
}

namespace {

bool is_indented_by_tab(std::string_view text, int line) noexcept {
  for (int number = 1; number < line; ++number) {
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  const auto word = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(0, word).find('\t') != std::string_view::npos;
}

}  // namespace

Result<YamlValue> parse_yaml(std::string_view text, const std::string& file) {
  const auto wrong = [&](int line, std::string_view message) {
    return invalid_input(fmt::format("{}:{}: {}", file, line, message));
  };
  if (text.size() > limits::configuration_size_bytes) {
    return invalid_input(fmt::format("{}:1: larger than {} bytes; is it a configuration file?",
                                     file, limits::configuration_size_bytes));
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return wrong(line_at(text, nul), "a NUL byte; save the file as UTF-8 text");
  }
  // What UTF-16 files begin with, and no UTF-8 has anywhere (RFC 3629 §1).
  if (const std::size_t alien = text.find_first_of("\xfe\xff"); alien != std::string_view::npos) {
    return wrong(line_at(text, alien), "a byte that is no UTF-8; save the file as UTF-8 text");
  }
  try {
    return parse_one(text);
  } catch (const Refusal& refusal) {
    return wrong(refusal.line, refusal.message);
  } catch (const YAML::DeepRecursion& failure) {
    return wrong(std::max(1, line_of(failure.mark)), "nested too deep; flatten it");
  } catch (const YAML::Exception& failure) {
    const int line = std::max(1, line_of(failure.mark));
    if (is_indented_by_tab(text, line)) {
      return wrong(line, "a tab before the first word; YAML is indented by blanks");
    }
    return wrong(line, fmt::format("no valid YAML: {}; mind the indentation and the blank after a "
                                   "colon",
                                   in_print(failure.msg)));
  }
}

}  // namespace ringside::program
