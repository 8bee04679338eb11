#include <algorithm>

#include "simulate/page_template.h"
#include "simulate/records.h"

namespace ringside::simulate {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

void append_cell(std::string& out, std::string_view tag, std::string_view text) {
  out.append("<").append(tag).append(">");
  append_escaped(out, text);
  out.append("</").append(tag.substr(0, tag.find(' '))).append(">");
}

std::string table_of(const Report& report) {
  constexpr std::size_t texts = 2;
  std::string out = "<thead><tr>";
  for (const Column& column : columns()) {
    append_cell(out, "th title=\"" + escaped(column.meaning) + "\"", column.title);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Row& row : report.rows) {
    out += row.step == 0 ? "<tr class=\"first\">" : "<tr>";
    const std::size_t known = row.refusal.empty() ? columns().size() : texts;
    for (std::size_t i = 0; i < known; ++i) {
      append_cell(out, i < texts ? "th" : "td", columns()[i].text(report, row));
    }
    if (!row.refusal.empty()) {
      const std::string span = std::to_string(columns().size() - texts);
      append_cell(out, "td class=\"refused\" colspan=\"" + span + "\"", "refused: " + row.refusal);
    }
    out += "</tr>\n";
  }
  return out + "</tbody>";
}

std::string meanings() {
  std::string out;
  for (const Column& column : columns()) {
    if (column.meaning.empty()) continue;
    append_cell(out, "dt", column.title);
    append_cell(out, "dd", column.meaning);
  }
  return out;
}

// JSON that a <script> can hold: nothing in it can end the element.
std::string script_json(const Report& report) {
  using ErrorHandler = nlohmann::ordered_json::error_handler_t;
  const std::string json = json_of(report).dump(-1, ' ', true, ErrorHandler::replace);
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string to_page(const Report& report, const ChartLibrary& library) {
  struct Part {
    std::string_view mark;
    std::string text;
  };
  const std::vector<Part> parts{{"{{title}}", escaped(report.keys_title)},
                                {"{{table}}", table_of(report)},
                                {"{{meanings}}", meanings()},
                                {"{{licence}}", escaped(library.licence)},
                                {"{{library}}", library.program},
                                {"{{report}}", script_json(report)}};
  std::string out;
  std::string_view left = page_template;
  while (true) {
    const std::size_t begin = left.find("{{");
    out += left.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    left.remove_prefix(begin);
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [left](const Part& one) { return left.starts_with(one.mark); });
    // Braces of the page's own.
    out += part == parts.end() ? std::string_view("{{") : part->text;
    left.remove_prefix(part == parts.end() ? 2 : part->mark.size());
  }
}

}  // namespace ringside::simulate
