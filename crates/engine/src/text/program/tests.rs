//! Programs read, compiled and run; each value is worked by hand from `docs/programs.md`.

use super::compile::{Code, Surroundings, compile};
use super::machine::{Outside, UNLIMITED, bits, run};
use super::names::Known;
use super::parse::{Mistake, refuses_if, statements};
use super::*;
use crate::ground::rng::Stream;

/// What the parameters R (cells), Z (a number) and F (a fraction of K) are here.
const PARAMETERS: [(&str, Type); 3] = [
    ("R", Type::Integer),
    ("Z", Type::Decimal),
    ("F", Type::Decimal),
];

fn surroundings(buffer: Option<u64>) -> Surroundings {
    Surroundings {
        parameters: vec![
            Constant::Integer(900),
            Constant::Decimal(8, 10),
            Value::Fraction(Ratio::new(9, 10)).at(buffer),
        ],
        buffer,
        cell_time: 7,
        sums: [30, 20, 10],
    }
}

fn read(text: &str) -> Result<Program, Mistake> {
    statements(text, &PARAMETERS)
}

fn code(text: &str, buffer: Option<u64>) -> Code {
    let program = read(text).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}"));
    compile(&[&program], &surroundings(buffer))
}

/// Runs `code` with every name that it reads at `value`.
fn answer(code: &mut Code, value: i128, drawn: &mut u64) -> Result<Verdict, Why> {
    for &(_, register) in &code.names {
        code.registers[usize::from(register)] = value;
    }
    let mut of_vc: Vec<i128> = code.of_vc.iter().map(|(_, start)| *start).collect();
    let mut outside = Outside {
        of_vc: &mut of_vc,
        draws: Stream::new(1, 2, "q", "drop"),
        drawn,
    };
    let (_, answer) = run(&code.ops, 0, &mut code.registers, &mut outside);
    answer.map(|answer| compile::ANSWERS[usize::from(answer)])
}

/// Whether `condition` holds with a buffer of 1000 cells.
fn holds(condition: &str) -> Result<bool, Why> {
    holds_with(condition, Some(1000))
}

fn holds_with(condition: &str, buffer: Option<u64>) -> Result<bool, Why> {
    let text = format!("if {condition} {{ refuse }}");
    let answered = answer(&mut code(&text, buffer), 5, &mut 0);
    answered.map(|verdict| verdict == Verdict::Refuse)
}

#[test]
fn arithmetic_is_exact() {
    for condition in [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "10 - 4 - 3 == 3",
        "7 / 2 == 3.5",
        "1 / 3 * 3 == 1",
        "0.1 + 0.2 == 0.3",
        "-7 / 2 == -3.5",
        "7 / -2 == -3.5",
        "floor(7 / 2) == 3",
        "floor(-7 / 2) == -4",
        "abs(-3) == 3 and abs(-0.5) == 0.5",
        "min(2, 0.5) == 0.5 and max(2, 0.5) == 2",
        "R == 900 and Z == 4 / 5 and F == 900",
        "sum(MCR) == 30 and sum(PCR) == 20 and sum(SCR) == 10",
        "cell_time == 7 and K == 1000 and X == 5",
        "power(2, 10) == 1024 and power(0.5, 0) == 1",
        "float(1) / 3 == 1 / 3",
        "floor(float(7) / 2) == 3 and floor(-float(7) / 2) == -4",
        "abs(float(-2)) == 2 and min(float(2), 3) == 2 and max(2, float(3)) == 3",
        "not (1 > 2) and not false and (true or 1 / 0 > 0)",
        "1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 2 != 3",
        "170141183460469231731687303715884105726 > 0 or true",
    ] {
        if condition.starts_with("1701") {
            let mistake = refuses_if(condition, &PARAMETERS).unwrap_err();
            assert!(mistake.message.ends_with("has more than 18 digits"));
            continue;
        }
        assert_eq!(holds(condition), Ok(true), "{condition}");
    }
    // Operands that are known only when the program runs.
    for condition in [
        "X * X - X / 2 == 22.5",
        "float(X) / 2 == 2.5",
        "Z * X == 4",
        "floor(X / 2) == 2",
    ] {
        assert_eq!(holds(condition), Ok(true), "{condition}");
    }
}

