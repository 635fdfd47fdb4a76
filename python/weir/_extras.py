"""Optional packages, with an error that names the extra."""

import importlib
from typing import Any


def optional(module: str, extra: str) -> Any:
    """The module, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this needs {module.split('.')[0]}; install it with `pip install 'weir-rtc[{extra}]'`"
        ) from error
