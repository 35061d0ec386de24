// The smallest program of a user: it links, reads, and catches an error of the library.
#include <sharelearn/data/read.hpp>
#include <sharelearn/run/error.hpp>

int main() {
  sharelearn::Dataset data;
  data.x = sharelearn::DenseMatrix(2, 1);
  data.label = {{"b", "a"}, {0, 1}};
  if (data.rows() != 2 || sharelearn::classes_of(data).names.front() != "a") return 1;
  try {
    sharelearn::ThreadPool threads(1);
    sharelearn::read_dataset("no/such/file", {}, threads);
  } catch (const sharelearn::InputError&) {
    return 0;
  }
  return 1;
}
