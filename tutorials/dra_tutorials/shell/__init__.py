"""Shell commands of tutorials: Helm, kubectl, and MIG."""
