"""The signer of a certificate, and the check that the signer is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from dais_verif.errors import InputError
from dais_verif.files import read_plain
from dais_verif.record.certificate import CertificateFinding
from dais_verif.signoff.allowed_signers import principals
from dais_verif.signoff.certificate import SIGNATURE, Certificate
from dais_verif.signoff.sshsig import read_signature

__all__ = ["Trust", "check_signature"]

_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Trust:
    """The file of ``allowed`` signers, in the format of ``ssh-keygen``.

    ``when``: the time of the signature, if a trusted source gives it. The time in the certificate is only the signer's
    claim: the owner of an expired key may write any time there.
    """

    allowed: Path
    when: datetime | None = None


def check_signature(
    certificate: Certificate, folder: Path, data: bytes, trust: Trust | None
) -> tuple[list[CertificateFinding], list[str]]:
    """Return findings that invalidate the signature of ``data``, the bytes of ``certificate``; and notes on it."""
    path = folder / SIGNATURE
    if not path.exists():
        if certificate.signer or trust is not None:
            return [CertificateFinding(SIGNATURE, f"a signature by {certificate.signer or 'a signer'}", "none")], []
        return [], ["it is not signed: anyone who can write its files can forge it"]
    try:
        signature = read_signature(read_plain(path, _MOST_BYTES, "signature"), data)
        when = (trust and trust.when) or datetime.now(UTC)
        who = principals(trust.allowed, signature.key, when) if trust else []
    except InputError as error:
        return [CertificateFinding(SIGNATURE, "a valid signature", str(error))], []
    name = signature.fingerprint
    if name != certificate.signer:
        return [
            CertificateFinding(SIGNATURE, f"a signature by {certificate.signer or 'no signer'}", f"one by {name}")
        ], []
    if trust is None:
        return [], [f"signed by {name}; give --allowed-signers to check who that is"]
    time = when.isoformat(timespec="seconds")
    if not who:
        return [
            CertificateFinding(
                SIGNATURE, f"a signer that {trust.allowed} allows at {time}", f"{name}, which it does not"
            )
        ], []
    now = "" if trust.when else ": its time of signing is not confirmed by a trusted source (--verify-time)"
    return [], [f"signed by {', '.join(who)} ({name})", f"the key was judged as of {time}{now}"]
