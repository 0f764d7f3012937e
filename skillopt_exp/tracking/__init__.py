"""Where runs are compared."""
