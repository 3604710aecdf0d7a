//! Powers of floats with the same bits on every machine.

/// `base` multiplied `n` times, by squaring: the factors are taken from the lowest bit of `n` on.
pub fn power(base: f64, mut n: u128) -> f64 {
    let (mut result, mut square) = (1.0, base);
    while n > 0 {
        if n & 1 == 1 {
            result *= square;
        }
        square *= square;
        n >>= 1;
    }
    result
}
