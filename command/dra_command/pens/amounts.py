"""Amounts of money as text."""

from __future__ import annotations

from decimal import Decimal


def usd(amount: Decimal) -> str:
    """Return an amount in the format of messages: USD 1,234.50."""
    return f"USD {amount:,.2f}"


def signed(amount: Decimal) -> str:
    """Return an amount with its sign: +4.60, −4.60, 0.00."""
    return f"{amount:+,.2f}".replace("-", "−") if amount else "0.00"
