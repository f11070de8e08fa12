"""The registry of claims: ``book/claims.yml``, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from speedbook.claims.claim import Claim
from speedbook.claims.relations import relation_problems
from speedbook.text import nearest

REGISTRY = "book/claims.yml"
#: The safe loader, in C if libyaml is installed.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Registry(BaseModel):
    """All claims, in the order of the ledger."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claims: tuple[Claim, ...]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Registry:
        # In lower case, as ids are anchors of the ledger page.
        ids = [claim.id.lower() for claim in self.claims]
        if twice := sorted({name for name in ids if ids.count(name) > 1}):
            raise ValueError(f"claims given twice: {', '.join(twice)}")
        return self

    @model_validator(mode="after")
    def _relations_hold(self) -> Registry:
        if problems := relation_problems(self.claims):
            raise ValueError("; ".join(problems))
        return self

    @cached_property
    def _by_id(self) -> Mapping[str, Claim]:
        return MappingProxyType({claim.id: claim for claim in self.claims})

    def __getitem__(self, name: str) -> Claim:
        """Return a claim by its id; an unknown id raises a ValueError with the nearest ones."""
        if name not in self._by_id:
            raise ValueError(f"{REGISTRY} has no claim {name!r}{self._hint(name)}")
        return self._by_id[name]

    def _hint(self, name: str) -> str:
        """Return the claims of the page that has this name, or the claims with the nearest ids."""
        if own := [claim.id for claim in self.claims if Path(claim.notebook).stem == name]:
            return f"; the page of this name tests {', '.join(own)}"
        return nearest(name, self._by_id)

    def of_notebook(self, notebook: str) -> list[Claim]:
        """Return the claims that a notebook tests."""
        return [claim for claim in self.claims if claim.notebook == notebook]


def load_registry(root: Path) -> Registry:
    """Read and check ``book/claims.yml``.

    Raises a ValueError, which names each faulty place, if the file is missing, is not YAML or
    violates the schema.
    """
    path = root / REGISTRY
    try:
        return _registry(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{REGISTRY} is missing in {root}") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{REGISTRY} is not YAML: {error}") from None
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise ValueError(f"{REGISTRY}: " + "; ".join(faults)) from None


@lru_cache(maxsize=1)
def _registry(text: str) -> Registry:
    """Parse a registry; the result is cached, since a notebook reads it for each record."""
    return Registry.model_validate(yaml.load(text, LOADER))
