"""Update rules: CFR variants, fictitious play, value-tested and learned discounting, custom rules."""
