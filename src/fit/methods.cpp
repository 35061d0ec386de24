// The batch methods, one line each.
#include "sharelearn/fit/cascade.hpp"
#include "sharelearn/fit/fit.hpp"
#include "sharelearn/fit/shareboost.hpp"
#include "sharelearn/fit/structural.hpp"

namespace sharelearn {
namespace {

template <class Options>
class MethodOf : public Method {
 public:
  std::string_view name() const override { return Options::name; }
  std::string_view summary() const override { return Options::summary; }
  FieldTable fields() override { return sharelearn::fields(options_); }
  Fitted fit(const FitData& data, const Context& context, const FitObserver& after_round) override {
    return sharelearn::fit(data, options_, context, after_round);
  }

 private:
  Options options_;
};

}  // namespace

std::vector<std::unique_ptr<Method>> batch_methods() {
  std::vector<std::unique_ptr<Method>> methods;
  methods.push_back(std::make_unique<MethodOf<ShareBoostFit>>());
  methods.push_back(std::make_unique<MethodOf<OneVsRestFit>>());
  methods.push_back(std::make_unique<MethodOf<JointBoostFit>>());
  methods.push_back(std::make_unique<MethodOf<GradBoostFit>>());
  methods.push_back(std::make_unique<MethodOf<AdaBoostFit>>());
  methods.push_back(std::make_unique<MethodOf<CascadeFit>>());
  methods.push_back(std::make_unique<MethodOf<TreeLassoFit>>());
  return methods;
}

}  // namespace sharelearn
