// IDX, NPY and NPZ.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "data/temporary_file.hpp"
#include "sharelearn/data/read.hpp"
#include "sharelearn/run/error.hpp"

namespace sharelearn {
namespace {

using test::big_endian;
using test::bytes_of;
using test::npy;
using test::TemporaryFolder;
using test::zip;
using Names = std::vector<std::string>;
using Ids = std::vector<std::int32_t>;

Dataset read(const std::string& path, const ReadOptions& options = {}) {
  ThreadPool threads(2);
  return read_dataset(path, options, threads);
}

std::vector<float> row(const Dataset& data, Index i) {
  std::vector<float> values;
  for (Index j = 0; j < data.columns(); ++j) values.push_back(data.x.dense()(i, j));
  return values;
}

const std::string two_images = std::string("\0\0\x08\x03", 4) + big_endian(2) + big_endian(1) +
                               big_endian(3) + "\x01\x02\xFF\x04\x05\x06";
const std::string two_labels = std::string("\0\0\x08\x01", 4) + big_endian(2) + "\x07\x03";

TEST(read_idx, finds_the_labels_beside_the_images) {
  const TemporaryFolder folder;
  const std::string images = folder.file("t-images-idx3-ubyte", two_images);
  folder.file("t-labels-idx1-ubyte", two_labels);
  const Dataset data = read(images);
  EXPECT_EQ(row(data, 0), (std::vector<float>{1, 2, 255}));
  EXPECT_EQ(row(data, 1), (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(data.label.names, (Names{"7", "3"}));
}

TEST(read_idx, finds_packed_labels_beside_packed_images) {
  const TemporaryFolder folder;
  const std::string images = folder.file("images-idx3-ubyte.gz", test::gzipped(two_images));
  folder.file("labels-idx1-ubyte.gz", test::gzipped(two_labels));
  EXPECT_EQ(read(images).label.id, (Ids{0, 1}));
}

TEST(read_idx, takes_labels_from_the_file_named) {
  const TemporaryFolder folder;
  const std::string images = folder.file("pictures", two_images);
  EXPECT_EQ(read(images, {.labels_file = folder.file("l.txt", "cat\ndog\n")}).label.names,
            (Names{"cat", "dog"}));
  EXPECT_EQ(read(images, {.labels_file = folder.file("l.idx", two_labels)}).label.names, (Names{"7", "3"}));
  EXPECT_TRUE(read(images, {.labels_required = false}).label.empty());
  EXPECT_TRUE(read(images, {.label_column = "none"}).label.empty());
}

TEST(read_idx, reads_every_type) {
  const TemporaryFolder folder;
  const auto values = [&](const std::string& type_and_bytes) {
    const std::string bytes = std::string(2, '\0') + type_and_bytes.substr(0, 1) + '\x02' + big_endian(1) +
                              big_endian(2) + type_and_bytes.substr(1);
    return row(read(folder.file("x", bytes), {.labels_required = false}), 0);
  };
  EXPECT_EQ(values(std::string("\x09\xFF\x05")), (std::vector<float>{-1, 5}));
  EXPECT_EQ(values(std::string("\x0B\xFF\xFE\x01\x00", 5)), (std::vector<float>{-2, 256}));
  EXPECT_EQ(values("\x0C" + big_endian(0xFFFFFFFF) + big_endian(7)), (std::vector<float>{-1, 7}));
  EXPECT_EQ(values("\x0D" + big_endian(0x3FC00000) + big_endian(0xC0000000)), (std::vector<float>{1.5F, -2}));
  EXPECT_EQ(values("\x0E" + big_endian(0x3FF80000) + big_endian(0) + big_endian(0xC0000000) + big_endian(0)),
            (std::vector<float>{1.5F, -2}));
}

TEST(read_npy, takes_the_last_column_as_label) {
  const TemporaryFolder folder;
  const std::string elements = bytes_of<float>({1, 2, 0, 3, 4, 1});
  const Dataset data = read(folder.file("d.npy", npy("<f4", "(2, 3)", elements)));
  EXPECT_EQ(row(data, 0), (std::vector<float>{1, 2}));
  EXPECT_EQ(row(data, 1), (std::vector<float>{3, 4}));
  EXPECT_EQ(data.label.names, (Names{"0", "1"}));
}

TEST(read_npy, reads_fortran_order_types_and_versions) {
  const TemporaryFolder folder;
  const ReadOptions none{.label_column = "none"};
  const auto check = [&](const std::string& bytes) {
    const Dataset data = read(folder.file("d.npy", bytes), none);
    EXPECT_EQ(row(data, 0), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(row(data, 1), (std::vector<float>{4, 5, 6}));
  };
  check(npy("<f8", "(2, 3)", bytes_of<double>({1, 2, 3, 4, 5, 6})));
  check(npy("<f8", "(2, 3)", bytes_of<double>({1, 4, 2, 5, 3, 6}), true));
  check(npy("<i8", "(2, 3)", bytes_of<std::int64_t>({1, 2, 3, 4, 5, 6}), false, 2));
  check(npy("|u1", "(2, 3)", "\x01\x02\x03\x04\x05\x06"));
  check(npy(">i2", "(2, 3)", std::string("\0\1\0\2\0\3\0\4\0\5\0\6", 12)));
  check(npy("<f2", "(2, 3)", bytes_of<std::uint16_t>({0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600})));
  check(npy("<u4", "(2L, 3L)", bytes_of<std::uint32_t>({1, 2, 3, 4, 5, 6})));
}

TEST(read_npy, reads_every_kind_of_float16) {
  const TemporaryFolder folder;
  const std::string elements = bytes_of<std::uint16_t>({0x8000, 0x0001, 0x03FF, 0x0400, 0xBC01, 0x7BFF});
  const Dataset data = read(folder.file("d.npy", npy("<f2", "(1, 6)", elements)), {.label_column = "none"});
  EXPECT_EQ(row(data, 0),
            (std::vector<float>{-0.0f, 0x1p-24f, 1023 * 0x1p-24f, 0x1p-14f, -(1 + 0x1p-10f), 65504}));
  const std::string infinite = npy("<f2", "(1, 2)", bytes_of<std::uint16_t>({0x7C00, 0x3C00}));
  EXPECT_THROW(read(folder.file("d.npy", infinite)), InputError);
}

TEST(read_npy, flattens_more_dimensions_alike_in_both_orders) {
  const TemporaryFolder folder;
  const ReadOptions none{.label_column = "none"};
  // Element [i][a][b] of shape (2, 2, 3) is 6 i + 3 a + b.
  const Dataset c =
      read(folder.file("c.npy", npy("|u1", "(2, 2, 3)", std::string("\0\1\2\3\4\5\6\7\x08\x09\x0A\x0B", 12))),
           none);
  const Dataset f = read(folder.file("f.npy", npy("|u1", "(2, 2, 3)",
                                                  std::string("\0\6\3\x09\1\7\4\x0A\2\x08\5\x0B", 12), true)),
                         none);
  for (Index i = 0; i < 2; ++i) {
    EXPECT_EQ(row(c, i), row(f, i));
    EXPECT_EQ(row(c, i)[4], static_cast<float>(6 * i + 4));
  }
}

TEST(read_npy, finds_labels_of_numbers_or_text_beside_it) {
  const TemporaryFolder folder;
  const std::string x = folder.file("X_train.npy", npy("<f4", "(2, 1)", bytes_of<float>({1, 2})));
  folder.file("y_train.npy", npy("<i8", "(2,)", bytes_of<std::int64_t>({-1, 9007199254740993})));
  EXPECT_EQ(read(x).label.names, (Names{"-1", "9007199254740993"}));
  const std::string z = folder.file("z.npy", npy("<f4", "(2, 1)", bytes_of<float>({1, 2})));
  folder.file("z_labels.npy", npy("<U2", "(2,)", bytes_of<std::uint32_t>({'a', 0, 0xE9, 'b'})));
  EXPECT_EQ(read(z).label.names, (Names{"a",
                                        "\xC3\xA9"
                                        "b"}));
  EXPECT_EQ(read(z, {.labels_file = folder.file("s.npy", npy("|S2", "(2,)", std::string("xyz\0", 4)))})
                .label.id.size(),
            2U);
}

TEST(read_npy, fills_missing_values) {
  const TemporaryFolder folder;
  const std::string bytes =
      npy("<f4", "(3, 1)", bytes_of<float>({1, std::numeric_limits<float>::quiet_NaN(), 5}));
  const Dataset data = read(folder.file("m.npy", bytes), {.label_column = "none", .missing = Missing::mean});
  EXPECT_EQ(data.x.dense()(1, 0), 3);
}

TEST(read_npz, takes_x_and_y) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  const std::string y = npy("|i1", "(2,)", "\x01\xFF");
  const Dataset data = read(folder.file("d.npz", zip({{"y.npy", y}, {"x.npy", x}})));
  EXPECT_EQ(row(data, 1), (std::vector<float>{3, 4}));
  EXPECT_EQ(data.label.names, (Names{"1", "-1"}));
}

TEST(read_npz, takes_the_rows_weights_and_refuses_odd_ones) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  const std::string y = npy("|i1", "(2,)", "\x01\xFF");
  const auto with = [&](const std::string& name, const std::string& weights) {
    return read(folder.file("d.npz", zip({{"y.npy", y}, {"x.npy", x}, {name, weights}})));
  };
  const std::string good = npy("<f8", "(2,)", bytes_of<double>({0.5, 3}));
  EXPECT_EQ(with("weight.npy", good).weight, (std::vector<double>{0.5, 3}));
  EXPECT_EQ(with("sample_weight.npy", good).weight, (std::vector<double>{0.5, 3}));
  EXPECT_TRUE(with("other.npy", good).weight.empty());
  EXPECT_THROW(with("weight.npy", npy("<f8", "(2,)", bytes_of<double>({0.5, -3}))), InputError);
  EXPECT_THROW(with("weight.npy", npy("<f8", "(1,)", bytes_of<double>({0.5}))), InputError);
}

TEST(read_npz, takes_a_single_array_with_the_label_last) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  EXPECT_EQ(read(folder.file("d.npz", zip({{"arr_0.npy", x}}))).label.names, (Names{"2", "4"}));
}

TEST(read_npz, unpacks_members) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  EXPECT_EQ(row(read(folder.file("d.npz", zip({{"arr_0.npy", x}}, true))), 1), (std::vector<float>{3}));
}

std::string message_of(const std::string& path) {
  try {
    read(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(read_npz, refuses_a_member_with_any_bit_wrong) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  const std::string y = npy("|i1", "(2,)", "\x01\xFF");
  for (const bool packed : {false, true}) {
    const std::string whole = zip({{"x.npy", x}, {"y.npy", y}}, packed);
    const std::size_t begin = 30 + 5, end = whole.find("PK\x03\x04", begin);  // of the bytes of x.npy
    const std::size_t padded = packed ? 1 : 0;  // the last byte may hold bits that mean nothing
    for (std::size_t at = begin; at < end - padded; ++at) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
      const std::string message = message_of(folder.file("d.npz", damaged));
      EXPECT_NE(message.find("d.npz': the member 'x.npy' of the NPZ (zip) archive is damaged"),
                std::string::npos)
          << at << ": " << message;
    }
  }
}

/// An archive of one member as ZIP64 writes it, its sizes and places as numbers of 64 bits: size, packed size
/// and place of the member, number of members, places of the directory and of its end. One of them may be
/// `wrong`.
std::string with_long_numbers(const std::string& archive, std::size_t which = 6, std::uint64_t wrong = 0) {
  const std::size_t entry = archive.rfind("PK\x01\x02"), end = archive.rfind("PK\x05\x06");
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, archive.data() + at, sizeof value);
    return std::uint64_t{value};
  };
  const std::size_t directory_bytes = end - entry + 28;
  std::vector<std::uint64_t> numbers{number(entry + 24),     number(entry + 20), number(entry + 42), 1, entry,
                                     entry + directory_bytes};
  if (which < numbers.size()) numbers[which] = wrong;
  const auto bytes = [&](std::size_t at) { return bytes_of<std::uint64_t>({numbers[at]}); };
  std::string directory = archive.substr(entry, end - entry);
  directory.replace(20, 8, 8, '\xFF').replace(30, 1, 1, '\x1C').replace(42, 4, 4, '\xFF');
  directory += std::string("\x01\0\x18\0", 4) + bytes(0) + bytes(1) + bytes(2);
  const std::string long_end = "PK\x06\x06" + std::string(20, '\0') + bytes(3) + bytes(3) +
                               bytes_of<std::uint64_t>({directory_bytes}) + bytes(4);
  const std::string locator = "PK\x06\x07" + std::string(4, '\0') + bytes(5) + std::string("\x01\0\0\0", 4);
  std::string short_end = archive.substr(end);
  short_end.replace(10, 2, 2, '\xFF').replace(16, 4, 4, '\xFF');
  return archive.substr(0, entry) + directory + long_end + locator + short_end;
}

