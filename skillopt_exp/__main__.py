"""``python -m skillopt_exp [verb] key=value ...``"""

import io
import os
import sys
from collections.abc import Sequence

from skillopt_exp import commands
from skillopt_exp.errors import InterruptedRun, SkillOptError
from skillopt_exp.guard import guard_process
from skillopt_exp.redaction import redact, refuse_secrets


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code says who should act (see ``errors``)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that cannot print an arrow is no reason to die
    guard_process()
    try:
        refuse_secrets(arguments)
        return commands.run(arguments)
    except SkillOptError as error:
        sys.stderr.write(f"error: {redact(str(error))}\n")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has gone (`| head`); Python must not complain again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return InterruptedRun.exit_code


if __name__ == "__main__":
    sys.exit(main())
