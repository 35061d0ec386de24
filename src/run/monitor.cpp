#include "sharelearn/run/monitor.hpp"

namespace sharelearn {

Monitor& silent_monitor() {
  static Monitor silent;
  return silent;
}

}  // namespace sharelearn
