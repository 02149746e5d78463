"""The files listed in a certificate must be those that its policy names."""

from __future__ import annotations

import pytest
from support.said import as_recorded

from dais_verif.signoff.certificate import Certificate, CertifiedFile
from dais_verif.signoff.checking.recheck import _files
from dais_verif.signoff.policy import Policy, Rtl


def certificate(*files: tuple[str, str]) -> Certificate:
    listed = [CertifiedFile(role, path, path, "0" * 64, "") for role, path in files]
    return Certificate("", "", "", "", None, False, "model", listed, {}, {}, [], [], [], {}, {}, "", "")


GIVEN = (("program", "/a/prog.bin"), ("rtl", "/a/rtl/x.v"), ("rtl", "/a/rtl/y.v"))
FILES = ("rtl/x.v", "/other/y.v")


@pytest.mark.parametrize(
    ("policy", "files"),
    [
        (Policy(), (("rtl", "/out/evidence/rtl/model.v"),)),
        (Policy(rtl=Rtl(files=FILES)), GIVEN),
        (Policy(rtl=Rtl(files=FILES)), (*GIVEN, ("data", "/a/rtl/found.mem"), ("include", "/a/rtl/x.vh"))),
        (Policy(rtl=Rtl(files=FILES, data=("a.mem",))), (*GIVEN, ("data", "/a/a.mem"))),
        (Policy(rtl=Rtl(files=FILES, data=("tables", "more.d"))), (*GIVEN, ("data", "/more.d/a.mem"))),
        (
            Policy(inputs=("x.npy",), rtl=Rtl(files=FILES, ports="p.toml")),
            (*GIVEN, ("ports", "/p.toml"), ("input", "/x.npy")),
        ),
    ],
)
def test_files_of_the_policy(policy: Policy, files: tuple[tuple[str, str], ...]) -> None:
    assert list(_files(certificate(*files), policy)) == []


@pytest.mark.parametrize(
    ("policy", "files", "names"),
    [
        (Policy(rtl=Rtl(files=FILES)), GIVEN[:-1], "rtl"),
        (Policy(rtl=Rtl(files=FILES, data=("a.mem",))), (*GIVEN, ("data", "/a/b.mem")), "data"),
        (Policy(rtl=Rtl(files=FILES)), (*GIVEN, ("input", "/x.npy")), "input"),
        (Policy(rtl=Rtl(files=FILES)), (*GIVEN, ("library", "/x.v")), "files"),
    ],
)
def test_other_files_than_those_of_the_policy(policy: Policy, files: tuple[tuple[str, str], ...], names: str) -> None:
    (finding,) = _files(certificate(*files), policy)
    assert names in finding.what
    as_recorded(finding.what)
