"""Sign-off: what a policy asks for is run, judged by its records, and certified; a certificate can be checked again."""
