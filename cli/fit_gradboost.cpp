// sharelearn fit gradboost: section 5 of [DuchiSinger09], with the quadratic bound's rows or the fast solver.
#include "methods.hpp"
#include "sharelearn/learn/gradboost.hpp"
#include "sharelearn/penalty/penalties.hpp"
#include "structural_method.hpp"

namespace sharelearn::cli {
namespace {

class GradBoostMethod : public StructuralMethod {
 public:
  std::string_view name() const override { return "gradboost"; }
  std::string_view summary() const override {
    return "GradBoost: l1, l1/l2 and l1/linf penalties, induction, back-pruning, certified paths";
  }

 protected:
  std::shared_ptr<RowUpdate> row_update(const Loss& loss, const Penalty& penalty) const override {
    return std::make_shared<GradBoostUpdate>(loss, penalty);
  }
  std::vector<std::string> penalties() const override { return penalty_names(); }
};

}  // namespace

std::unique_ptr<Method> gradboost_method() {
  return std::make_unique<GradBoostMethod>();
}

}  // namespace sharelearn::cli
