"""The client side of group coordination, sans-IO: an abstract coordinator after KIP-795 and its users."""
