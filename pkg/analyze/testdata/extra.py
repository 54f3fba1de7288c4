#!/usr/bin/env python3
"""Writes extra.json: reference values that reference.json lacks, to 25 digits, with mpmath (1.3 or later).

Every value comes from its definition at 60 digits or more, by another route than the Go code: products and sums over
single states, and exact power sums (Bernoulli numbers).
"""
import json
import random
from mpmath import mp, mpf, bernoulli, binomial, exp, expm1, log1p, nstr

mp.dps = 80


def text(x):
    return nstr(x, 25, min_fixed=0, max_fixed=0)


# Sums over single states, for many tries and for spaces close to 2^63.

def states(k, m, n, t):
    q = [(mpf(i) / n) ** t for i in range(k, k + m)]
    hazard = -sum(log1p(-x) for x in q)
    return {
        "p_any_failed": -expm1(-hazard),
        "survival": exp(-hazard),
        "neg_ln_survival": hazard,
        "sum_q": sum(q),
        "next_create_failure": q[0],
    }


def row(quantity, k, m, n, t, value):
    return {"quantity": quantity, "k": str(k), "m": str(m), "N": str(n), "t": t, "value": text(value)}


def many_tries():
    random.seed(4420)
    rows = []
    for n in (1000, 65536, 27**5, 27**8, 27**11, 27**13, 2**63 - 1):
        for t in (2, 8, 100, 128, 1000, 65536, 2**20):
            for _ in range(2):
                depth = mpf(10) ** random.uniform(-3, 2.5)  # -ln q of the last state, about
                k = int(n * exp(-depth / t))
                m = min(n - k, random.choice((1, 2, 70, 300)))
                if m > 0:
                    rows += [row(q, k, m, n, t, v) for q, v in states(k, m, n, t).items()]
    return rows


# Sums over very many states, by exact power sums.

def power_sum(n, x):
    """The sum of i^n over 0 <= i < x, for real x its Faulhaber polynomial."""
    return sum(binomial(n + 1, r) * bernoulli(r) * x ** (n + 1 - r) for r in range(n + 1) if r < 2 or r % 2 == 0) / (n + 1)


def hazard(k, x, n, t):
    total = mpf(0)
    for j in range(1, 100):
        part = (power_sum(t * j, mpf(x)) - power_sum(t * j, mpf(k))) / (j * mpf(n) ** (t * j))
        total += part
        if abs(part) <= abs(total) * mpf(10) ** -50:
            return total
    raise ValueError("too many names for a power series")


LONG = [
    (0, 10**6, 27**5, 8), (0, 2 * 10**6, 27**5, 8), (10**5, 10**6, 27**5, 16), (12345, 10**5, 27**5, 128),
    (0, 58650882988530, 27**11, 8), (10**14, 10**13, 27**11, 12), (10**14, 10**9, 27**11, 24),
    (4 * 10**17, 10**14, 27**13, 24), (10**17, 10**17, 27**13, 33), (0, 3 * 10**17, 2**63 - 1, 13),
    (0, 10**9, 2**63 - 1, 1), (10**18, 20, 2**63 - 1, 1),
]


def long_runs():
    rows = []
    for k, m, n, t in LONG:
        h = hazard(k, k + m, n, t)
        rows.append(row("neg_ln_survival", k, m, n, t, h))
        rows.append(row("p_any_failed", k, m, n, t, -expm1(-h)))
        rows.append(row("sum_q", k, m, n, t, (power_sum(t, mpf(k + m)) - power_sum(t, mpf(k))) / mpf(n) ** t))
    return rows


if __name__ == "__main__":
    parts = {"rows": many_tries() + long_runs()}
    with open(__file__.replace("extra.py", "extra.json"), "w") as out:
        lines = [f'"{name}": [\n' + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]" for name, rows in parts.items()]
        out.write("{\n" + ",\n".join(lines) + "\n}\n")
