"""The job of the bench for many designs in one: the job of each, and its place in the design."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from dais_verif.base.files import write_atomically
from dais_verif.hardware.ports.interface import DesignInterface
from dais_verif.simulation.testbench.job import JOB_VARIABLE, Job

__all__ = ["JointJob", "Member"]


@dataclass(frozen=True)
class Member:
    """One of the designs: its ``job`` as if it were alone, and its place.

    ``instance``: the name of its instance; ``interface``: its ports as named in the joint top.
    """

    job: Job
    instance: str
    interface: DesignInterface


@dataclass(frozen=True)
class JointJob:
    """All ``members``, whose chunks exist already. ``bulk``: also run vectors outside cocotb."""

    members: tuple[Member, ...]
    bulk: bool

    def save(self, path: Path) -> None:
        """Write as JSON."""
        members = [
            {
                "job": {**vars(one.job), "interface": one.job.interface.to_tree()},
                "instance": one.instance,
                "interface": one.interface.to_tree(),
            }
            for one in self.members
        ]
        write_atomically(path, json.dumps({"members": members, "bulk": self.bulk}).encode())

    @classmethod
    def given(cls) -> JointJob:
        """Read the job that the environment of this simulator process names."""
        tree = json.loads(Path(os.environ[JOB_VARIABLE]).read_text())
        members = tuple(
            Member(
                Job(**{**one["job"], "interface": DesignInterface.from_tree(one["job"]["interface"])}),
                one["instance"],
                DesignInterface.from_tree(one["interface"]),
            )
            for one in tree["members"]
        )
        return cls(members, tree["bulk"])
