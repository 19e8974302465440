"""Train discount policies: the run, its folder, settings and plot."""
