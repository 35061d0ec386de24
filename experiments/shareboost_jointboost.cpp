// Paper 000, section 7.3 and Fig. 3 bottom: ShareBoost against JointBoost with stumps.
#include <fmt/core.h>

#include <cmath>

#include "curves.hpp"
#include "uci_sets.hpp"

namespace sharelearn::reproduce {

void shareboost_jointboost(Run& run) {
  Table table({"set", "stumps of all", "ShareBoost %", "with ridge %", "JointBoost %", "one-vs-rest %",
               "ShareBoost CPU s", "JointBoost CPU s"});
  for (const UciSet& set : uci_sets()) {
    const Problem problem = load(run, set);
    const PoolOptions pool{.name = "stumps", .bins = set.bins};
    const double all =
        static_cast<double>(make_pool({problem.train.x}, pool, 1, run.context().threads)->candidates());
    const bool quick = run.settings().quick;
    const double largest = quick ? 20 : std::min(0.05 * all, set.most_stumps);
    const auto count = static_cast<Index>(largest);
    const std::string key = fmt::format("{} {}", set.name, count);
    const Curve ours = remembered(run, key + " shareboost", [&] {
      return shareboost_curve(problem, pool, usual_options(count, 0), run.context());
    });
    const double chosen = run.remember(key + " ridge by validation", [&] {
      return std::vector{validated_ridge(problem, pool, count, run.context())};
    })[0];
    run.say(fmt::format("{}: ridge {} chosen on a fifth of the training rows", set.name, chosen));
    const Curve ridge = remembered(run, key + fmt::format(" ridge {}", chosen), [&] {
      return shareboost_curve(problem, pool, usual_options(count, chosen), run.context());
    });
    const Curve joint = remembered(run, key + " jointboost", [&] {
      return jointboost_curve(problem, set.bins, 2 * count, run.context());
    });
    const Curve apart = remembered(run, key + " onevsrest", [&] {
      const Index each = std::max<Index>(1, 2 * count / problem.classes.count());
      return onevsrest_curve(problem, pool, usual_options(each, 1e-5), run.context());
    });
    for (const double part : {0.001, 0.002, 0.005, 0.01, 0.02, 0.05}) {
      const double stumps = std::floor(part * all);
      if (stumps < 1 || stumps > largest) continue;
      table.add({set.name, fmt::format("{:.0f} ({}%)", stumps, 100 * part), percent(ours.at(stumps)),
                 percent(ridge.at(stumps)), percent(joint.at(stumps)), percent(apart.at(stumps)),
                 fmt::format("{:.2f}", ours.seconds_at(stumps)),
                 fmt::format("{:.2f}", joint.seconds_at(stumps))});
    }
    run.show(Plot{set.name + ", stumps (Fig. 3 bottom)",
                  "fraction of the stumps",
                  "test error",
                  true,
                  false,
                  {ours.series("ShareBoost", all), ridge.series("ShareBoost, ridge", all),
                   joint.series("JointBoost", all), apart.series("one-vs-rest", all)}},
             "shareboost-jointboost-" + set.name);
  }
  run.show(table, "shareboost-jointboost");
  run.say(
      "The paper prints curves only: ShareBoost's error falls much faster than JointBoost's on all three.");
}

}  // namespace sharelearn::reproduce
