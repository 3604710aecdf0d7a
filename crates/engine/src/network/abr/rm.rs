//! RM (resource management) cells: their content, and its coding in the payload.
//!
//! Octets of the payload, 48 in all (53 with the header, where the first one is octet 6):
//!   1:     protocol, 1 for ABR
//!   2:     DIR, BN, CI, NI, RA, three reserved bits; most significant first
//!   3-4:   ER    5-6: CCR    7-8: MCR    9-12: queue length    13-16: sequence number
//!   17-46: reserved, each 6A
//!   47-48: six reserved bits, then CRC-10 over the payload with the CRC bits 0
//! Queue length and sequence number are unused and 0.
//! A rate has 16 bits: one reserved, nz, five of exponent e, nine of mantissa m. The value is nz
//! 2^e (1 + m / 512) cells per second.
//! CRC-10: x^10 + x^9 + x^5 + x^4 + x + 1, most significant bit first, initial value 0.
//! Source: ATM Forum, Traffic Management 4.0, section 5.10.3; ITU-T I.371 and I.610 (CRC-10).
//! Chosen here: rates between two codes are rounded down, and those above the largest code become
//! it. Simulated RM cells are passed as [`Rm`], with [rounded](Rm::rounded) rates if a scenario
//! asks for them. The payload serves cell captures.

use super::feedback::Marks;

/// Content of an RM cell. Rates are in cells per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rm {
    /// DIR: the cell travels towards the source that it was sent by or for.
    pub backward: bool,
    /// BN: a switch or the destination made the cell, not the source.
    pub bn: bool,
    /// CI: the rate must fall.
    pub ci: bool,
    /// NI: the rate must not rise.
    pub ni: bool,
    /// ER, the highest rate that everything passed so far allows.
    pub er: f64,
    /// CCR, the source's ACR when it sent the cell.
    pub ccr: f64,
    /// MCR of the VC.
    pub mcr: f64,
}

/// Octets per payload.
const PAYLOAD: usize = 48;
/// Protocol identifier of ABR.
const ABR: u8 = 1;
/// Value of reserved octets.
const FILL: u8 = 0x6A;
/// Bits of the second octet: DIR, BN, CI, NI.
const FLAGS: [u8; 4] = [0x80, 0x40, 0x20, 0x10];
/// Generator polynomial of CRC-10 without the leading term.
const GENERATOR: u16 = 0x233;

/// Bits of the mantissa.
const MANTISSA_BITS: u32 = 9;
const MANTISSA: u16 = (1 << MANTISSA_BITS) - 1;
const LARGEST_EXPONENT: u16 = 31;
/// Bit nz, set for rates other than 0.
const NONZERO: u16 = 1 << 14;
/// Largest code: 2^31 (1 + 511/512) cells per second.
const LARGEST: u16 = NONZERO | LARGEST_EXPONENT << MANTISSA_BITS | MANTISSA;

impl Rm {
    /// Adds what a place on the way reports: lowers the rate and adds marks.
    pub fn marked(self, marks: Marks) -> Rm {
        Rm {
            er: self.er.min(marks.er),
            ci: self.ci | marks.ci,
            ni: self.ni | marks.ni,
            ..self
        }
    }

    /// Rounds rates to what the payload can code, as decoding after encoding does.
    pub fn rounded(self) -> Rm {
        let rounded = |rate| decode_rate(encode_rate(rate));
        Rm {
            er: rounded(self.er),
            ccr: rounded(self.ccr),
            mcr: rounded(self.mcr),
            ..self
        }
    }
}

impl Rm {
    /// Encodes the payload.
    pub fn encode(&self) -> [u8; PAYLOAD] {
        let mut payload = [0; PAYLOAD];
        payload[0] = ABR;
        let flags = [self.backward, self.bn, self.ci, self.ni];
        for (bit, _) in FLAGS.into_iter().zip(flags).filter(|&(_, set)| set) {
            payload[1] |= bit;
        }
        for (at, rate) in [(2, self.er), (4, self.ccr), (6, self.mcr)] {
            payload[at..at + 2].copy_from_slice(&encode_rate(rate).to_be_bytes());
        }
        payload[16..46].fill(FILL);
        let crc = crc10(&payload);
        payload[46..].copy_from_slice(&crc.to_be_bytes());
        payload
    }

    /// Decodes a payload; `None` if it is not for ABR or its CRC is wrong.
    #[cfg(test)]
    pub fn decode(payload: &[u8; PAYLOAD]) -> Option<Rm> {
        // With the CRC in place the remainder is 0.
        if payload[0] != ABR || crc10(payload) != 0 {
            return None;
        }
        let [backward, bn, ci, ni] = FLAGS.map(|bit| payload[1] & bit != 0);
        let rate = |at| decode_rate(u16::from_be_bytes([payload[at], payload[at + 1]]));
        Some(Rm {
            backward,
            bn,
            ci,
            ni,
            er: rate(2),
            ccr: rate(4),
            mcr: rate(6),
        })
    }
}

/// Encodes `rate`, rounded down.
fn encode_rate(rate: f64) -> u16 {
    if rate >= decode_rate(LARGEST) {
        return LARGEST;
    }
    if rate.is_nan() || rate < 1.0 {
        return 0;
    }
    // A float has the same layout with a larger exponent and a longer mantissa. Cutting the
    // mantissa rounds down.
    let bits = rate.to_bits();
    let exponent = (bits >> (f64::MANTISSA_DIGITS - 1)) - 1023;
    let mantissa = bits >> (f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS) & u64::from(MANTISSA);
    NONZERO | (exponent as u16) << MANTISSA_BITS | mantissa as u16
}

