"""A faulty testbench: it passes, but reports nothing or something untrue, as ``DAIS_VERIF_BENCH_SAYS`` chooses."""

import os
from dataclasses import replace

import cocotb
from cocotb.triggers import Timer

from dais_verif.simulation.testbench.exchange import answer, given, take_key
from dais_verif.simulation.testbench.job import Answer, Job


@cocotb.test()
async def drives_and_does_not_look(dut):
    job, path = given(Job)
    dut.model_inp.value = 0
    await Timer(1, unit="ns")
    whole = Answer(rows=job.rows, bits=job.rows * job.output_bits, digest="0" * 64)
    says = {
        "nothing": None,
        "no vector": Answer(),
        "too few vectors": replace(whole, rows=job.rows - 1, bits=(job.rows - 1) * job.output_bits),
        "no bit": replace(whole, bits=0),
        "mismatches": replace(whole, mismatching_rows=3),
    }[os.environ["DAIS_VERIF_BENCH_SAYS"]]
    if says is not None:
        answer(path, says, take_key())
