#include <array>

#include "cascade_methods.hpp"
#include "experiment.hpp"

namespace sharelearn::reproduce {

void sharing_synthetic_experiment(Run& run);
void sharing_table_experiment(Run& run);

void structural_text_experiment(Run& run);
void structural_regression_experiment(Run& run);
void structural_landsat_experiment(Run& run);
void structural_mnist_experiment(Run& run);
void structural_race_experiment(Run& run);

std::span<const Experiment> all_experiments() {
  // Declare the function above, then give it a line: {"name", "what it shows", function}.
  static const Experiment experiments[] = {
    {"sharing-synthetic",
     "002 Figs. 1-2: multi, single, hybrid and learned on the synthetic sets, with bounds",
     sharing_synthetic_experiment},
    {"sharing-table", "002 Table 1: online mistakes on YaleB, ISOLET, LETTER, and two streams of text",
     sharing_table_experiment},
    void shareboost_classes(Run & run);
  void shareboost_sparsity(Run & run);
  void shareboost_jointboost(Run & run);
  void shareboost_pieces(Run & run);

  std::span<const Experiment> all_experiments() {
    // Declare the function above, then give it a line: {"name", "what it shows", function}.
    static const std::array experiments = {
        Experiment{"shareboost-classes", "paper 000, Fig. 2: features needed against the number of classes",
                   shareboost_classes},
        Experiment{"shareboost-sparsity", "paper 000, Fig. 3 top: products, against mixed norms",
                   shareboost_sparsity},
        Experiment{"shareboost-jointboost", "paper 000, Fig. 3 bottom: stumps, against JointBoost",
                   shareboost_jointboost},
        Experiment{"shareboost-pieces", "paper 000, Fig. 7: local linear pieces, against an RBF SVM",
                   shareboost_pieces},
    };
    return experiments;
  }
      {"sharing-synthetic",
       "002 Figs. 1-2: multi, single, hybrid and learned on the synthetic sets, with bounds",
       sharing_synthetic_experiment},
      {"sharing-table", "002 Table 1: online mistakes on YaleB, ISOLET, LETTER, and two streams of text",
       sharing_table_experiment},
void shareboost_mnist(Run& run);

std::span<const Experiment> all_experiments() {
  // Declare the function here, then give it a line: {"name", "what it shows", function}.
  static const std::array experiments = {
      Experiment{"shareboost-mnist", "Table 1 and Figures 4 to 6 of paper 000: image templates on MNIST",
                 shareboost_mnist},
      {"structural-text", "004 Fig. 4: l1 and smooth-l1 boosting of words on four Reuters topics",
       structural_text_experiment},
      {"structural-regression", "004 Fig. 5: products of any degree on Boston housing and Ailerons",
       structural_regression_experiment},
      {"structural-landsat", "004 Fig. 6: coverage against sparsity for l1, l1/l2, l1/linf and squared l2",
       structural_landsat_experiment},
      {"structural-mnist", "004 Fig. 7: coverage against training size with kernel features",
       structural_mnist_experiment},
      {"structural-race", "004 Figs. 7-8: AdaBoost against GradBoost, objective and features against time",
       structural_race_experiment},
      Experiment{"cascade-synthetic",
                 "Fig. 1 of paper 003: 100 tasks in a hierarchy, over sample sizes and irrelevant features",
                 cascade_synthetic},
      Experiment{"cascade-digits", "Table 1 of paper 003: USPS and MNIST as 1-vs-rest tasks", cascade_digits},
      Experiment{"cascade-characters",
                 "Table 2's shape of paper 003: Chars74k through random Fourier features",
                 cascade_characters},
      Experiment{"cascade-tasks", "Tasks with rows of their own: landmine and school", cascade_tasks},
      Experiment{"cascade-large",
                 "Table 3's shape of paper 003: 1,000 classes online, time, memory and regret",
                 cascade_large},
      Experiment{"cascade-transfer", "Fig. 3a of paper 003: a new task beside 99 known ones",
                 cascade_transfer},
  };
  return experiments;
}

}  // namespace sharelearn::reproduce
