"""Amounts of money in words."""

from __future__ import annotations

from decimal import Decimal


def usd(amount: Decimal) -> str:
    """Return an amount as messages have it: USD 1,234.50."""
    return f"USD {amount:,.2f}"
