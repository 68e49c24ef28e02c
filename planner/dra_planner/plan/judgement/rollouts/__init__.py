"""Find rollouts that never finish, although all pods fit."""
