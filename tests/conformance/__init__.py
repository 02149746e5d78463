"""The conformance suite: one table of rows, literals derived by hand from the semantics page, run on every engine.

``rules`` quotes the page, ``row`` says what a row is, ``table`` holds the rows; ``engines`` and ``rtl`` run them.
"""
