#include "export/protobuf.hpp"

#include <gtest/gtest.h>

namespace sharelearn {
namespace {

// The examples of the format's documentation.
TEST(Message, encodes_the_documented_examples) {
  Message number;
  number.integer(1, 150);
  EXPECT_EQ(number.bytes(), "\x08\x96\x01");
  Message text;
  text.text(2, "testing");
  EXPECT_EQ(text.bytes(), "\x12\x07testing");
  Message outer;
  outer.message(3, number);
  EXPECT_EQ(outer.bytes(), "\x1a\x03\x08\x96\x01");
}

TEST(Message, encodes_negative_numbers_zero_and_large_fields) {
  Message message;
  message.integer(1, -2);
  EXPECT_EQ(message.bytes(), "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  Message zero;
  zero.integer(20, 0);
  EXPECT_EQ(zero.bytes(), std::string("\xa0\x01\x00", 3));
}

}  // namespace
}  // namespace sharelearn
