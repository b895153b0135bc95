"""Times PyTorch for the rows that DJL's API lacks: a line of threads, operands and a statement in, times out."""

import sys
import time

try:
    import torch
except ImportError:
    sys.exit(0)


def uniform(shape, dtype, low, high):
    return (low + (high - low) * torch.rand(shape)).to(dtype)


def below(shape, dtype, bound):
    return torch.randint(bound, shape).to(dtype)


def definite(shape, dtype):
    n = shape[-1]
    half = torch.rand(shape).tril()
    return (half + half.tril(-1).T + n * torch.eye(n)).to(dtype)


def sample(run, count):
    start = time.perf_counter_ns()
    for _ in range(count):
        run()
    return (time.perf_counter_ns() - start) / count


def measure(threads, operands, statement):
    torch.set_num_threads(threads)
    names = {"torch": torch, "F": torch.nn.functional, "uniform": uniform, "below": below, "definite": definite}
    exec(operands, names)
    exec(f"def run():\n    {statement}", names)
    run = names["run"]
    # As the JVM's rows: two rounds to warm up, the median of seven, about 60 ms each.
    once = sample(run, 1)
    count = max(1, int(60e6 / max(once, 1)))
    once = sample(run, count)
    count = max(1, int(60e6 / max(once, 1)))
    times = sorted(sample(run, count) for _ in range(7))
    return times[3], times[0], times[-1]


with torch.inference_mode():
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line == "":
            answer = torch.__version__
        else:
            threads, operands, statement = line.split("\t")
            try:
                answer = "= %f %f %f" % measure(int(threads), operands, statement)
            except Exception as e:
                answer = "! " + str(e).split("\n")[0]
        print(answer, flush=True)
