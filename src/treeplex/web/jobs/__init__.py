"""Jobs of the page: their queue, the process of each, and what is asked and answered about them."""
