#include "http/name_library.h"

#include <ares.h>

#include "base/check.h"

namespace ringside::http {

void initialise_name_library() {
  static const int status = ares_library_init(ARES_LIB_INIT_ALL);
  RINGSIDE_CHECK(status == ARES_SUCCESS);
}

}  // namespace ringside::http
