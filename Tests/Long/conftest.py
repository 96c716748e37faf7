"""The long tests use the programs and the room server of the end-to-end tests."""

import importlib.util
import sys
from pathlib import Path

END_TO_END = Path(__file__).resolve().parent.parent / "EndToEnd"
sys.path.insert(0, str(END_TO_END))
_spec = importlib.util.spec_from_file_location("end_to_end", END_TO_END / "conftest.py")
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
start, local_server = _module.start, _module.local_server
