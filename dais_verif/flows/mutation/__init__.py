"""Use cases of mutation: how good was a verification?"""
