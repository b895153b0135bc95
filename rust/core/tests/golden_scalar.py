#!/usr/bin/env python3
"""Writes golden_scalar.bin: points of the elementary functions in f64, computed by mpmath.

    python3 -m venv v && v/bin/pip install mpmath && v/bin/python golden_scalar.py

Layout, little endian: for each function its name (8 bytes, NUL-padded), number of arguments (u32),
number of points (u32), and for each point the arguments (f64), the correctly rounded result (f64)
and what rounding took away, in 1/254 of the result's spacing (i8).
"""
import math
import os
import random
import struct

import mpmath as mp

mp.mp.prec = 240
RNG = random.Random(20240607)


def uniform(lo, hi, n):
    return [RNG.uniform(lo, hi) for _ in range(n)]


def exponents(lo, hi, n, signs=(1, -1)):
    """Magnitudes spread evenly over the powers of two, denormals included."""
    return [RNG.choice(signs) * math.ldexp(RNG.uniform(1, 2), RNG.randint(lo, hi)) for _ in range(n)]


def around(x, n, reach=40):
    """Neighbours of x at distances from one spacing to a thousandth."""
    out = []
    for _ in range(n):
        d = math.ldexp(RNG.uniform(1, 2), -RNG.randint(10, reach)) * RNG.choice((1, -1))
        out.append(x * (1 + d) if x else d)
    return out + [x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)]


def round_f64(v):
    """Nearest f64 to an mpf, denormals and overflow as IEEE 754 has them."""
    if v == 0:
        return 0.0
    m, e = mp.frexp(abs(v))
    drop = max(0, -1021 - int(e))
    if drop > 53:
        return math.copysign(0.0, mp.sign(v))
    scaled = mp.nint(mp.ldexp(m, 53 - drop))
    return math.ldexp(int(scaled), int(e) - 53 + drop) * int(mp.sign(v)) if e <= 1024 else int(mp.sign(v)) * math.inf


def residual(v, r):
    if math.isinf(r):
        return 0
    return int(mp.nint((v - mp.mpf(r)) / mp.mpf(math.ulp(r)) * 254))


def hard_angles(n):
    """The f64 next to multiples of π/2, where reduction cancels most."""
    return [float(RNG.randint(1, 2**RNG.randint(2, 60)) * mp.pi / 2) * RNG.choice((1, -1)) for _ in range(n)] + [
        6381956970095103.0 * 2.0**797,  # the f64 nearest to a multiple of π/2
    ]


ANGLES = exponents(-1074, 1023, 160) + uniform(-10, 10, 160) + uniform(-1e5, 1e5, 160) + hard_angles(120)
UNIT = uniform(-1, 1, 300) + exponents(-1074, -1, 120) + around(1, 60) + around(-1, 60) + around(0.5, 40)
POSITIVE = exponents(-1074, 1023, 220, (1,)) + uniform(0, 10, 160) + around(1, 160, 52) + uniform(0.5, 2, 100)
LINE = exponents(-1074, 4, 200)


def log_abs_gamma(x):
    return mp.log(abs(mp.gamma(x))) if x < 170 else mp.loggamma(x)


