"""Games that come with the library, poker with 52 cards apart."""
