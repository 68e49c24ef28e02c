"""`plan --format focus` prints the month's cost by claim and team in the columns of FOCUS."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal

from command_project import Project

# Columns that FOCUS 1.2 requires in every dataset.
MANDATORY = {
    "BilledCost",
    "BillingAccountId",
    "BillingAccountName",
    "BillingCurrency",
    "BillingPeriodEnd",
    "BillingPeriodStart",
    "ChargeCategory",
    "ChargeClass",
    "ChargeDescription",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ContractedCost",
    "EffectiveCost",
    "InvoiceIssuerName",
    "ListCost",
    "PricingQuantity",
    "PricingUnit",
    "ProviderName",
    "PublisherName",
    "ServiceCategory",
    "ServiceName",
}
NULLABLE = {"BillingAccountName", "ChargeClass", "PricingQuantity", "PricingUnit"}


def rows_of(project: Project, *words: str) -> list[dict[str, str]]:
    done = project.run("plan", "--stack", "dev", "--format", "focus", "--month", "2027-02", *words)
    assert done.status == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def test_rows_add_up_to_the_monthly_cost(project: Project) -> None:
    rows = rows_of(project)
    hourly = Decimal(
        str(project.run("plan", "--stack", "dev", "--format", "json").json["cost"]["hourly"])
    )
    assert sum(Decimal(row["BilledCost"]) for row in rows) == hourly * 24 * 28
    for row in rows:
        assert set(row) >= MANDATORY
        assert all(row[name] for name in MANDATORY - NULLABLE)
        assert row["BillingPeriodStart"] == "2027-02-01T00:00:00Z"
        assert row["BillingPeriodEnd"] == "2027-03-01T00:00:00Z"
        assert json.loads(row["Tags"]) or row["ResourceType"] == "Node"
    assert rows[-1]["ChargeDescription"] == "Planned node capacity that no claim uses"


def test_team_is_a_label_of_the_namespace_or_its_name(project: Project) -> None:
    assert {row["x_Team"] for row in rows_of(project)[:-1]} == {"default"}
    namespace = (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {team: vision}}\n"
    )
    project.write("workloads/namespace.yaml", namespace)
    assert {row["x_Team"] for row in rows_of(project)[:-1]} == {"vision"}


def test_missing_price_is_reported_without_rows(project: Project) -> None:
    months = project.run("plan", "--stack", "dev", "--format", "focus", "--month", "2027")
    assert months.status == 2
    assert '"2027" isn\'t a month such as 2027-01' in months.err
    project.write("cluster.yaml", project.run("slices", "--stack", "dev", "--nodes").out)
    observed = project.run(
        "plan",
        "workloads",
        "--observed",
        "cluster.yaml",
        "--format",
        "focus",
        "--kubernetes",
        "1.34",
    )
    assert observed.status == 2
    assert "use --fleet or --stack instead of --observed" in observed.err
