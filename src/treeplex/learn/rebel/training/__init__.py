"""ReBeL as a learner: the job, its folder, its judge and the agents that play its networks."""
