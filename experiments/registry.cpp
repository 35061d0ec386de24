// The table of experiments: one declaration and one line per experiment.
#include <array>

#include "experiment.hpp"

namespace sharelearn::reproduce {

void shareboost_classes(Run& run);
void shareboost_classes_natural(Run& run);
void shareboost_sparsity(Run& run);
void shareboost_jointboost(Run& run);
void shareboost_examples(Run& run);
void shareboost_mnist(Run& run);
void shareboost_pieces(Run& run);
void structural_text_experiment(Run& run);
void structural_regression_experiment(Run& run);
void structural_landsat_experiment(Run& run);
void structural_mnist_experiment(Run& run);
void structural_race_experiment(Run& run);
void sharing_synthetic_experiment(Run& run);
void sharing_table_experiment(Run& run);
void sharing_streams(Run& run);
void cascade_synthetic(Run& run);
void cascade_digits(Run& run);
void cascade_fewshot(Run& run);
void cascade_characters(Run& run);
void cascade_tasks(Run& run);
void cascade_large(Run& run);
void cascade_transfer(Run& run);

std::span<const Experiment> all_experiments() {
  static const std::array experiments{
      Experiment{"shareboost-classes", "000 Fig. 2: features needed against the number of classes",
                 shareboost_classes},
      Experiment{"shareboost-classes-natural", "000 Fig. 2 on letters cut out of photographs, all 36 classes",
                 shareboost_classes_natural},
      Experiment{"shareboost-sparsity", "000 Fig. 3 top: products, against mixed norms", shareboost_sparsity},
      Experiment{"shareboost-jointboost", "000 Fig. 3 bottom: stumps, against JointBoost",
                 shareboost_jointboost},
      Experiment{"shareboost-examples", "000 section 6: shared features by construction",
                 shareboost_examples},
      Experiment{"shareboost-mnist", "000 Table 1, Figs. 4-6: image templates on MNIST", shareboost_mnist},
      Experiment{"shareboost-pieces", "000 Fig. 7: local linear pieces, against an RBF SVM",
                 shareboost_pieces},
      Experiment{"structural-text", "004 Fig. 4: l1 and smooth-l1 boosting of words on four Reuters topics",
                 structural_text_experiment},
      Experiment{"structural-regression", "004 Fig. 5: products of any degree on Boston housing and Ailerons",
                 structural_regression_experiment},
      Experiment{"structural-landsat",
                 "004 Fig. 6: coverage against sparsity for l1, l1/l2, l1/linf and squared l2",
                 structural_landsat_experiment},
      Experiment{"structural-mnist", "004 Fig. 7: kernel features, coverage against training size",
                 structural_mnist_experiment},
      Experiment{"structural-race", "004 Figs. 7-8: adaboost against gradboost over time",
                 structural_race_experiment},
      Experiment{"sharing-synthetic", "002 Figs. 1-2: multi, single and hybrid on the synthetic sets",
                 sharing_synthetic_experiment},
      Experiment{"sharing-table",
                 "002 Table 1: online mistakes on YaleB, Isolet, Letter and two streams of text",
                 sharing_table_experiment},
      Experiment{"sharing-streams", "streams of text and numbers: mistakes and speed", sharing_streams},
      Experiment{"cascade-synthetic", "003 Fig. 1: 100 tasks in a hierarchy, batch and online",
                 cascade_synthetic},
      Experiment{"cascade-fewshot", "5 to 40 examples per class: the cascade against its special cases",
                 cascade_fewshot},
      Experiment{"cascade-digits", "003 Table 1: USPS and MNIST as 1-vs-rest tasks", cascade_digits},
      Experiment{"cascade-characters", "003 Table 2's shape: Chars74k through random Fourier features",
                 cascade_characters},
      Experiment{"cascade-tasks", "real tasks with rows of their own: landmine and school", cascade_tasks},
      Experiment{"cascade-large", "003 Table 3's shape: 1,000 classes online, time and memory",
                 cascade_large},
      Experiment{"cascade-transfer", "003 Fig. 3a: transfer to new tasks, batch and online",
                 cascade_transfer},
  };
  return experiments;
}

}  // namespace sharelearn::reproduce
