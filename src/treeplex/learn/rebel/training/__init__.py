"""ReBeL as a learner: the job, its folder, evaluation, and the agents that play its networks."""
