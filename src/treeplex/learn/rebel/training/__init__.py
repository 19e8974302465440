"""ReBeL as a learner: the job, the training folder, evaluation, and agents that play its networks."""
