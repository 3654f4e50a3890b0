"""Prime numbers."""

SEED = 1
REVISION = 0


def primes(below: int) -> list[int]:
    """All primes smaller than a bound, by Eratosthenes."""
    marked = bytearray(b"\1") * below
    marked[:2] = b"\0" * min(2, below)
    for number in range(2, int(below**0.5) + 1):
        if marked[number]:
            marked[number * number :: number] = bytes(len(range(number * number, below, number)))
    return [number for number in range(below) if marked[number]]


def factors(number: int) -> list[int]:
    """The prime factors of a number, smallest first."""
    found, divisor = [], 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1
    return [*found, number] if number > 1 else found
