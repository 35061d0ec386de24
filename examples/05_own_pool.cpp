// A user-defined pool: products of neighbouring pixels in a row. The pool answers two questions: how well
// does every candidate fit a residual, and what are the values of one candidate? The chosen products become
// features of the library, so that models can be saved and loaded.
#include <cstdio>
#include <sharelearn/data/read.hpp>
#include <sharelearn/fit/evaluate.hpp>
#include <sharelearn/fit/shareboost.hpp>
#include <sharelearn/pool/products.hpp>

using namespace sharelearn;

class NeighbourPool : public Pool {
 public:
  explicit NeighbourPool(ColumnView x) : x_(std::move(x)) {}
  std::string_view name() const override { return "neighbours"; }
  Index rows() const override { return x_.rows(); }
  Index candidates() const override { return x_.cols() - 1; }
  Index blocks() const override { return candidates(); }
  void correlate(const Grid<float>& residual, ThreadPool& threads, const BlockVisitor& visit) const override {
    threads.for_each(candidates(), [&](Index candidate, int worker) {
      Grid<float> column(rows(), 1);
      values(candidate, column, 0);
      const RowTree tree(rows());
      TreeSum sum(static_cast<std::size_t>(residual.cols()));
      for (Index leaf = 0; leaf < tree.leaves(); ++leaf, sum.close_leaf()) {
        for (Index c = 0; c < residual.cols(); ++c) {
          double& total = sum.leaf()[static_cast<std::size_t>(c)];
          for (Index i = tree.leaf(leaf).begin; i < tree.leaf(leaf).end; ++i)
            total += static_cast<double>(column(i, 0)) * static_cast<double>(residual(i, c));
        }
      }
      std::vector<double> sums(static_cast<std::size_t>(residual.cols()));
      sum.finish(sums);
      visit({.block = candidate, .first = candidate, .count = 1, .sums = sums.data()}, worker);
    });
  }
  void values(Index candidate, Grid<float>& out, Index first) const override {
    feature(candidate)->evaluate(x_, out, first);
  }
  FeaturePtr feature(Index candidate) const override {
    return std::make_shared<ProductFeature>(candidate, candidate + 1);
  }

 private:
  ColumnView x_;
};

int main() {
  ThreadPool threads;
  const Dataset digits = read_dataset("examples/data/digits.csv.gz", {}, threads);
  ShareBoostFit options{.features = 20, .ridge = 1e-3};
  options.pool.own = [](const PoolData& data, std::uint64_t, ThreadPool&) -> std::unique_ptr<Pool> {
    return std::make_unique<NeighbourPool>(data.x);
  };
  save_model(*fit({digits}, options, {threads}).model, "neighbours.shl");
  std::printf("error with 20 products: %.3f\n",
              evaluate(*load_model("neighbours.shl"), digits, threads).classes->error);
}
