"""The val items of a run one by one: which accepted change fixed each of them, and which broke it."""
