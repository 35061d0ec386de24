// sharelearn fit adaboost: sections 2-4 of paper 004, the exponential bound's rows.
#include "methods.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "structural_method.hpp"

namespace sharelearn::cli {
namespace {

class AdaBoostMethod : public StructuralMethod {
 public:
  AdaBoostMethod() { penalty_ = "l1linf"; }
  std::string_view name() const override { return "adaboost"; }
  std::string_view summary() const override {
    return "AdaBoost with l1 and l1/linf penalties, induction and back-pruning; --sequential: the classical "
           "one";
  }

 protected:
  std::shared_ptr<RowUpdate> row_update(const Loss& loss, const Penalty& penalty) const override {
    return std::make_shared<AdaBoostUpdate>(loss, penalty);
  }
  std::vector<std::string> penalties() const override { return {"none", "l1", "l1linf"}; }
};

}  // namespace

std::unique_ptr<Method> adaboost_method() {
  return std::make_unique<AdaBoostMethod>();
}

}  // namespace sharelearn::cli
