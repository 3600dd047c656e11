"""An exact round in O(log K): the leader among very many arms."""
