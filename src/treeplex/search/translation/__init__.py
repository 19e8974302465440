"""Action translation: lets an agent of a coarse betting abstraction play a finer one."""
