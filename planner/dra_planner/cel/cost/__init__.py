"""What an expression costs: estimated before it runs, counted while it runs.

Three counts, none of which is another:

- The *estimate* is the worst case over all devices that the API allows. `estimator` walks the
  checked tree with ranges (`ranges`) of sizes and costs; the size of what is read of a device is
  bounded by `device_sizes`, a call is priced by `call_estimates`. Compilation compares it with the
  API server's limit.
- The *cost* is what one evaluation spends in upstream's counter. The closures add to the state's
  cost as they run; `call_costs` prices a call by its arguments and result. The state ends the
  evaluation beyond the budget.
- The *effort* is work that upstream's cost does not pay for. `effort` counts it per thread, from
  the libraries and from `call_costs`, and ends the evaluation with an error of its own kind.
"""
