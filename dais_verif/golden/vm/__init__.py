"""The golden model as a virtual machine: instructions that can be listed, checked, logged, timed and run backwards.

compilation = compile_forward_and_backward(program)
y = accept_instructions(compilation.forward, x).values
dx = accept_instructions(compilation.backward, g).values
"""

from __future__ import annotations

from dais_verif.golden.vm.compile import compile_forward_and_backward
from dais_verif.golden.vm.execute import ENGINES, Execution, MachineViolation, ViolationWarning, accept_instructions
from dais_verif.golden.vm.explain import logging_vm_execution
from dais_verif.golden.vm.instructions import (
    OUTPUT,
    Checks,
    Columns,
    Compilation,
    Instruction,
    InstructionSequence,
    Pull,
    disassemble,
)
from dais_verif.golden.vm.machine import ForwardExecutor, Outcome
from dais_verif.golden.vm.memory import Allocation, Tape
from dais_verif.golden.vm.profile import Profile, benchmark_accept_instructions

__all__ = [
    # compile
    "compile_forward_and_backward",
    "Compilation",
    # the result
    "Allocation",
    "Checks",
    "Columns",
    "Instruction",
    "InstructionSequence",
    "OUTPUT",
    "Pull",
    "Tape",
    # run
    "ENGINES",
    "Execution",
    "MachineViolation",
    "ViolationWarning",
    "accept_instructions",
    # run faster
    "ForwardExecutor",
    "Outcome",
    # look at it
    "Profile",
    "benchmark_accept_instructions",
    "disassemble",
    "logging_vm_execution",
]
