// The smallest program of somebody else's: it links, reads, and catches what the library throws.
#include <sharelearn/data/generate.hpp>
#include <sharelearn/data/read.hpp>
#include <sharelearn/run/error.hpp>

int main() {
  const sharelearn::Dataset data = sharelearn::generate("binary-code", {.classes = 8});
  if (data.rows() != 8 || sharelearn::classes_of(data).count() != 8) return 1;
  try {
    sharelearn::ThreadPool threads(1);
    sharelearn::read_dataset("no/such/file", {}, threads);
  } catch (const sharelearn::InputError&) {
    return 0;
  }
  return 1;
}
