"""Run one Pulumi program in the interpreter of its own environment: `python runner.py OPTIONS
PROGRAM`.

This is a script instead of a module, because that environment doesn't always contain this package.
"""

import argparse
import asyncio
import gc
import logging
import os
import runpy
import signal
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

import pulumi
import pulumi.runtime

# Exit status with which the host reports that the user has already seen the error
# (pulumi/pulumi:sdk/python/cmd/pulumi-language-python-exec@v3.259.0).
SHOWN = 32


def arguments() -> argparse.Namespace:
    """Parse the arguments that the host passes."""
    parser = argparse.ArgumentParser()
    for name in ("monitor", "engine", "project", "root_directory", "stack", "pwd", "organization"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--dry_run", choices=["true", "false"], required=True)
    parser.add_argument("--parallel", type=int, required=True)
    parser.add_argument("program")
    parser.add_argument("arguments", nargs="*")
    return parser.parse_args()


def configure(given: argparse.Namespace) -> None:
    """Set the configuration and the connections of the SDK."""
    pulumi.runtime.set_all_config(
        pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env()
    )
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            monitor=given.monitor,
            engine=given.engine,
            project=given.project,
            stack=given.stack,
            parallel=given.parallel,
            dry_run=given.dry_run == "true",
            organization=given.organization,
            root_directory=given.root_directory,
        )
    )


def own_frames(program: str) -> str:
    """Return the current traceback, starting at the first frame of the user's program.

    If there is no such frame, return the whole traceback.
    """
    frames = traceback.extract_tb(sys.exc_info()[2])
    folder = program if os.path.isdir(program) else os.path.dirname(program)
    for index, frame in enumerate(frames):
        if os.path.abspath(frame.filename).startswith(folder + os.sep):
            return traceback.format_exc(limit=-(len(frames) - index))
    return traceback.format_exc()


def main() -> int:
    """Run the program until all its outputs are resolved. Return the exit status that the host
    expects.
    """
    # The SDKs create a million objects that exist as long as the program. Without this setting, the
    # garbage collector would check them repeatedly, which takes a quarter of the program's time.
    gc.set_threshold(100_000, 20, 20)
    # The engine stops this process with SIGINT, and a traceback would appear in the user's output.
    signal.signal(signal.SIGINT, lambda *_: os._exit(SHOWN))
    given = arguments()
    configure(given)
    sys.argv = [given.program, *given.arguments]
    os.chdir(given.pwd)
    program = os.path.abspath(given.program)
    # Futures of a failed run are never awaited, and asyncio would print a message for each of them.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max_workers=max(given.parallel, 1) * 4)
    loop.set_default_executor(executor)

    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
        return 0
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return SHOWN
    except Exception as error:
        if str(error) == "resource monitor shut down":
            # The engine stopped because of an error that it has already reported.
            return SHOWN
        pulumi.log.error("Program failed with an unhandled exception:\n" + own_frames(program))
        return SHOWN
    finally:
        executor.shutdown(wait=True)
        loop.close()
        gc.freeze()
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
