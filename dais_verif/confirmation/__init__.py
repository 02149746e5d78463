"""Confirm a proof by simulation: simulators share no code with the prover, and reveal errors of its front ends."""

from __future__ import annotations

from dais_verif.confirmation.confirmation import (
    Confirmation,
    ConfirmationRequest,
    confirm,
    kept_promises,
    prepare,
)

__all__ = ["Confirmation", "ConfirmationRequest", "confirm", "kept_promises", "prepare"]
