"""The cost of an expression, which is estimated before it runs and counted while it runs.

There are three separate counts:

- The *estimate* is the worst case over all devices that the API allows. `estimator` walks the
  checked tree with ranges (`ranges`) of sizes and costs. `device_sizes` limits the sizes of a
  device's values, and `call_estimates` estimates calls. Compilation compares the estimate with the
  API server's limit.
- The *cost* of one evaluation is counted as upstream counts it. The closures add to the state's
  cost as they run. `call_costs` computes the cost of a call from its arguments and result. The
  state ends the evaluation if it exceeds the budget.
- The *effort* is work that upstream's cost doesn't count. `effort` counts it per thread, for the
  libraries and for `call_costs`, and ends the evaluation with a separate error.
"""
