"""The conformance suite: a table of rows, derived by hand from the semantics page, and run on every engine.

``rules`` quotes the page, ``row`` defines what a row is, ``table`` has the rows; ``engines`` and ``rtl`` run them.
"""
