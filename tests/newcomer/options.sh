# Two option sets of one controller over the same seeds, and how they differ run by run.
weir run gcc-2016/variable-capacity --controller 'gcc, gcc{trendline.window=40}' --duration 10s --runs 3 --quiet > table
grep --quiet '^gcc{trendline.window=40} ' table
grep --quiet '^less gcc, run by run' table
