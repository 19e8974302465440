"""Update rules: CFR variants, fictitious play, value-tested and learned discounting, a user's own."""
