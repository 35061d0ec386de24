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
};

class Reference {
 public:
  explicit Reference(Config config) : config_(std::move(config)) {}

  long mistakes = 0, first_occurrences = 0;

  /// Returns the predicted class's name ("" before the first).
  std::string trial(const Vector& x, const std::string& y) {
    std::string predicted;
    double best = 0;
    for (const auto& r : classes_) {
      const double s = score(x, r);
      if (predicted.empty() || s > best) predicted = r, best = s;
    }
    if (!count_.contains(y)) {
      ++first_occurrences;
      classes_.push_back(y);
      add_sets_of(y);
      sum_[y] = Vector(x.size(), 0);
      count_[y] = 0;
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
  };

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
};

}  // namespace sharing_reference
