"""A course folder of nbgrader, and the releases that it makes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import ClearMetadataPreprocessor, CSSHTMLHeaderPreprocessor
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    GetGrades,
    IgnorePattern,
    LimitOutput,
    SaveAutoGrades,
)
from nbgrader.utils import capture_log, setenv
from traitlets.config import Config

from speedbook.notebook.files import read_notebook, serialise
from speedbook.paths import write_atomically
from tools.course.execution import Execute
from tools.course.feedback import HideTests
from tools.course.hand_ins import HandIn


class CourseError(Exception):
    """What nbgrader could not do; the text has the end of its log."""


def configuration(course: Path, seconds: int) -> Config:
    """Return the settings of nbgrader; files of settings that a user may have are not read.

    Parameters
    ----------
    course : Path
        The course folder.
    seconds : int
        The time that a cell of a submission may take.
    """
    config = Config()
    config.CourseDirectory.root = str(course.resolve())
    config.CourseDirectory.course_id = "class"
    config.Execute.timeout = seconds
    config.Autograde.autograde_preprocessors = [
        Execute,
        IgnorePattern,
        ClearMetadataPreprocessor,
        LimitOutput,
        SaveAutoGrades,
        AssignLatePenalties,
        CheckCellMetadata,
    ]
    config.GenerateFeedback.preprocessors = [GetGrades, HideTests, CSSHTMLHeaderPreprocessor]
    return config


class Course:
    """nbgrader's steps in one course folder."""

    def __init__(self, path: Path, seconds: int = 60) -> None:
        self.path = path
        self.config = configuration(path, seconds)

    def release(self, hand_ins: Mapping[str, HandIn]) -> dict[str, str]:
        """Make the release of each hand-in, and return their texts.

        Raises
        ------
        CourseError
            If nbgrader refuses a hand-in, or its release shows what it must not.
        """
        releases = {}
        for name, hand_in in hand_ins.items():
            source = self.source(name)
            write_atomically(source, serialise(hand_in.notebook))
            self._run(GenerateAssignment, name, ".")
            released = read_notebook(self.path / "release" / name / f"{name}.ipynb")
            if leaks := hand_in.leaks(released):
                raise CourseError(f"{name}: its release would show: " + "; ".join(leaks))
            releases[name] = serialise(released)
        return releases

    def source(self, name: str) -> Path:
        """Return where the teacher's version of a hand-in is."""
        return self.path / "source" / name / f"{name}.ipynb"

    def submitted(self, student: str, name: str) -> Path:
        """Return where nbgrader looks for what a student handed in."""
        return self.path / "submitted" / student / name / f"{name}.ipynb"

    def autograded(self, student: str, name: str) -> Path:
        """Return the path of the hand-in that nbgrader has run."""
        return self.path / "autograded" / student / name / f"{name}.ipynb"

    def feedback(self, student: str, name: str) -> Path:
        """Return the path of the feedback page that nbgrader writes for the student."""
        return self.path / "feedback" / student / name / f"{name}.html"

    def autograde(self, student: str, name: str) -> None:
        """Run what a student handed in; a CourseError says why that was impossible."""
        self._run(Autograde, name, student)

    def give_feedback(self, student: str, name: str) -> None:
        """Write the page for the student; a CourseError says why that was impossible."""
        self._run(GenerateFeedback, name, student)

    def _run(self, converter: Any, assignment: str, student: str) -> None:
        folder = CourseDirectory(config=self.config)
        folder.assignment_id, folder.student_id = assignment, student
        step = converter(coursedir=folder, config=self.config)
        step.force = True
        # nbgrader looks for `alembic`, which makes its database, on the path.
        programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        with setenv(PATH=programs):
            result = capture_log(step)
        if not result["success"]:
            log = result.get("log", "") or result.get("error", "")
            raise CourseError(f"{assignment}: {student}: {last_lines(log)}")


def last_lines(log: str, count: int = 12) -> str:
    """Return the end of a log of nbgrader without colours."""
    lines = re.sub(r"\x1b\[[\d;]*m", "", log).strip().splitlines()
    return "\n    ".join(lines[-count:])
