//! The text of a program as tokens.

use super::{Comparison, Constant, Operator};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'t> {
    /// A name or keyword.
    Word(&'t str),
    /// A number.
    Number(Constant),
    /// + - * /
    Operator(Operator),
    /// < <= > >= == !=
    Compare(Comparison),
    /// =
    Assign,
    /// (
    Open,
    /// )
    Close,
    /// {
    Begin,
    /// }
    End,
    /// ,
    Comma,
    /// The end of a line outside parentheses, or a semicolon.
    Separator,
    /// The end of the text.
    Nothing,
}

impl Token<'_> {
    /// The token in words, for messages.
    pub fn show(self, text: &str, from: u32, to: u32) -> String {
        match self {
            Token::Nothing => "the end of the text".into(),
            Token::Separator if text.as_bytes().get(from as usize) != Some(&b';') => {
                "the end of the line".into()
            }
            _ => format!("`{}`", &text[from as usize..to as usize]),
        }
    }
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'t> {
    /// The token.
    pub token: Token<'t>,
    /// First byte in the text.
    pub from: u32,
    /// Byte behind the last one.
    pub to: u32,
}

/// Most digits of a number.
const MOST_DIGITS: usize = 18;

/// The tokens of `text`, the last one being [`Token::Nothing`].
///
/// # Errors
/// The place of a character that begins no token, and what is wrong there.
pub fn tokens(text: &str) -> Result<Vec<Placed<'_>>, (u32, String)> {
    let mut all: Vec<Placed<'_>> = Vec::new();
    let bytes = text.as_bytes();
    let (mut at, mut parentheses) = (0, 0u32);
    while at < bytes.len() {
        let from = at;
        let two = |second: u8| bytes.get(from + 1) == Some(&second);
        let (token, length) = match bytes[at] {
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = text[at..].find('\n').map_or(text.len(), |end| at + end);
                continue;
            }
            b'\n' if parentheses > 0 => {
                at += 1;
                continue;
            }
            b'\n' | b';' => (Token::Separator, 1),
            b'(' => (Token::Open, 1),
            b')' => (Token::Close, 1),
            b'{' => (Token::Begin, 1),
            b'}' => (Token::End, 1),
            b',' => (Token::Comma, 1),
            b'+' => (Token::Operator(Operator::Add), 1),
            b'-' => (Token::Operator(Operator::Subtract), 1),
            b'*' => (Token::Operator(Operator::Multiply), 1),
            b'/' => (Token::Operator(Operator::Divide), 1),
            b'<' if two(b'=') => (Token::Compare(Comparison::AtMost), 2),
            b'<' => (Token::Compare(Comparison::Less), 1),
            b'>' if two(b'=') => (Token::Compare(Comparison::AtLeast), 2),
            b'>' => (Token::Compare(Comparison::Greater), 1),
            b'=' if two(b'=') => (Token::Compare(Comparison::Equal), 2),
            b'=' => (Token::Assign, 1),
            b'!' if two(b'=') => (Token::Compare(Comparison::Unequal), 2),
            b'0'..=b'9' => {
                let length = length_of(&text[at..], |b| {
                    b.is_ascii_digit() || b == b'.' || b == b'_'
                });
                let number = number(&text[at..at + length]);
                (
                    Token::Number(number.map_err(|why| (from as u32, why))?),
                    length,
                )
            }
            b if b.is_ascii_alphabetic() || b == b'_' => {
                let length = length_of(&text[at..], |b| b.is_ascii_alphanumeric() || b == b'_');
                (Token::Word(&text[at..at + length]), length)
            }
            _ => {
                let found = text[at..].chars().next().unwrap_or_default();
                return Err((from as u32, format!("{found:?} has no meaning here")));
            }
        };
        match token {
            Token::Open => parentheses += 1,
            Token::Close => parentheses = parentheses.saturating_sub(1),
            _ => {}
        }
        at += length;
        all.push(Placed {
            token,
            from: from as u32,
            to: at as u32,
        });
    }
    let end = text.len() as u32;
    all.push(Placed {
        token: Token::Nothing,
        from: end,
        to: end,
    });
    Ok(all)
}

/// Number of bytes at the start of `text` that `belong`.
fn length_of(text: &str, belong: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|&b| belong(b)).count()
}

/// The number that `text` writes: digits, perhaps with a point.
fn number(text: &str) -> Result<Constant, String> {
    let plain = text.replace('_', "");
    let (whole, part) = plain.split_once('.').unwrap_or((&plain, ""));
    if part.contains('.') || (part.is_empty() && plain.contains('.')) {
        return Err(format!("`{text}` is not a number"));
    }
    let part = part.trim_end_matches('0');
    let digits: String = whole.chars().chain(part.chars()).collect();
    if digits.len() > MOST_DIGITS {
        return Err(format!("`{text}` has more than {MOST_DIGITS} digits"));
    }
    let value: i128 = digits
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    Ok(if plain.contains('.') {
        Constant::Decimal(value, 10i128.pow(part.len() as u32))
    } else {
        Constant::Integer(value)
    })
}
