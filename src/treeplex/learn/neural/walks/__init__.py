"""Sources of rows: walks and playthroughs of compiled games or by the rules, as jobs of workers, and critics of them."""
