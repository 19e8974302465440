"""The page's jobs: their queue, their processes, and the requests about them."""
