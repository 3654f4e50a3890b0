"""Many digits."""

SEED = 1
REVISION = 0


def digits_of_pi(count: int) -> str:
    """The first digits, by Gibbons' spigot."""
    found: list[str] = []
    q, r, t, k, n, m = 1, 0, 1, 1, 3, 3
    while len(found) < count:
        if 4 * q + r - t < n * t:
            found.append(str(n))
            q, r, n = 10 * q, 10 * (r - n * t), (10 * (3 * q + r)) // t - 10 * n
        else:
            q, r, t, k, n, m = q * k, (2 * q + r) * m, t * m, k + 1, (q * (7 * k + 2) + r * m) // (t * m), m + 2
    return "".join(found)


def root(number: int, digits: int) -> int:
    """The square root times ten to the power of `digits`, by Newton."""
    scaled = number * int(10 ** (2 * digits))
    guess = 1 << (scaled.bit_length() // 2 + 1)
    while (better := (guess + scaled // guess) // 2) < guess:
        guess = better
    return guess
