"""Sign-off: the stages of a policy are run, judged by their records, and certified; a certificate can be rechecked."""
