"""What Logic-LNCL is compared with: compositions of Algorithm 1, and methods with loops of their own."""
