// What `sharing` learned (state/sharing.hpp) as a model. A model file is a checkpoint, too.
#pragma once

#include <string>
#include <vector>

#include "sharelearn/model/model.hpp"
#include "sharelearn/state/sharing.hpp"

namespace sharelearn {

/// preprocessing.columns is 0 where its rows were sparse; preprocessing.names is empty where there are no
/// names, or `features` finds them.
class SharingModel : public Model, public SharingState {
 public:
  using SharingState::SharingState;

  std::string_view kind() const override { return "sharing"; }
  OutputKind outputs_are() const override { return OutputKind::classes; }
  const std::vector<std::string>& output_names() const override { return classes; }
  /// Sparse rows may have any number of columns, unless they are scaled.
  void check_columns(const Dataset& data) const override;
  Index features_used() const override;
  std::string describe() const override;
  nlohmann::json to_json(bool all_stages = false) const override;
  std::string payload() const override;
  static ModelPtr read(std::string_view payload, const std::string& path);

 protected:
  Grid<double> prepared_scores(const Dataset& data, ThreadPool& threads) const override;

 private:
  std::vector<std::uint32_t> ids_of_columns(const Dataset& data) const;
  void read_classes(ByteReader& in);
  void read_hypotheses(ByteReader& in);
  void read_progress(ByteReader& in);
  void read_adaptive(ByteReader& in);
  void read_columns(ByteReader& in);
  void bound_features();
  void check(const ByteReader& in) const;
  void check_supports(const ByteReader& in) const;
};

}  // namespace sharelearn
