"""Optional stages of a policy for a machine: coverage, netlist, bitstream, timing, and the program that it computes."""

from __future__ import annotations

from dais_verif.signoff.bitstreams.timing import timing_stage
from dais_verif.signoff.context import Context, SignOffStage
from dais_verif.signoff.extras import coverage_stage
from dais_verif.signoff.machines.bitstream import machine_bitstream_stages
from dais_verif.signoff.machines.difference import difference_stages
from dais_verif.signoff.machines.netlist import netlist_stages

__all__ = ["more_machine_stages"]


def more_machine_stages(context: Context) -> list[SignOffStage]:
    """Return the optional stages of the policy, which run after the first simulation."""
    policy = context.policy
    good = f"simulation-{policy.seeds[0]}" if policy.seeds else "simulation"
    stages = [coverage_stage(good)] if policy.coverage else []
    stages += netlist_stages(good, policy) if "netlist" in policy.stages else []
    stages += machine_bitstream_stages(good, policy) if "bitstream" in policy.stages else []
    stages += [timing_stage()] if "timing" in policy.stages else []
    return stages + (difference_stages() if "diff" in policy.stages else [])
