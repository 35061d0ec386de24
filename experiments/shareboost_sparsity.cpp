// Paper 000, section 7.2 and Fig. 3 top: products of columns, ShareBoost against mixed norms.
#include <fmt/core.h>

#include <cmath>

#include "curves.hpp"
#include "mixed_norm.hpp"
#include "uci_sets.hpp"

namespace sharelearn::reproduce {

void shareboost_sparsity(Run& run) {
  const bool quick = run.settings().quick;
  Table table({"set", "features of all", "ShareBoost %", "with ridge %", "L1/Linf %", "ShareBoost CPU s",
               "L1/Linf CPU s"});
  for (const UciSet& set : uci_sets()) {
    if (quick && set.name == "isolet") continue;
    const Problem problem = load(run, set);
    const PoolOptions pool{.name = "products", .squares = false, .with_columns = set.name == "landsat"};
    const double all =
        static_cast<double>(make_pool({problem.train.x}, pool, 1, run.context().threads)->candidates());
    const auto count = static_cast<Index>(std::min(quick ? 20.0 : set.most_products, all));
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
    const Curve mixed = remembered(run, key + " l1linf", [&] {
      return mixed_norm_curve(problem, pool, static_cast<double>(count), run.context());
    });
    for (const double part : {0.0001, 0.0002, 0.0005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}) {
      const double features = std::ceil(part * all - 1e-9);
      if ((features < 2 && part < 0.01) || features > static_cast<double>(count)) continue;
      table.add({set.name, fmt::format("{:.0f} ({}%)", features, 100 * part), percent(ours.at(features)),
                 percent(ridge.at(features)), percent(mixed.at(features)),
                 fmt::format("{:.2f}", ours.seconds_at(features)),
                 fmt::format("{:.2f}", mixed.seconds_at(features))});
    }
    run.show(Plot{set.name + ", products (Fig. 3 top)",
                  "fraction of the products",
                  "test error",
                  true,
                  false,
                  {ours.series("ShareBoost", all), ridge.series("ShareBoost, ridge", all),
                   mixed.series("L1/Linf", all)}},
             "shareboost-sparsity-" + set.name);
  }
  run.show(table, "shareboost-sparsity");
  run.say("The paper prints curves only: ShareBoost's error falls much faster than the mixed norm's.");
}

}  // namespace sharelearn::reproduce