#[test]
fn what_has_no_value_ends_the_run() {
    let large = "100000000000000000 * 100000000000000000";
    for (condition, why) in [
        ("X / (X - 5) > 1", Why::DivisionByZero),
        ("1 / 0 > 1", Why::DivisionByZero),
        ("float(X) / 0 > 1", Why::DivisionByZero),
        (&*format!("{large} * 100000000000000000 > X"), Why::Overflow),
        (&*format!("X * {large} * 100000 * X > 0"), Why::Overflow),
        ("power(X, 1000) > 1", Why::NotFinite),
        ("float(X) * power(9, 323) > 1", Why::NotFinite),
        ("power(X, -1) > 1", Why::NegativePower),
        ("floor(power(X, 100)) > 1", Why::Overflow),
    ] {
        assert_eq!(holds(condition), Err(why), "{condition}");
    }
}

#[test]
fn an_unlimited_buffer_is_above_every_number() {
    for (condition, expected) in [
        ("X > K", Ok(false)),
        ("K > X and K == K and K >= F", Ok(true)),
        (
            "X > F or X > K - 200 or X > K / 2 or X > 0.5 * K + 1",
            Ok(false),
        ),
        ("X > min(200, floor(K / 2))", Ok(false)),
        ("min(200, floor(K / 2)) == 200 and max(1, K) > 10", Ok(true)),
        ("X / K == 0 and float(X) / K == 0", Ok(true)),
        ("X < float(K) and float(F) > 1", Ok(true)),
        ("X - K < 0", Err(Why::Unlimited)),
        ("K - K == 0", Err(Why::Unlimited)),
        ("K / K == 1", Err(Why::Unlimited)),
        ("(X - 5) * K == 0", Err(Why::Unlimited)),
        ("-K < 0", Err(Why::Unlimited)),
        ("float(X - 5) * K == 0", Err(Why::Unlimited)),
        ("float(X) - K < 0", Err(Why::Unlimited)),
    ] {
        assert_eq!(holds_with(condition, None), expected, "{condition}");
    }
}

#[test]
fn state_stays_and_locals_do_not() {
    let text = "queue state n = 0; vc state m = 2.5; queue state odd = false
        n = n + 1
        odd = not odd
        m = m * 2
        half = n
        half = half / 2
        if odd { refuse }
        if half == floor(half) { refuse_cell }";
    let mut code = code(text, None);
    let answers: Vec<_> = (0..4).map(|_| answer(&mut code, 0, &mut 0)).collect();
    let [refuse, cell] = [Verdict::Refuse, Verdict::RefuseCell].map(Ok);
    assert_eq!(answers, [refuse, cell, refuse, cell]);
    let of_queue = code.of_queue.iter();
    let values: Vec<i128> = of_queue
        .map(|&(_, r)| code.registers[usize::from(r)])
        .collect();
    assert_eq!(values, [4, 0]);
    assert_eq!(code.of_vc, [(1, bits(2.5))]);
}

#[test]
fn only_calls_that_are_reached_draw() {
    let mut code = code("if X > 0 and draw() < 2 and draw() < 2 { refuse }", None);
    let mut drawn = 0;
    assert_eq!(answer(&mut code, 0, &mut drawn), Ok(Verdict::Accept));
    assert_eq!(drawn, 0);
    assert_eq!(answer(&mut code, 1, &mut drawn), Ok(Verdict::Refuse));
    assert_eq!(drawn, 2);
    let first = Stream::new(1, 2, "q", "drop").unit(0);
    let text = format!("if draw() < {first:.15} {{ refuse }}");
    // The draw is number 0, rounded above or below in the text.
    let is_below = first < format!("{first:.15}").parse().expect("a number");
    assert_eq!(
        answer(&mut self::code(&text, None), 0, &mut 0) == Ok(Verdict::Refuse),
        is_below
    );
}

#[test]
fn what_follows_from_constants_is_computed_once() {
    let ops = code(
        "if X > R and Y * N * (X - R) > Z * (K - R) * X { refuse }",
        Some(1000),
    )
    .ops;
    // Two jumps, two products and a difference on the left, one product on the right, two verdicts.
    assert_eq!(ops.len(), 8, "{ops:?}");
    assert_eq!(
        code("x = 2 * R + 1; if X > x { refuse }", Some(1000))
            .ops
            .len(),
        4
    );
}

