"""The JSON that the command prints, as models: fields are added, never changed.

The published schemas in `docs/schema/` are made from these.
"""

from dra_command.contract.check import CheckOutput, DiagnosticRow
from dra_command.contract.error import ErrorOutput
from dra_command.contract.explain import ExplainOutput
from dra_command.contract.matrix import MatrixOutput
from dra_command.contract.messages import MessagesOutput
from dra_command.contract.plan import PlanOutput
from dra_command.contract.portfolio import PortfolioOutput
from dra_command.contract.rehearse import RehearseOutput
from dra_command.contract.suggest import SuggestOutput
from dra_command.contract.verify import VerifyOutput

__all__ = [
    "CheckOutput",
    "DiagnosticRow",
    "ErrorOutput",
    "ExplainOutput",
    "MatrixOutput",
    "MessagesOutput",
    "PlanOutput",
    "PortfolioOutput",
    "RehearseOutput",
    "SuggestOutput",
    "VerifyOutput",
]