/// Decodes a rate, cells per second.
fn decode_rate(code: u16) -> f64 {
    if code & NONZERO == 0 {
        return 0.0;
    }
    let exponent = code >> MANTISSA_BITS & LARGEST_EXPONENT;
    let mantissa = f64::from(code & MANTISSA) / f64::from(MANTISSA + 1);
    (1.0 + mantissa) * (1_u64 << exponent) as f64
}

/// CRC-10 of a payload whose last ten bits are 0. With a valid CRC in place the result is 0.
fn crc10(payload: &[u8; PAYLOAD]) -> u16 {
    // A register of this form implies ten zero bits behind the message: here the last ten bits of
    // the payload.
    let bits = payload.len() * 8 - 10;
    let message = remainder(payload, bits);
    let last = u16::from_be_bytes([payload[PAYLOAD - 2], payload[PAYLOAD - 1]]) & 0x3FF;
    message ^ last
}

/// CRC remainder of the first `bits` bits, times x^10.
fn remainder(octets: &[u8], bits: usize) -> u16 {
    let (whole, rest) = octets.split_at(bits / 8);
    let register = whole.iter().fold(0, |register: u16, &octet| {
        let leading = (register >> 2) as u8 ^ octet;
        register << 8 & 0x3FF ^ REMAINDERS[leading as usize]
    });
    (0..bits % 8).fold(register, |register, at| {
        shifted(register ^ u16::from(rest[0] >> (7 - at) & 1) << 9)
    })
}

/// Shifts the register by one message bit, which has been added to its leading bit.
const fn shifted(register: u16) -> u16 {
    let leads = register >> 9 & 1 == 1;
    register << 1 & 0x3FF ^ if leads { GENERATOR } else { 0 }
}

/// CRC remainder of each octet, times x^10.
const REMAINDERS: [u16; 256] = {
    let mut remainders = [0; 256];
    let mut octet = 0;
    while octet < remainders.len() {
        let mut register = (octet as u16) << 2;
        let mut bit = 0;
        while bit < 8 {
            register = shifted(register);
            bit += 1;
        }
        remainders[octet] = register;
        octet += 1;
    }
    remainders
};

/// RM cell for tests.
#[cfg(test)]
pub const SAMPLE: Rm = Rm {
    backward: true,
    bn: false,
    ci: true,
    ni: false,
    er: 366_592.0,
    ccr: 10.0,
    mcr: 0.0,
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Largest codable rate that is not above `rate`.
    fn coded(rate: f64) -> f64 {
        let all = Rm {
            backward: false,
            bn: false,
            ci: false,
            ni: false,
            er: rate,
            ccr: rate,
            mcr: rate,
        };
        let Rm { er, ccr, mcr, .. } = all.rounded();
        assert!(er == ccr && ccr == mcr);
        er
    }

    #[test]
    fn crc_10_of_the_usual_vector() {
        assert_eq!(remainder(b"123456789", 72), 0x199);
    }

    #[test]
    fn rates_of_known_codes() {
        let vectors = [
            (0.0, 0x0000, 0.0),
            (0.99, 0x0000, 0.0),
            (1.0, 0x4000, 1.0),
            (10.0, 0x4680, 10.0),
            (149.76e6 / 424.0, 0x64B1, 352_768.0),
            (155.52e6 / 424.0, 0x64CC, 366_592.0),
            (f64::INFINITY, 0x7FFF, 4_290_772_992.0),
        ];
        for (rate, code, decoded) in vectors {
            assert_eq!(encode_rate(rate), code, "{rate}");
            assert_eq!(coded(rate), decoded, "{rate}");
        }
        assert_eq!(coded(f64::NAN), 0.0);
    }

    #[test]
    fn a_payload_octet_by_octet() {
        let payload = SAMPLE.encode();
        assert_eq!(payload[..8], [1, 0xA0, 0x64, 0xCC, 0x46, 0x80, 0, 0]);
        assert_eq!(payload[8..16], [0; 8]);
        assert_eq!(payload[16..46], [0x6A; 30]);
        assert_eq!(payload[46] & 0xFC, 0);
    }

    proptest! {
        #[test]
        fn every_code_is_that_of_its_rate_and_rates_between_are_rounded_down(code in 0x4000_u16..0x7FFF, part in 0.0..1.0_f64) {
            let (rate, next) = (decode_rate(code), decode_rate(code + 1));
            prop_assert_eq!(encode_rate(rate), code);
            let between = (rate + part * (next - rate)).min(next.next_down());
            prop_assert_eq!(coded(between), rate);
            prop_assert!(next - rate <= rate / 512.0);
        }

        #[test]
        fn what_is_encoded_is_decoded_and_no_bit_may_flip(
            flags in any::<[bool; 4]>(),
            rates in proptest::array::uniform3(0.0..1e7),
            flipped in 0_usize..384,
        ) {
            let [backward, bn, ci, ni] = flags;
            let [er, ccr, mcr] = rates;
            let rm = Rm { backward, bn, ci, ni, er, ccr, mcr };
            let mut payload = rm.encode();
            prop_assert_eq!(Rm::decode(&payload), Some(rm.rounded()));
            payload[flipped / 8] ^= 1 << (flipped % 8);
            prop_assert_eq!(Rm::decode(&payload), None);
        }
    }
}
