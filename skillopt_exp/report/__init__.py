"""``report.html``: one run on one page, made of its folder alone, readable without a network."""
