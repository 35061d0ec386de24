#include "learn/learner_bytes.hpp"

#include <limits>

namespace sharelearn {
namespace {

constexpr Index kMost = std::numeric_limits<int>::max();

void write_report(ByteWriter& out, const CorrectiveReport& report) {
  for (const double value :
       {report.objective, report.loss, report.penalty, report.gradient_norm, report.expected_decrease}) {
    write_bits(out, value);
  }
  for (const int count : {report.iterations, report.evaluations, report.passes}) out.index(count);
  out.u8(report.converged ? 1 : 0);
}

CorrectiveReport read_report(ByteReader& in) {
  CorrectiveReport report;
  for (double* value :
       {&report.objective, &report.loss, &report.penalty, &report.gradient_norm, &report.expected_decrease}) {
    *value = read_bits(in);
  }
  for (int* count : {&report.iterations, &report.evaluations, &report.passes})
    *count = static_cast<int>(in.index(0, kMost));
  report.converged = in.u8() != 0;
  return report;
}

}  // namespace

void write_stage(ByteWriter& out, const ShareBoostStage& stage) {
  out.indices(stage.candidates);
  write_bits(out, stage.score);
  out.doubles(stage.weights);
  out.doubles(stage.bias);
  write_report(out, stage.report);
  write_bits(out, stage.seconds);
}

ShareBoostStage read_shareboost_stage(ByteReader& in) {
  ShareBoostStage stage;
  stage.candidates = in.indices(0, std::numeric_limits<Index>::max());
  stage.score = read_bits(in);
  stage.weights = in.doubles();
  stage.bias = in.doubles();
  stage.report = read_report(in);
  stage.seconds = read_bits(in);
  return stage;
}

void write_stage(ByteWriter& out, const StructuralStage& stage) {
  out.indices(stage.columns);
  out.doubles(stage.weights);
  out.doubles(stage.bias);
  for (const double value :
       {stage.lambda, stage.objective, stage.loss, stage.penalty, stage.gap, stage.score, stage.seconds}) {
    write_bits(out, value);
  }
  for (const Index count : {stage.rounds, stage.steps, stage.induced}) out.index(count);
  out.u8(static_cast<std::uint8_t>(stage.stop));
}

StructuralStage read_structural_stage(ByteReader& in, Index columns, Index outputs) {
  StructuralStage stage;
  stage.columns = in.indices(0, columns - 1);
  stage.weights = read_doubles(in, stage.columns.size() * static_cast<std::size_t>(outputs));
  stage.bias = in.doubles();
  for (double* value : {&stage.lambda, &stage.objective, &stage.loss, &stage.penalty, &stage.gap,
                        &stage.score, &stage.seconds}) {
    *value = read_bits(in);
  }
  for (Index* count : {&stage.rounds, &stage.steps, &stage.induced}) *count = in.index(0, Index{1} << 60);
  const std::uint8_t stop = in.u8();
  if (stop > static_cast<std::uint8_t>(StructuralStop::cancelled)) in.damaged("why a stage ended is unknown");
  stage.stop = static_cast<StructuralStop>(stop);
  return stage;
}

void write_level(ByteWriter& out, const CascadeLevel& level) {
  write_bits(out, level.mix);
  write_bits(out, level.phi);
  out.doubles(level.increment.weights);
  out.doubles(level.increment.bias);
  const FistaReport& report = level.report;
  for (const double value : {report.objective, report.loss, report.penalty, report.gap, level.seconds})
    write_bits(out, value);
  out.index(report.iterations);
  out.u8(report.converged ? 1 : 0);
}

CascadeLevel read_level(ByteReader& in, const CompositePoint& like) {
  CascadeLevel level;
  level.mix = read_bits(in);
  level.phi = read_bits(in);
  level.increment.weights = read_doubles(in, like.weights.size());
  level.increment.bias = read_doubles(in, like.bias.size());
  FistaReport& report = level.report;
  for (double* value : {&report.objective, &report.loss, &report.penalty, &report.gap, &level.seconds})
    *value = read_bits(in);
  report.iterations = in.index(0, Index{1} << 60);
  report.converged = in.u8() != 0;
  return level;
}

}  // namespace sharelearn
