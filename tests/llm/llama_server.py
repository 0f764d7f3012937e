"""llama.cpp's own server as a process: ``python llama_server.py MODEL.gguf``, until its input ends.

Needs the package ``xllamacpp``. Says where it listens in one line on stdout.
"""

import sys

import xllamacpp

CONTEXT = 2048
"""Tokens of prompt and reply together, for each of the slots."""

SLOTS = 2


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.model_alias = {"smollm2-135m"}
    parameters.port = 0  # the system chooses a free one
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        # Two that wait for each other by spinning are fifty times slower on a machine with other work.
        threads.n_threads = 1
        threads.poll = 0
    parameters.n_parallel = SLOTS
    parameters.n_ctx = SLOTS * CONTEXT
    parameters.warmup = False
    parameters.endpoint_metrics = True
    parameters.verbosity = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"listening {server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