TEST(read_npz, takes_archives_with_numbers_of_64_bits_and_refuses_wrong_ones) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  for (const bool packed : {false, true}) {
    const std::string archive = zip({{"arr_0.npy", x}}, packed);
    EXPECT_EQ(row(read(folder.file("d.npz", with_long_numbers(archive))), 1), (std::vector<float>{3}));
    constexpr std::uint64_t all = ~std::uint64_t{0};
    for (std::size_t which = 0; which < 6; ++which) {
      for (const std::uint64_t wrong :
           {all, all / 2, all / 2 - 29, std::uint64_t{1} << 40, std::uint64_t{0xFFFFFFFF},
            std::uint64_t{archive.size()}, std::uint64_t{7}}) {
        const std::string message =
            message_of(folder.file("d.npz", with_long_numbers(archive, which, wrong)));
        if (message == "no error") {  // a packed member may end before the bytes that it is said to have
          EXPECT_TRUE(packed && which == 1 && wrong == archive.size()) << which << " is " << wrong;
        } else {
          EXPECT_NE(message.find("d.npz"), std::string::npos) << which << " is " << wrong << ": " << message;
        }
      }
    }
  }
}

TEST(read_npz, refuses_a_member_of_another_size_or_checksum_than_its_entry_names) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  for (const bool packed : {false, true}) {
    std::string archive = zip({{"x.npy", x}}, packed);
    const std::size_t entry = archive.rfind("PK\x01\x02");
    ++archive[entry + 16];
    EXPECT_NE(message_of(folder.file("d.npz", archive)).find("checksum (CRC-32)"), std::string::npos);
    --archive[entry + 16];
    ++archive[entry + 24];
    EXPECT_NE(message_of(folder.file("d.npz", archive)).find("its size"), std::string::npos);
  }
}