ONE = {
    "exp": (mp.exp, LINE + uniform(-745, 709.7, 300) + uniform(-1, 1, 140) + uniform(-746, -700, 60)),
    "exp2": (lambda x: mp.power(2, x), LINE + uniform(-1074, 1023.9, 300) + uniform(-1, 1, 140) + uniform(-1075, -1020, 60)),
    "expm1": (mp.expm1, LINE + uniform(-50, 709.7, 200) + uniform(-2, 2, 200) + uniform(0.3, 0.4, 40) + uniform(-0.4, -0.3, 40)),
    "ln": (mp.log, POSITIVE),
    "log2": (lambda x: mp.log(x) / mp.log(2), POSITIVE),
    "log10": (lambda x: mp.log(x) / mp.log(10), POSITIVE),
    "log1p": (mp.log1p, [x for x in LINE + UNIT if x > -1] + uniform(-1, 10, 160) + exponents(4, 1023, 80, (1,))),
    "sin": (mp.sin, ANGLES),
    "cos": (mp.cos, ANGLES),
    "tan": (mp.tan, ANGLES),
    "asin": (mp.asin, UNIT),
    "acos": (mp.acos, UNIT),
    "atan": (mp.atan, exponents(-1074, 1023, 240) + uniform(-10, 10, 240) + around(1, 60)),
    "sinh": (mp.sinh, LINE + uniform(-3, 3, 240) + uniform(-710.4, 710.4, 120) + uniform(709, 710.4, 20)),
    "cosh": (mp.cosh, LINE + uniform(-3, 3, 240) + uniform(-710.4, 710.4, 120) + uniform(709, 710.4, 20)),
    "tanh": (mp.tanh, LINE + uniform(-1, 1, 300) + uniform(-22, 22, 140)),
    "asinh": (mp.asinh, exponents(-1074, 1023, 240) + uniform(-10, 10, 300)),
    "acosh": (mp.acosh, exponents(0, 1023, 160, (1,)) + uniform(1, 10, 240) + [x for x in around(1, 200, 52) if x >= 1]),
    "atanh": (mp.atanh, UNIT),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), LINE + uniform(-745, 40, 200) + uniform(-10, 10, 240)),
    "erf": (mp.erf, LINE + uniform(-6, 6, 360) + uniform(-1, 1, 80)),
    "erfc": (mp.erfc, LINE + uniform(-6, 27, 360) + uniform(-1, 1, 80)),
    "erfinv": (mp.erfinv, [x for x in uniform(-1, 1, 120) + exponents(-1074, -1, 60) + around(1, 60, 52) + around(-1, 20, 52) if abs(x) < 1]),
    "lgamma": (log_abs_gamma, exponents(-1074, 1000, 120, (1,)) + exponents(-60, 5, 60) + uniform(0, 40, 160) + uniform(-20, 0, 160) + around(1, 40) + around(2, 40)),
    "digamma": (lambda x: mp.psi(0, x), exponents(-1020, 1000, 120, (1,)) + exponents(-60, 5, 60) + uniform(0, 40, 160) + uniform(-20, 0, 160) + around(1.4616321449683622, 40)),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), POSITIVE[:300]),
}


def powers():
    out = []
    for _ in range(700):
        x = RNG.choice((lambda: RNG.uniform(0, 10), lambda: math.ldexp(RNG.uniform(1, 2), RNG.randint(-1074, 1023)), lambda: 1 + math.ldexp(RNG.uniform(-1, 1), -RNG.randint(1, 50))))()
        if x <= 0:
            continue
        reach = 1080 * math.log(2) / max(abs(math.log(x)), 1e-17)
        y = RNG.uniform(-reach, reach) if RNG.random() < 0.7 else RNG.uniform(-5, 5)
        out.append((x, y))
    for _ in range(60):
        out.append((-RNG.uniform(0, 20), float(RNG.randint(-60, 60))))
    return out


def remainders():
    out = [(3e9, 7.0), (1e20, 7.0), (5.5, 2.0)]
    for _ in range(200):
        out.append((exponents(-1074, 1023, 1)[0], exponents(-1074, 1023, 1)[0]))
    return out + [(RNG.uniform(-1e6, 1e6), RNG.uniform(-10, 10)) for _ in range(100)]


def exact_fmod(x, y):
    r = abs(int(mp.mpf(x) * 2**1074)) % abs(int(mp.mpf(y) * 2**1074))
    with mp.workprec(2200):
        return +(mp.mpf(r) / 2**1074 * (-1 if x < 0 else 1))


def pairs(n):
    return [(exponents(-1074, 1023, 1)[0], exponents(-1074, 1023, 1)[0]) for _ in range(n)] + [
        (RNG.uniform(-10, 10), RNG.uniform(-10, 10)) for _ in range(n)
    ]


TWO = {
    "pow": (lambda x, y: mp.power(mp.mpf(x), int(y)) if x < 0 else mp.power(x, y), powers()),
    "atan2": (mp.atan2, pairs(160)),
    "hypot": (mp.hypot, pairs(120)),
    "fmod": (exact_fmod, remainders()),
}


def main():
    blob = bytearray()
    for table, arity in ((ONE, 1), (TWO, 2)):
        for name, (f, points) in table.items():
            records = []
            for point in points:
                args = point if arity == 2 else (point,)
                with mp.workprec(2400 if name == "fmod" else 240):
                    v = f(*(mp.mpf(a) if name not in ("fmod", "pow") else a for a in args))
                    if not mp.isfinite(v) or isinstance(v, mp.mpc):
                        continue
                    r = round_f64(v)
                    records.append(struct.pack(f"<{arity + 1}db", *args, r, residual(v, r)))
            blob += struct.pack("<8sII", name.encode(), arity, len(records)) + b"".join(records)
            print(name, len(records))
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden_scalar.bin")
    with open(path, "wb") as out:
        out.write(blob)
    print(len(blob), "bytes")


if __name__ == "__main__":
    main()
