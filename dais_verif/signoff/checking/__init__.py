"""Check a certificate: its own claims, its evidence judged again, and the results of a new sign-off."""
