"""Hydra's own options (``-m``, ``--cfg``, ``--config-dir`` and so on), wherever they stand in the command."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import NoReturn

from hydra._internal.utils import get_args_parser  # the one place that knows these options

from skillopt_exp.config.names import did_you_mean, meant
from skillopt_exp.errors import UsageError


class _Parser(ArgumentParser):
    """Hydra's parser, which raises where Hydra's own prints its usage and ends the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see python -m skillopt_exp --hydra-help")


def parse_options(arguments: Sequence[str]) -> Namespace:
    """The options; ``overrides`` is all that is none, in its order.

    Raises:
        UsageError: there is no such option, or what it needs is missing.
    """
    parser = _Parser(parents=[get_args_parser()], add_help=False)
    options, unknown = parser.parse_known_intermixed_args(list(arguments))
    if unknown:
        known = [name for name in parser._option_string_actions if name.startswith("--")]
        close = meant(unknown[0].partition("=")[0], known)
        hint = did_you_mean(close) if close else "see python -m skillopt_exp --hydra-help"
        raise UsageError(f"there is no option {unknown[0]!r}; {hint}")
    if options.experimental_rerun is not None:
        # Hydra would unpickle the file, and with it run whatever code it holds.
        raise UsageError(
            "--experimental-rerun is not supported; python -m skillopt_exp resume goes on with a run"
        )
    return options


def as_hydra_reads(arguments: Sequence[str], options: Namespace) -> list[str]:
    """The same command with its options last: Hydra does not take overrides on both sides of one."""
    others = list(arguments)
    for override in options.overrides:
        others.remove(override)
    return [*options.overrides, *others]
