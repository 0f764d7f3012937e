"""What a run will ask and cost, told before the first call: bounds, an expectation, what a budget affords."""
