"""Running a portfolio: inputs collected, cells computed here or elsewhere, answers kept, reports."""
