#include "http/content_coding.h"

#include <gtest/gtest.h>

namespace ringside::http {
namespace {

using Classes = std::vector<std::string>;

struct ClassesRow {
  std::string accept_encoding;
  std::string expected;  // empty: none
};

void expect_classes(const Classes& classes, const std::vector<ClassesRow>& rows) {
  for (const ClassesRow& row : rows) {
    Fields request;
    request.add("Accept-Encoding", row.accept_encoding);
    EXPECT_EQ(content_coding_class(request, classes).value_or(""), row.expected)
        << row.accept_encoding;
  }
}

TEST(ContentCoding, Rfc9110Section12_5_3TheFirstClassThatIsAccepted) {
  expect_classes({"br", "gzip"}, {
                                     {"gzip, deflate, br", "br"},
                                     {"gzip", "gzip"},
                                     {"GZIP , Br", "br"},
                                     {"x-gzip", "gzip"},
                                     {"deflate, zstd", ""},
                                     {"br;q=0, gzip", "gzip"},
                                     {"br;q=0.001, gzip;q=1", "br"},
                                     {"br ; q=0.0 , gzip ;\tQ=1.000", "gzip"},
                                     {"*", "br"},
                                     {"*;q=0", ""},
                                     {"br;q=0, *", "gzip"},
                                     {"*;q=0, gzip;q=0.5", "gzip"},
                                     {"*;q=0.5, br;q=0, gzip;q=0", ""},
                                     {"identity", ""},
                                     {"identity;q=0", ""},
                                     {"", ""},
                                     {",, gzip ,", "gzip"},
                                     {"gzipped, brotli", ""},
                                     {"gzip, gzip;q=0", "gzip"},
                                     {"gzip;q=0, x-gzip", ""},
                                 });
}

TEST(ContentCoding, Rfc9110Section12_4_2AWeightThatIsNoneIsZero) {
  expect_classes({"gzip"}, {
                               {"gzip;q=1", "gzip"},
                               {"gzip;q=1.", "gzip"},
                               {"gzip;q=1.000", "gzip"},
                               {"gzip;q=0.999", "gzip"},
                               {"gzip;q=0", ""},
                               {"gzip;q=0.", ""},
                               {"gzip;q=0.000", ""},
                               {"gzip;q=1.001", ""},
                               {"gzip;q=2", ""},
                               {"gzip;q=0.0001", ""},
                               {"gzip;q=", ""},
                               {"gzip;q", ""},
                               {"gzip;", ""},
                               {"gzip;p=1", ""},
                               {"gzip;q=.5", ""},
                               {"gzip;q=-1", ""},
                               {"gzip;q=1;x=y", ""},
                               {"gzip;q=0x1", ""},
                           });
}

TEST(ContentCoding, Rfc9110Section12_5_3IdentityIsAcceptedUnlessItIsRefused) {
  expect_classes({"gzip", "identity"}, {
                                           {"gzip", "gzip"},
                                           {"br", "identity"},
                                           {"", "identity"},
                                           {"identity;q=0.5", "identity"},
                                           {"br, identity;q=0", ""},
                                           {"br, *;q=0", ""},
                                           {"*;q=0, identity", "identity"},
                                           {"gzip;q=0, *;q=0.1", "identity"},
                                       });
}

TEST(ContentCoding, Rfc9110Section8_4_1AliasesAreTheCodingsThemselves) {
  expect_classes({"compress", "x-gzip"}, {{"x-compress", "compress"}, {"gzip", "x-gzip"}});
}

TEST(ContentCoding, OfAllLinesAndOfNone) {
  const Classes classes{"br", "gzip"};
  Fields request;
  EXPECT_FALSE(content_coding_class(request, classes));
  request.add("accept-encoding", "deflate");
  request.add("ACCEPT-ENCODING", "gzip");
  EXPECT_EQ(content_coding_class(request, classes), "gzip");
  EXPECT_FALSE(content_coding_class(request, {}));
}

}  // namespace
}  // namespace ringside::http
