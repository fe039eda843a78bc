"""Trains a small network on two moons by gradient descent, and prints its error on points it has not seen.

Nothing but the standard library, so that it runs everywhere; your own script would use what it likes.
"""

import argparse
import json
import math
import random


def moons(n, rng):
    """Two half circles that reach into each other, with some noise."""
    data = []
    for i in range(n):
        t, label = rng.uniform(0, math.pi), i % 2
        x, y = (math.cos(t), math.sin(t)) if label == 0 else (1 - math.cos(t), 0.5 - math.sin(t))
        data.append(([x + rng.gauss(0, 0.1), y + rng.gauss(0, 0.1)], label))
    return data


class Network:
    def __init__(self, sizes, activation, bias, rng):
        self.tanh, self.bias = activation == "tanh", bias
        self.layers = [
            ([[rng.gauss(0, 1 / math.sqrt(m)) for _ in range(m)] for _ in range(n)], [0.0] * n)
            for m, n in zip(sizes, sizes[1:])
        ]

    def forward(self, x):
        seen = [x]
        for k, (weights, offsets) in enumerate(self.layers):
            z = [sum(w * v for w, v in zip(row, x)) + b for row, b in zip(weights, offsets)]
            if k + 1 == len(self.layers):
                return seen, z[0]
            x = [math.tanh(v) if self.tanh else max(v, 0.0) for v in z]
            seen.append(x)

    def learn(self, x, label, rate):
        seen, z = self.forward(x)
        delta = [1 / (1 + math.exp(-max(-30.0, min(30.0, z)))) - label]
        for k in range(len(self.layers) - 1, -1, -1):
            weights, offsets = self.layers[k]
            below = [sum(weights[j][i] * delta[j] for j in range(len(delta))) for i in range(len(seen[k]))]
            for j, d in enumerate(delta):
                for i, v in enumerate(seen[k]):
                    weights[j][i] -= rate * d * v
                if self.bias:
                    offsets[j] -= rate * d
            delta = [b * ((1 - v * v) if self.tanh else float(v > 0)) for b, v in zip(below, seen[k])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float)
    parser.add_argument("--width", type=int)
    parser.add_argument("--depth", type=int)
    parser.add_argument("--activation", choices=["relu", "tanh"])
    parser.add_argument("--bias", choices=["true", "false"])
    args = parser.parse_args()

    rng = random.Random(0)
    train, test = moons(80, rng), moons(200, rng)
    net = Network([2] + [args.width] * args.depth + [1], args.activation, args.bias == "true", rng)
    for _ in range(25):
        rng.shuffle(train)
        for x, label in train:
            net.learn(x, label, args.rate)

    loss, wrong = 0.0, 0
    for x, label in test:
        z = max(-30.0, min(30.0, net.forward(x)[1]))
        loss += math.log1p(math.exp(-z if label else z)) / len(test)
        wrong += (z > 0) != bool(label)
    # Attributes are kept with the trial.
    print(json.dumps({"value": loss, "attrs": {"errors": wrong}}))


main()
