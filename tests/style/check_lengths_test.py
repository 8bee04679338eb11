"""scripts/check-lengths finds long files and functions, and entries of its list that need not be."""

import unittest

from project import ROOT, ProjectTest

TRICKY = '''
#define OPEN {
namespace ringside {
const char* brace = "{";  // {
/* { */
char c = '{';
std::string raw = R"x({{{ )")x";
int million = 1'000'000;
}  // namespace ringside
'''


def function(lines: int, head: str = "int f(int x) {") -> str:
    """A C++ function of that many lines."""
    return head + "\n" + "  x();\n" * (lines - 2) + "}\n"


class Lengths(ProjectTest):
    def check(self) -> tuple[int, str]:
        done = self.run_script(ROOT / "scripts/check-lengths", "--root", self.folder)
        return done.returncode, done.stdout

    def test_what_is_just_short_enough_passes(self) -> None:
        self.write("base/a.cc", TRICKY + function(60) + function(60))
        self.write("base/b.h", "\n" * 400)
        self.assertEqual(self.check(), (0, ""))

    def test_a_long_file_is_found(self) -> None:
        for path in ("base/a.cc", "http/a.h", "tests/style/a.py", "scripts/tool"):
            with self.subTest(path=path):
                file = self.write(path, "\n" * 401)
                self.assertEqual(self.check(), (1, f"{path}: 401 lines, more than 400\n"))
                file.unlink()

    def test_a_long_function_is_found(self) -> None:
        heads = [
            "int f(int x) {",
            "Result<void> Door::f(int x) const noexcept {",
            "auto f(int x) -> Result<int> {",
            "Door::f(int x) : Base(x), size_(x) {",
            "template <class T> requires std::integral<T> bool f(T x) {",
            "TEST(Door, f) {",
        ]
        for head in heads:
            with self.subTest(head=head):
                self.write("base/a.cc", TRICKY + "namespace n {\n" + function(61, head) + "}\n")
                code, said = self.check()
                self.assertEqual(code, 1)
                self.assertRegex(said, r"^base/a\.cc:11: .*: 61 lines, more than 60\n$")

    def test_a_long_method_is_found(self) -> None:
        self.write("base/a.h", "struct S {\n  int i = 0;\n" + function(61) + "};\n")
        self.assertEqual(self.check(), (1, "base/a.h:3: f: 61 lines, more than 60\n"))

    def test_a_long_class_or_table_is_no_function(self) -> None:
        for head in ("struct S {", "enum class E {", "const int table[] = {", "namespace n {"):
            self.write(f"base/{len(head)}.h", head + "\n" + "  1,\n" * 100 + "};\n")
        self.assertEqual(self.check(), (0, ""))

    def test_a_long_python_function_is_found(self) -> None:
        self.write("scripts/tool.py", "def f():\n" + "    g()\n" * 60)
        self.assertEqual(self.check(), (1, "scripts/tool.py:1: f: 61 lines, more than 60\n"))

    def test_the_list_allows_with_a_reason(self) -> None:
        self.write("base/a.cc", function(61))
        self.write("scripts/long-things", "# words\nbase/a.cc:f one table\n")
        self.assertEqual(self.check(), (0, ""))
        self.write("scripts/long-things", "base/a.cc:f\n")
        self.assertEqual(self.check(), (1, "scripts/long-things: base/a.cc:f gives no reason\n"))

    def test_an_entry_that_nothing_needs_is_a_mistake(self) -> None:
        self.write("base/a.cc", function(60))
        self.write("scripts/long-things", "base/a.cc:f one table\n")
        self.assertEqual(self.check(), (1, "scripts/long-things: base/a.cc:f is not long\n"))


if __name__ == "__main__":
    unittest.main()