TEST(read_npz, counts_rows_from_one_in_messages_as_npy_does) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 1)", bytes_of<float>({1, 2}));
  const std::string y = npy("|i1", "(2,)", "\x01\xFF");
  const std::string weight = npy("<f8", "(2,)", bytes_of<double>({0.5, -3}));
  EXPECT_NE(message_of(folder.file("d.npz", zip({{"x.npy", x}, {"y.npy", y}, {"weight.npy", weight}})))
                .find("found -3 in row 2 (the first is 1)"),
            std::string::npos);
}

TEST(read_npz, names_what_is_wrong) {
  const TemporaryFolder folder;
  const std::string x = npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}));
  EXPECT_THROW(read(folder.file("a.npz", zip({{"u.npy", x}, {"v.npy", x}}))), InputError);
  EXPECT_THROW(read(folder.file("b.npz", zip({{"x.npy", x}}).substr(0, 100))), InputError);
  EXPECT_THROW(read(folder.file("c.npz", zip({{"x.npy", x}, {"y.npy", npy("|i1", "(3,)", "abc")}}))),
               InputError);
}

/// scipy.sparse.save_npz() of rows (0, 5, 0), (7, 0, 8), (0, 0, 0), with the entries of a row in any order.
std::vector<std::pair<std::string, std::string>> csr() {
  return {{"indices.npy", npy("<i4", "(3,)", bytes_of<std::int32_t>({1, 2, 0}))},
          {"indptr.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({0, 1, 3, 3}))},
          {"format.npy", npy("|S3", "()", "csr")},
          {"shape.npy", npy("<i8", "(2,)", bytes_of<std::int64_t>({3, 3}))},
          {"data.npy", npy("<f8", "(3,)", bytes_of<double>({5, 8, 7}))}};
}

TEST(read_sparse_npz, takes_csr_and_csc_with_labels_inside_or_beside) {
  const TemporaryFolder folder;
  auto members = csr();
  members.emplace_back("y.npy", npy("|i1", "(3,)", "\x01\x02\x01"));
  const Dataset data = read(folder.file("d.npz", zip(members, true)));
  ASSERT_TRUE(data.x.is_sparse());
  EXPECT_EQ(data.label.names, (Names{"1", "2"}));
  const DenseMatrix x = data.x.to_dense();
  EXPECT_EQ(x(0, 1), 5);
  EXPECT_EQ(x(1, 0), 7);
  EXPECT_EQ(x(1, 2), 8);
  EXPECT_EQ(data.x.sparse().nonzeros(), 3);
  // The same arrays read by columns are the transpose.
  members = csr();
  members[2].second = npy("<U3", "()", bytes_of<std::int32_t>({'c', 's', 'c'}));
  folder.file("y_t.npy", npy("|i1", "(3,)", "\x01\x02\x01"));
  const DenseMatrix turned = read(folder.file("X_t.npz", zip(members))).x.to_dense();
  EXPECT_EQ(turned(1, 0), 5);
  EXPECT_EQ(turned(0, 1), 7);
  EXPECT_EQ(turned(2, 1), 8);
}

TEST(read_sparse_npz, names_what_is_wrong) {
  const TemporaryFolder folder;
  const auto message = [&](std::size_t member, const std::string& content) {
    auto members = csr();
    members[member].second = content;
    return message_of(folder.file("bad.npz", zip(members)));
  };
  EXPECT_NE(message_of(folder.file("bad.npz", zip(csr()))).find("found no labels"), std::string::npos);
  EXPECT_NE(message(0, npy("<i4", "(3,)", bytes_of<std::int32_t>({1, 2, 9}))).find("outside its shape"),
            std::string::npos);
  EXPECT_NE(message(0, npy("<i4", "(3,)", bytes_of<std::int32_t>({1, 2, 2}))).find("two values in column 2"),
            std::string::npos);
  EXPECT_NE(
      message(1, npy("<i4", "(4,)", bytes_of<std::int32_t>({0, 3, 1, 3}))).find("do not fit each other"),
      std::string::npos);
  EXPECT_NE(message(2, npy("|S3", "()", "coo")).find("x.tocsr()"), std::string::npos);
  EXPECT_NE(message(3, npy("<i8", "(2,)", bytes_of<std::int64_t>({-3, 3}))).find("rows and columns"),
            std::string::npos);
  EXPECT_NE(message(3, npy("<i8", "(2,)", bytes_of<std::int64_t>({3, std::int64_t{1} << 60}))).find("2^32"),
            std::string::npos);
}

}  // namespace
}  // namespace sharelearn
