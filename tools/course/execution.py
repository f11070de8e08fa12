"""nbgrader's execution of a submission, changed so that it continues if the kernel dies."""

from __future__ import annotations

from typing import Any

from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute as NbGraderExecute

#: Names of the errors that a cell has where its kernel died, where it took too long, and where it
#: did not run because of one of these before.
DIED, TOO_LONG, NOT_RUN = "DeadKernelError", "CellTimeoutError", "NotRun"
#: Characters that a page shows of what a cell printed, and of a picture or a table.
LONGEST_TEXT, LONGEST_DATA = 20_000, 4_000_000


class Execute(NbGraderExecute):  # type: ignore[misc]
    """Run all cells; if the kernel dies or ignores an interrupt, the cells after it fail.

    nbgrader itself would drop such a submission: the student would get no page, and the database
    would keep the results of an earlier run.
    """

    ended = ""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, index: int
    ) -> tuple[NotebookNode, Any]:
        """Run one cell, or say why it cannot be run."""
        if cell.cell_type != "code" or not cell.source.strip():
            return cell, resources
        if self.ended:
            self._fail(cell, NOT_RUN, self.ended)
            return cell, resources
        try:
            cell, resources = super().preprocess_cell(cell, resources, index)
        except DeadKernelError:
            self._fail(cell, DIED, "this cell ended its kernel, the program that runs the notebook")
            self.ended = "it was not run, because a cell above ended the kernel"
        except CellTimeoutError:
            # Raised only where an interrupt did not end the cell either.
            self._fail(cell, TOO_LONG, self._took_too_long())
            self.ended = "it was not run, because a cell above did not stop when interrupted"
        for output in cell.outputs:
            _shorten(output)
            if output.output_type == "error" and output.ename == TOO_LONG:
                output.evalue = self._took_too_long()
                output.traceback = [f"{TOO_LONG}: {output.evalue}"]
        return cell, resources

    def _took_too_long(self) -> str:
        return f"this cell took longer than {self.timeout} seconds and was interrupted"

    @staticmethod
    def _fail(cell: NotebookNode, name: str, why: str) -> None:
        error: Any = new_output(  # type: ignore[no-untyped-call]
            "error", ename=name, evalue=why, traceback=[f"{name}: {why}"]
        )
        cell.outputs = [*cell.get("outputs", []), error]


def _shorten(output: NotebookNode) -> None:
    """Cut what a cell printed or shows to a length that a page can hold."""
    if len(text := output.get("text", "")) > LONGEST_TEXT:
        output.text = text[:LONGEST_TEXT] + "\n(The rest is left out.)\n"
    for kind, shown in list(output.get("data", {}).items()):
        if len(str(shown)) > LONGEST_DATA:
            del output.data[kind]
            output.data["text/plain"] = "(Left out: it is too large.)"
