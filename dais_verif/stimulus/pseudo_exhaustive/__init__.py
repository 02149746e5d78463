"""All inputs on which an output depends, as vectors: pseudo-exhaustive testing."""
