#!/usr/bin/env python3
"""The RBF SVM that the experiment shareboost-pieces is compared with: LIBSVM (through scikit-learn) on the first
principal components of MNIST.

    python3 bench/peers/pieces_svm.py --data DIR [--rows 60000] [--components 50] [--C 10] [--gamma 0.02]

Pixels are scaled to [0, 1]; components are not rescaled. Prints error, number of support vectors and CPU seconds.
"""
import argparse
import gzip
import os
import resource

import numpy as np
from sklearn.decomposition import PCA
from sklearn.svm import SVC


def idx(path):
    with gzip.open(path) as file:
        raw = file.read()
    dims = [int.from_bytes(raw[4 + 4 * i : 8 + 4 * i], "big") for i in range(raw[3])]
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * len(dims)).reshape(dims[0], -1)


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--rows", type=int, default=60000)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--C", type=float, default=10)
    parser.add_argument("--gamma", type=float, default=0.02)
    options = parser.parse_args()

    def read(part, what):
        return idx(os.path.join(options.data, f"mnist/{part}-{what}.gz"))

    x = read("train", "images-idx3-ubyte")[: options.rows] / 255.0
    y = read("train", "labels-idx1-ubyte")[: options.rows, 0]
    x_test, y_test = read("t10k", "images-idx3-ubyte") / 255.0, read("t10k", "labels-idx1-ubyte")[:, 0]
    pca = PCA(options.components, svd_solver="full").fit(x)
    z, z_test = pca.transform(x), pca.transform(x_test)
    before = cpu()
    svm = SVC(C=options.C, gamma=options.gamma, cache_size=1000).fit(z, y)
    trained = cpu() - before
    before = cpu()
    error = np.mean(svm.predict(z_test) != y_test)
    print(f"RBF SVM, {len(x)} rows, PCA-{options.components}, C {options.C}, gamma {options.gamma}: "
          f"{100 * error:.2f}% error, {svm.n_support_.sum()} support vectors, {trained:.0f} CPU s to train, "
          f"{1e6 * (cpu() - before) / len(x_test):.0f} us a row")


if __name__ == "__main__":
    main()
