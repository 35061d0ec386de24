// The general mixing algorithm exactly as printed in the paper, for tests: dense vectors, one loop per sum,
// every set by itself.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace sharing_reference {

using Vector = std::vector<double>;

struct Set {
  std::vector<std::string> members;  // empty: all classes
  bool plain = false;                // phi = x
  bool holds(const std::string& cls) const {
    if (members.empty()) return true;
    for (const auto& m : members) {
      if (m == cls) return true;
    }
    return false;
  }
};

struct Config {
  bool multi = false;           // one set per class
  std::vector<Set> sets;        // further sets, shared or named
  bool rest_own = false;        // a class in no set gets its own set
  std::string map = "product";  // product, frequency, difference
  bool first = false;           // p = first example
  std::string kernel = "none";  // none, gaussian, polynomial
  double sigma = 1;
  double adagrad = 0;  // rate of adaptive steps; 0: the perceptron
};

class Reference {
 public:
  explicit Reference(Config config) : config_(std::move(config)) {}

  long mistakes = 0, first_occurrences = 0;

  /// Returns the predicted class's name ("" before the first).
  std::string trial(const Vector& x, const std::string& y) {
    std::string predicted;
    double best = 0;
    ++trials_;
    for (const auto& r : classes_) {
      const double s = score(x, r);
      if (predicted.empty() || s > best) predicted = r, best = s;
    }
    const std::map<std::string, double> scores =
        config_.adagrad > 0 ? all_scores(x) : std::map<std::string, double>{};
    if (config_.adagrad > 0) meet_scales(x);
    if (!count_.contains(y)) {
      ++first_occurrences;
      classes_.push_back(y);
      add_sets_of(y);
      sum_[y] = Vector(x.size(), 0);
      count_[y] = 0;
    } else if (config_.adagrad > 0) {
      if (predicted != y) ++mistakes;
      learn_margin(x, y, scores);
    } else if (predicted != y) {
      ++mistakes;
      for (auto& h : hypotheses_) {
        if (h.set.holds(y)) h.support.push_back({phi(h.set, x, y), 1});
        if (h.set.holds(predicted)) h.support.push_back({phi(h.set, x, predicted), -1});
        if (config_.kernel == "none") {
          if (h.w.size() < x.size()) h.w.resize(x.size(), 0);
          const Vector a = phi(h.set, x, y), b = phi(h.set, x, predicted);
          for (std::size_t i = 0; i < x.size(); ++i) {
            h.w[i] += (h.set.holds(y) ? a[i] : 0) - (h.set.holds(predicted) ? b[i] : 0);
          }
        }
      }
    }
    if (!config_.first || count_[y] == 0) {
      for (std::size_t i = 0; i < x.size(); ++i) sum_[y][i] += x[i];
    }
    ++count_[y];
    return predicted;
  }

  double score(const Vector& x, const std::string& r) const {
    double total = 0;
    for (const auto& h : hypotheses_) {
      if (!h.set.holds(r)) continue;
      const Vector z = phi(h.set, x, r);
      double sum = 0;
      if (config_.kernel == "none") {
        for (std::size_t i = 0; i < h.w.size(); ++i) sum += h.w[i] * z[i];
      } else {
        for (const auto& [v, sign] : h.support) sum += sign * kernel(z, v);
      }
      total += sum;
    }
    return total;
  }

 private:
  struct Hypothesis {
    Set set;
    Vector w;
    std::vector<std::pair<Vector, double>> support;
    Vector squares = {};  // adaptive steps
  };

  void meet_scales(const Vector& x) {
    scale_.resize(x.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double size = std::fabs(x[i]);
      if (size > scale_[i]) {
        for (auto& h : hypotheses_) {
          if (i < h.w.size()) h.w[i] *= scale_[i] / size;
        }
        scale_[i] = size;
      }
      if (scale_[i] > 0) spread_ += (size / scale_[i]) * (size / scale_[i]);
    }
  }

  std::map<std::string, double> all_scores(const Vector& x) const {
    std::map<std::string, double> scores;
    for (const auto& r : classes_) scores[r] = score(x, r);
    return scores;
  }

  void learn_margin(const Vector& x, const std::string& y, const std::map<std::string, double>& scores) {
    std::string rival;
    for (const auto& r : classes_) {
      if (r != y && (rival.empty() || scores.at(r) > scores.at(rival))) rival = r;
    }
    if (rival.empty() || scores.at(y) - scores.at(rival) >= 1) return;
    const double rate = config_.adagrad * std::sqrt(static_cast<double>(trials_) / spread_);
    for (auto& h : hypotheses_) {
      const Vector a = phi(h.set, x, y), b = phi(h.set, x, rival);
      h.w.resize(x.size(), 0);
      h.squares.resize(x.size(), 0);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double g = (h.set.holds(y) ? a[i] : 0) - (h.set.holds(rival) ? b[i] : 0);
        h.squares[i] += g * g;
        if (g != 0) h.w[i] += rate * g / (scale_[i] * std::sqrt(h.squares[i]));
      }
    }
  }

  void add_sets_of(const std::string& cls) {
    if (hypotheses_.empty()) {
      for (const Set& s : config_.sets) hypotheses_.push_back({s, {}, {}});
    }
    bool known = false;
    for (const Set& s : config_.sets) known = known || s.holds(cls);
    if (config_.multi || (config_.rest_own && !known)) hypotheses_.push_back({{{cls}, true}, {}, {}});
  }

  Vector phi(const Set& set, const Vector& x, const std::string& r) const {
    if (set.plain) return x;
    Vector out(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double p = sum_.at(r)[i] / (config_.first ? 1.0 : static_cast<double>(count_.at(r)));
      if (config_.kernel != "none")
        out[i] = x[i] - p;
      else if (config_.map == "product")
        out[i] = x[i] * p;
      else if (config_.map == "difference")
        out[i] = std::fabs(x[i] - p);
      else
        out[i] = x[i] == 0 ? 0 : p >= 0.2 ? 2 : p <= 0.02 ? -1 : 0;
    }
    return out;
  }

  double kernel(const Vector& a, const Vector& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += config_.kernel == "gaussian" ? (a[i] - b[i]) * (a[i] - b[i]) : a[i] * b[i];
    }
    return config_.kernel == "gaussian" ? std::exp(-sum / (2 * config_.sigma)) : std::pow(sum + 1, 2);
  }

  Config config_;
  std::vector<std::string> classes_;
  std::map<std::string, Vector> sum_;
  std::map<std::string, long> count_;
  std::vector<Hypothesis> hypotheses_;
  Vector scale_;
  double spread_ = 0;
  long trials_ = 0;
};

}  // namespace sharing_reference
