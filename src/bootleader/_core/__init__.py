"""What gets compiled, and what it is made of. Private: nothing here is part of the public interface."""