#[test]
fn a_mistake_is_one_message_at_its_place() {
    for (text, at, message, suggestion) in [
        ("if avrage > 1 { refuse }", 3, "unknown name `avrage`", None),
        (
            "average = X\nif avrage > 1 { refuse }",
            15,
            "unknown name `avrage`",
            Some("`average`"),
        ),
        ("if X > r { refuse }", 7, "unknown name `r`", Some("`R`")),
        (
            "if X > 1 { refuze }",
            11,
            "`refuze` is no statement",
            Some("`refuse`"),
        ),
        ("refuze", 0, "`refuze` is no statement", Some("`refuse`")),
        (
            "if X > 1 refuse",
            9,
            "expected an operator or `{`, not `refuse`",
            None,
        ),
        ("if X > 1 { refuse", 9, "this `{` has no `}`", None),
        ("}", 0, "this `}` has no `{`", None),
        (
            "refuse\naccept",
            7,
            "is never reached, since a verdict ends the program",
            None,
        ),
        (
            "X = 1",
            0,
            "`X` is a name of the language and cannot be assigned",
            None,
        ),
        (
            "R = 1",
            0,
            "`R` is a parameter and cannot be assigned",
            None,
        ),
        (
            "queue state X = 1",
            12,
            "`X` is a name of the language",
            None,
        ),
        (
            "queue state s = 1\ns = 0.5",
            22,
            "`s` holds the type integer, not decimal: start it as 0.0 to keep floats, or use floor()",
            None,
        ),
        ("a = 1", 0, "`a` is assigned but never used", None),
        (
            "if X > 1 { a = 1 }\nif a > 0 { refuse }",
            22,
            "`a` may have no value yet: it is not assigned on every way here",
            None,
        ),
        (
            "if X { refuse }",
            5,
            "expected something true or false, not the integer before it",
            None,
        ),
        (
            "if begins > 1 { refuse }",
            10,
            "`>` takes numbers, not a truth value",
            None,
        ),
        (
            "if X and begins { refuse }",
            5,
            "`and` joins truth values, not a value of the type integer",
            None,
        ),
        (
            "if 0 < X < 9 { refuse }",
            9,
            "compare two numbers at a time, joined by `and`",
            None,
        ),
        (
            "if min(X) > 1 { refuse }",
            3,
            "`min` takes 2 values, not 1",
            None,
        ),
        (
            "if sum(X) > 1 { refuse }",
            7,
            "`sum` takes one of MCR, PCR, SCR",
            None,
        ),
        (
            "if X > 1 % 2 { refuse }",
            9,
            "'%' has no meaning here",
            None,
        ),
        (
            "if X > 1.2.3 { refuse }",
            7,
            "`1.2.3` is not a number",
            None,
        ),
        (
            "if X > refuse { accept }",
            7,
            "`refuse` is a verdict and stands alone",
            None,
        ),
        (
            "if power(2, 0.5) > 1 { refuse }",
            12,
            "the exponent of `power` must be an integer",
            None,
        ),
    ] {
        let mistake = read(text).expect_err(text);
        let found = (mistake.at, &*mistake.message, mistake.suggestion.as_deref());
        assert_eq!(found, (at, message, suggestion), "{text}");
    }
    let mistake = refuses_if("X > R R", &PARAMETERS).unwrap_err();
    assert_eq!(
        (mistake.at, &*mistake.message),
        (6, "expected an operator or the end, not `R`")
    );
}

