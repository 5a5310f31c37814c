"""What turns cost, across benchmarks."""
