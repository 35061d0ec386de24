#include "sharelearn/state/class_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>

namespace sharelearn {
namespace {

// A list of an eighth of the classes takes a sixth of an array's room, but a search and a branch an entry
// make it slower than the whole array.
constexpr Index kDenseShare = 8;

}  // namespace

ClassTable::Block ClassTable::allocate(std::size_t doubles) {
  auto* p = static_cast<double*>(::operator new (doubles * sizeof(double), std::align_val_t{64}));
  std::memset(p, 0, doubles * sizeof(double));
  return Block(p);
}

void ClassTable::grow_classes(Index classes) {
  if (classes <= capacity_) return;
  const Index old = capacity_;
  while (capacity_ < classes) capacity_ *= 2;
  for (Row& row : rows_) {
    if (row.capacity != kDense) continue;
    Block wider = allocate(static_cast<std::size_t>(capacity_));
    std::memcpy(wider.get(), row.data.get(), static_cast<std::size_t>(old) * sizeof(double));
    row.data = std::move(wider);
  }
}

void ClassTable::make_dense(Row& row) const {
  Block array = allocate(static_cast<std::size_t>(capacity_));
  for (std::uint32_t e = 0; e < row.size; ++e) array[row.classes()[e]] = row.data[e];
  row.data = std::move(array);
  row.capacity = kDense;
}

void ClassTable::enlarge(Row& row) {
  const std::uint32_t wider = row.capacity == 0 ? 2 : row.capacity * 2;
  // `wider` numbers and as many classes of half a number's size.
  Block block = allocate(wider + (wider + 1) / 2);
  if (row.size > 0) {
    std::memcpy(block.get(), row.data.get(), row.size * sizeof(double));
    std::memcpy(block.get() + wider, row.classes(), row.size * sizeof(std::uint32_t));
  }
  row.data = std::move(block);
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
  double* values = row.data.get();
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
  return std::any_of(row.data.get(), row.data.get() + numbers, [](double v) { return v != 0; });
}

Index ClassTable::bytes() const {
  Index total = static_cast<Index>(rows_.capacity() * sizeof(Row));
  for (const Row& row : rows_) {
    total += row.capacity == kDense ? capacity_ * 8 : static_cast<Index>(row.capacity) * 12;
  }
  return total;
}

void ClassTable::write(ByteWriter& out) const {
  out.index(capacity_);
  out.index(features());
  for (const Row& row : rows_) {
    const bool dense = row.capacity == kDense;
    out.u8(dense ? 1 : 0);
    const std::size_t numbers = dense ? static_cast<std::size_t>(capacity_) : row.size;
    out.doubles({row.data.get(), numbers});
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
      row.data = allocate(values.size());
      std::copy(values.begin(), values.end(), row.data.get());
      row.capacity = kDense;
      table.rows_.push_back(std::move(row));
      continue;
    }
    while (row.capacity < values.size()) enlarge(row);
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
