// sharelearn fit adaboost: sections 2-4 of [DuchiSinger09], the exponential bound's rows.
#include "methods.hpp"
#include "sharelearn/learn/adaboost.hpp"
#include "sharelearn/run/error.hpp"
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

  void declare(OptionSet& options) override {
    StructuralMethod::declare(options);
    options.add_choice("--template", template_, {"one", "all"},
                       "Features that an update of --solver paper moves: each alone, or all in parallel");
  }
  FitResult fit(FitInput& input) override {
    if (template_ == "all" && (solver_ != "paper" || sequential_)) {
      throw InputError(
          "--template all is an update of all weights: it needs --solver paper, without --sequential");
    }
    return StructuralMethod::fit(input);
  }

 protected:
  std::shared_ptr<RowUpdate> row_update(const Loss& loss, const Penalty& penalty) const override {
    return std::make_shared<AdaBoostUpdate>(
        loss, penalty, template_ == "all" ? AdaBoostTemplate::all : AdaBoostTemplate::one);
  }
  std::vector<std::string> penalties() const override { return {"none", "l1", "l1linf"}; }

 private:
  std::string template_ = "one";
};

}  // namespace

std::unique_ptr<Method> adaboost_method() {
  return std::make_unique<AdaBoostMethod>();
}

}  // namespace sharelearn::cli
