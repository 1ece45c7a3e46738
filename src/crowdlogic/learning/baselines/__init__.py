"""Methods to compare with Logic-LNCL: compositions of Algorithm 1, and methods with their own loops."""
