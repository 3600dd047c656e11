"""Programs that measure ratios, both sides in one run. ``make bench`` runs them all."""
