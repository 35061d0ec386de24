#include "sharelearn/state/class_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

#include "run/large_pages.hpp"

namespace sharelearn {
namespace {

// A list of an eighth of the classes takes a sixth of an array's room, but a search and a branch an entry
// make it slower than the whole array.
constexpr Index kDenseShare = 8;

constexpr std::size_t kAligned = 8;                  // doubles in 64 bytes
constexpr std::size_t kLeast = std::size_t{1} << 9;  // doubles in the first block
constexpr std::size_t kMost = std::size_t{1} << 20;  // doubles in a later one, in large pages

/// A list holds numbers and as many classes, of half a number's size.
std::size_t numbers_of_list(std::uint32_t capacity) {
  return capacity + (capacity + 1) / 2;
}

}  // namespace

void ClassTable::Places::reserve(std::size_t numbers) {
  const std::size_t bytes = numbers * sizeof(double);
  Block block{nullptr, numbers};
  block.numbers.reset(static_cast<double*>(::operator new (bytes, std::align_val_t{64})));
  prefer_large_pages(block.numbers.get(), bytes);
  blocks_.push_back(std::move(block));
}

double* ClassTable::Places::take(std::size_t numbers, std::size_t aligned) {
  const auto start = [&](const Block& block) { return (block.used + aligned - 1) / aligned * aligned; };
  if (blocks_.empty() || start(blocks_.back()) + numbers > blocks_.back().size) {
    const std::size_t used = static_cast<std::size_t>(bytes_) / sizeof(double);
    reserve(std::max(numbers, std::clamp(4 * used, kLeast, kMost)));
  }
  Block& block = blocks_.back();
  const std::size_t first = start(block);
  block.used = first + numbers;
  bytes_ += static_cast<Index>(numbers * sizeof(double));
  return block.numbers.get() + first;
}

double* ClassTable::Places::of_list(std::uint32_t capacity) {
  std::vector<double*>& unused = unused_[static_cast<std::size_t>(std::countr_zero(capacity))];
  if (unused.empty()) return take(numbers_of_list(capacity), 1);
  double* const place = unused.back();
  unused.pop_back();
  return place;
}

void ClassTable::Places::give_back(double* list, std::uint32_t capacity) {
  if (list != nullptr) unused_[static_cast<std::size_t>(std::countr_zero(capacity))].push_back(list);
}

double* ClassTable::Places::of_array(Index classes) {
  const auto numbers = static_cast<std::size_t>(classes);
  double* const place = take(numbers, kAligned);
  std::memset(place, 0, numbers * sizeof(double));
  return place;
}

// All rows move to a new block, so the old ones leave no holes. Arrays come first: they need no gaps.
void ClassTable::grow_classes(Index classes) {
  if (classes <= capacity_) return;
  Index wider = capacity_;
  while (wider < classes) wider *= 2;
  std::size_t numbers = 0;
  for (const Row& row : rows_)
    numbers += row.capacity == kDense ? static_cast<std::size_t>(wider) : numbers_of_list(row.capacity);
  Places places;
  if (numbers > 0) places.reserve(numbers);
  for (Row& row : rows_) {
    if (row.capacity != kDense) continue;
    double* const array = places.of_array(wider);
    row.data = std::copy_n(row.data, capacity_, array) - capacity_;
  }
  for (Row& row : rows_) {
    if (row.capacity == kDense || row.data == nullptr) continue;
    double* const list = places.of_list(row.capacity);
    std::memcpy(list, row.data, numbers_of_list(row.capacity) * sizeof(double));
    row.data = list;
  }
  places_ = std::move(places);
  capacity_ = wider;
}

void ClassTable::make_dense(Row& row) {
  double* const array = places_.of_array(capacity_);
  for (std::uint32_t e = 0; e < row.size; ++e) array[row.classes()[e]] = row.data[e];
  places_.give_back(row.data, row.capacity);
  row.data = array;
  row.capacity = kDense;
}

void ClassTable::enlarge(Row& row) {
  const std::uint32_t wider = row.capacity == 0 ? 2 : row.capacity * 2;
  double* const list = places_.of_list(wider);
  if (row.size > 0) {
    std::memcpy(list, row.data, row.size * sizeof(double));
    std::memcpy(list + wider, row.classes(), row.size * sizeof(std::uint32_t));
  }
  places_.give_back(row.data, row.capacity);
  row.data = list;
  row.capacity = wider;
}

double& ClassTable::sparse_at(Row& row, Index cls) {
  const auto wanted = static_cast<std::uint32_t>(cls);
  std::uint32_t at = 0;
  if (row.size > 0) {
    const std::uint32_t* begin = row.classes();
    at = static_cast<std::uint32_t>(std::lower_bound(begin, begin + row.size, wanted) - begin);
    if (at < row.size && begin[at] == wanted) return row.data[at];
  }
  if (kDenseShare * (row.size + 1) >= capacity_) {
    make_dense(row);
    return row.data[wanted];
  }
  if (row.size == row.capacity) enlarge(row);
  double* values = row.data;
  std::uint32_t* classes = row.classes();
  std::memmove(values + at + 1, values + at, (row.size - at) * sizeof(double));
  std::memmove(classes + at + 1, classes + at, (row.size - at) * sizeof(std::uint32_t));
  values[at] = 0;
  classes[at] = wanted;
  ++row.size;
  return values[at];
}

double ClassTable::value(Index feature, Index cls) const {
  const RowView r = row(feature);
  if (r.empty()) return 0;
  if (r.dense()) return r.value[cls];
  const auto* found = std::lower_bound(r.cls, r.cls + r.size, static_cast<std::uint32_t>(cls));
  return found != r.cls + r.size && *found == static_cast<std::uint32_t>(cls) ? r.value[found - r.cls] : 0;
}

void ClassTable::multiply(Index feature, double factor) {
  if (feature >= features()) return;
  Row& row = rows_[static_cast<std::size_t>(feature)];
  const Index numbers = row.capacity == kDense ? capacity_ : static_cast<Index>(row.size);
  for (Index i = 0; i < numbers; ++i) row.data[static_cast<std::size_t>(i)] *= factor;
}

bool ClassTable::uses(Index feature) const {
  if (feature >= features()) return false;
  const Row& row = rows_[static_cast<std::size_t>(feature)];
  const Index numbers = row.capacity == kDense ? capacity_ : static_cast<Index>(row.size);
  return std::any_of(row.data, row.data + numbers, [](double v) { return v != 0; });
}

Index ClassTable::bytes() const {
  return static_cast<Index>(rows_.capacity() * sizeof(Row)) + places_.bytes();
}

void ClassTable::write(ByteWriter& out) const {
  out.index(capacity_);
  out.index(features());
  for (const Row& row : rows_) {
    const bool dense = row.capacity == kDense;
    out.u8(dense ? 1 : 0);
    const std::size_t numbers = dense ? static_cast<std::size_t>(capacity_) : row.size;
    out.doubles({row.data, numbers});
    if (dense) continue;
    for (std::uint32_t e = 0; e < row.size; ++e) out.u32(row.classes()[e]);
  }
}

ClassTable ClassTable::read(ByteReader& in, Index limit) {
  ClassTable table;
  table.capacity_ = in.index(8, Index{1} << 31);
  Index widest = 8;
  while (widest < limit) widest *= 2;
  if (!std::has_single_bit(static_cast<std::uint64_t>(table.capacity_)) || table.capacity_ > widest) {
    in.damaged("a table has the wrong width");
  }
  const Index features = in.index(0, std::numeric_limits<std::uint32_t>::max());
  for (Index f = 0; f < features; ++f) {
    Row row;
    const bool dense = in.u8() != 0;
    const std::vector<double> values = in.doubles();
    if (dense) {
      if (static_cast<Index>(values.size()) != table.capacity_) in.damaged("a row is too short or too long");
      row.data = table.places_.of_array(table.capacity_);
      std::copy(values.begin(), values.end(), row.data);
      row.capacity = kDense;
      table.rows_.push_back(std::move(row));
      continue;
    }
    while (row.capacity < values.size()) table.enlarge(row);
    row.size = static_cast<std::uint32_t>(values.size());
    for (std::size_t e = 0; e < values.size(); ++e) {
      row.data[e] = values[e];
      row.classes()[e] = in.u32();
      if (row.classes()[e] >= std::min(limit, table.capacity_) ||
          (e > 0 && row.classes()[e] <= row.classes()[e - 1])) {
        in.damaged("classes of a row do not ascend");
      }
    }
    table.rows_.push_back(std::move(row));
  }
  table.grow_classes(limit);  // sets that no weight was ever given have no room in it yet
  return table;
}

}  // namespace sharelearn