#[test]
fn limits_are_those_of_the_page() {
    let sum = |n: usize| format!("X{} > 0", " + 1".repeat(n));
    // A comparison and the verdict are steps too.
    assert!(refuses_if(&sum(MOST_STEPS - 2), &PARAMETERS).is_ok());
    let mistake = refuses_if(&sum(MOST_STEPS - 1), &PARAMETERS).unwrap_err();
    assert_eq!(mistake.message, "has more than 256 steps");
    let nested = |n: usize| format!("{}X{} > 0", "(".repeat(n), ")".repeat(n));
    assert!(refuses_if(&nested(DEEPEST), &PARAMETERS).is_ok());
    let mistake = refuses_if(&nested(DEEPEST + 1), &PARAMETERS).unwrap_err();
    assert_eq!(mistake.message, "is nested deeper than 32 levels");
    let long = format!("X > 0 # {}", "x".repeat(MOST_CHARACTERS));
    let mistake = refuses_if(&long, &PARAMETERS).unwrap_err();
    assert_eq!(mistake.message, "is longer than 4096 characters");
    let states = |n: usize| {
        (0..n)
            .map(|i| format!("queue state s{i} = 0\n"))
            .collect::<String>()
    };
    assert!(read(&states(MOST_STATES)).is_ok());
    let mistake = read(&states(MOST_STATES + 1)).unwrap_err();
    assert_eq!(mistake.message, "has more than 16 names of state");
}

#[test]
fn a_line_may_be_broken_behind_an_operator_and_in_parentheses() {
    assert!(read("if X > 1 and\n  X < 2 or (X\n == 3) {\n refuse }").is_ok());
    assert!(refuses_if("X\n>\n1\nand X < 2", &PARAMETERS).is_ok());
    assert!(read("a = X\n+ 1\nif a > 1 { refuse }").is_err());
}

/// The smallest X at which a text acts: with changes of state as acts, and without.
fn acts(text: &str, buffer: Option<u64>) -> [u64; 2] {
    let program = read(text).expect(text);
    [true, false].map(|state| bound::acts_from(&program, &surroundings(buffer), state))
}

#[test]
fn the_text_shows_below_which_queue_nothing_happens() {
    const NEVER: u64 = u64::MAX;
    for (text, buffer, expected) in [
        ("accept", None, [NEVER; 2]),
        ("if X > R and Y > 2 { refuse }", None, [901; 2]),
        ("if X >= R { refuse }", None, [900; 2]),
        ("if R < X { refuse }", None, [901; 2]),
        ("if not (X <= R) { refuse }", None, [901; 2]),
        ("if X <= R { accept }\nrefuse", None, [901; 2]),
        ("if X > F { refuse }", Some(1005), [905; 2]),
        ("if X > F { refuse }", None, [NEVER; 2]),
        (
            "if X > K - min(200, floor(K / 2)) { refuse }",
            Some(1000),
            [801; 2],
        ),
        ("if X > R or X > 5 { refuse }", None, [6; 2]),
        ("if Y > 2 and X > R { refuse }", None, [901; 2]),
        ("if Y / N > 2 and X > R { refuse }", None, [0; 2]),
        ("if X > R and 1 / N > 2 { refuse }", None, [901; 2]),
        ("if X > R { if X > 10 { refuse } }", None, [901; 2]),
        (
            "queue state s = 0\ns = s\nif X > R { refuse }",
            None,
            [0, 901],
        ),
        ("if X > 5 and draw() > 1 { refuse }", None, [6; 2]),
        ("if draw() > 1 and X > 5 { refuse }", None, [0, 6]),
        ("if X > -1 { refuse }", None, [0; 2]),
        ("if X > sum(MCR) { refuse }", None, [0; 2]),
        ("tag", None, [0; 2]),
    ] {
        assert_eq!(acts(text, buffer), expected, "{text}");
    }
}

#[test]
fn values_of_parameters_have_fixed_types() {
    let cases = [
        (Value::Number(Ratio::new(2, 1)), Constant::Decimal(2, 1)),
        (Value::Cells(9), Constant::Integer(9)),
        (Value::Rate(8), Constant::Integer(8)),
        (Value::Time(Span(7)), Constant::Integer(7)),
        (Value::Fraction(Ratio::new(1, 2)), Constant::Decimal(10, 2)),
    ];
    for (value, expected) in cases {
        assert_eq!(value.at(Some(10)), expected);
    }
    assert_eq!(
        Value::Fraction(Ratio::new(1, 2)).at(None),
        Constant::Unlimited
    );
    assert_eq!(
        Value::Fraction(Ratio::new(0, 2)).at(None),
        Constant::Unlimited
    );
    assert_eq!(
        compile::start_of(Type::Integer, Constant::Unlimited),
        UNLIMITED
    );
    assert_eq!(Known::HasContract.word(), "has_contract");
}
