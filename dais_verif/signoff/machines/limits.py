"""Policy keys that apply only to programs, or only to machines: they are refused for the other, never ignored."""

from __future__ import annotations

from dais_verif.base.errors import PolicyError
from dais_verif.signoff.policy import Policy

__all__ = ["require_for_machines", "require_for_programs"]

_PINS = ("latency", "reset", "enable", "valid_in", "valid_out")


def require_for_machines(policy: Policy, layout: str | None) -> None:
    """Raise ``InputError`` for the first requirement of ``policy`` that applies only to programs."""
    rtl = policy.rtl
    asked = {
        "layout": layout is not None,
        "exhaustive_bits": policy.exhaustive_bits not in (0, Policy().exhaustive_bits),
        "[rtl] pipeline": rtl.pipeline is not None,
        "[rtl] ports": rtl.ports is not None,
        **{f"[rtl] {name}": getattr(rtl, name) is not None for name in _PINS},
        **{f'"{name}" in stages': name in policy.stages for name in ("axis", "board", "mutation")},
    }
    for what, given in asked.items():
        if given:
            raise PolicyError(f"policy: {what} is for programs, but this is a machine (ALIRFSM): leave it out")


def require_for_programs(policy: Policy) -> None:
    """Raise ``InputError`` for a requirement of ``policy`` that applies only to machines."""
    if "diff" in policy.stages:
        raise PolicyError('policy: "diff" in stages is for machines (ALIRFSM), and this is a program: leave it out')
