"""Where batches run: in this process, in a pool of processes, or on Dask."""
