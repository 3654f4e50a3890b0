"""Side-by-side measurements; each pairs its two sides in one run and prints ratios."""
