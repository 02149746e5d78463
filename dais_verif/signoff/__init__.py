"""Sign-off: run the stages of a policy, judge them by their records, certify the result, and recheck certificates."""
