//! Reads the text of a program: names are resolved and types checked on the way.
//!
//! ```text
//! program    = { state } { statement }
//! state      = ( "queue" | "vc" ) "state" NAME "=" ( [ "-" ] NUMBER | "true" | "false" )
//! statement  = NAME "=" expression | verdict
//!            | "if" expression block [ "else" ( block | if-statement ) ]
//! block      = "{" { statement } "}"
//! expression = and { "or" and }                  and     = not { "and" not }
//! not        = "not" not | comparison            comparison = sum [ COMPARE sum ]
//! sum        = product { ( "+" | "-" ) product } product = sign { ( "*" | "/" ) sign }
//! sign       = "-" sign | NUMBER | "true" | "false" | NAME | call | "(" expression ")"
//! call       = NAME "(" [ expression { "," expression } ] ")"
//! ```
//! States and statements end at the end of the line, at `;`, or before `}`. A line may be broken
//! inside parentheses and behind an operator, `and`, `or`, `not` or `,`.

use super::lex::{Placed, Token, tokens};
use super::names::{DROP, Dialect, Function, Known, SCHEDULER, is_known_anywhere};
use super::{
    Constant, DEEPEST, Expression, Kind, MOST_CHARACTERS, MOST_LOCALS, MOST_STATES, MOST_STEPS,
    Operator, Owner, Program, Ranking, SchedulerText, State, Statement, Target, Type, Uses,
};
use crate::text::notation::words::{list, meant};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake {
    /// Where in the text, in bytes.
    pub at: u32,
    /// What is wrong.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

/// The parameters of a program: names and types.
pub type Parameters<'p> = [(&'p str, Type)];

/// The drop policy that `text` states, with statements.
///
/// # Errors
/// The first mistake.
pub fn statements(text: &str, parameters: &Parameters<'_>) -> Result<Program, Mistake> {
    let (parser, body) = all_statements(|| {
        let mut parser = Parser::new(text, parameters, &DROP)?;
        parser.declare_states()?;
        Ok(parser)
    })?;
    parser.finish(body)
}

/// The parser behind its last statement, and the statements from where `begin` leaves it.
fn all_statements<'t>(
    begin: impl Fn() -> Result<Parser<'t>, Mistake>,
) -> Result<(Parser<'t>, Vec<Statement>), Mistake> {
    let mut wider = Vec::new();
    loop {
        let mut parser = begin()?;
        parser.wider.clone_from(&wider);
        let body = parser.block(None)?;
        if parser.wider == wider {
            return Ok((parser, body));
        }
        // A local name is as wide as its widest assignment, also where it is read before that.
        wider = parser.wider;
    }
}

/// The texts of a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct SchedulerTexts<'t> {
    /// Names of state.
    pub state: &'t str,
    /// Statements for a VC that begins to wait.
    pub arrive: &'t str,
    /// Statements for a VC after one of its cells was taken.
    pub served: &'t str,
    /// The expression whose smallest value goes first.
    pub rank: &'t str,
}

/// The scheduler that `texts` state.
///
/// # Errors
/// The first mistake, and the text that has it.
pub fn scheduler<'t>(
    texts: &SchedulerTexts<'t>,
    parameters: &'t Parameters<'t>,
) -> Result<Ranking, (SchedulerText, Mistake)> {
    let states = Parser::only_states(texts.state, parameters);
    let states = states.map_err(|mistake| (SchedulerText::State, mistake))?;
    let (arrive, parser) =
        behind(&states, texts.arrive).map_err(|mistake| (SchedulerText::Arrive, mistake))?;
    let (served, parser) =
        behind(&parser, texts.served).map_err(|mistake| (SchedulerText::Served, mistake))?;
    let parser = parser.then(texts.rank);
    let rank = parser.and_then(Parser::rank);
    Ok(Ranking {
        arrive,
        served,
        rank: rank.map_err(|mistake| (SchedulerText::Rank, mistake))?,
    })
}

/// The drop policy that refuses when the expression `text` is true.
///
/// # Errors
/// The first mistake.
pub fn refuses_if(text: &str, parameters: &Parameters<'_>) -> Result<Program, Mistake> {
    let mut parser = Parser::new(text, parameters, &DROP)?;
    let at = parser.here().from;
    let condition = parser.alone(Parser::condition)?;
    parser.count_step(at)?;
    let refuse = parser.verdict(super::Verdict::Refuse, at)?;
    let body = vec![Statement::If {
        condition,
        then: vec![refuse],
        otherwise: Vec::new(),
    }];
    parser.finish(body)
}

/// The program of `text`, which follows what `before` has parsed, and the parser behind it.
fn behind<'t>(before: &Parser<'t>, text: &'t str) -> Result<(Program, Parser<'t>), Mistake> {
    let (parser, body) = all_statements(|| before.then(text))?;
    Ok((parser.finish(body)?, parser))
}

fn mistake(at: u32, message: impl Into<String>) -> Mistake {
    Mistake {
        at,
        message: message.into(),
        suggestion: None,
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Placed<'t>>,
    next: usize,
    parameters: &'t Parameters<'t>,
    dialect: &'static Dialect,
    used_parameters: Vec<bool>,
    states: Vec<State>,
    locals: Vec<(String, Type)>,
    used_locals: Vec<bool>,
    /// Local names that are wider than their first assignment, with their types.
    wider: Vec<(String, Type)>,
    /// Where each local name is assigned first.
    assigned_at: Vec<u32>,
    /// Bit i: whether local name i has a value here on every way.
    assigned: u64,
    uses: Uses,
    steps: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn new(
        text: &'t str,
        parameters: &'t Parameters<'t>,
        dialect: &'static Dialect,
    ) -> Result<Parser<'t>, Mistake> {
        if let Some((at, _)) = text.char_indices().nth(MOST_CHARACTERS) {
            let message = format!("is longer than {MOST_CHARACTERS} characters");
            return Err(mistake(at as u32, message));
        }
        Ok(Parser {
            text,
            tokens: tokens(text).map_err(|(at, message)| mistake(at, message))?,
            next: 0,
            parameters,
            dialect,
            used_parameters: vec![false; parameters.len()],
            states: Vec::new(),
            locals: Vec::new(),
            used_locals: Vec::new(),
            wider: Vec::new(),
            assigned_at: Vec::new(),
            assigned: 0,
            uses: Uses::default(),
            steps: 0,
            depth: 0,
        })
    }

    /// A parser of a scheduler behind `text`, which has nothing but states.
    fn only_states(text: &'t str, parameters: &'t Parameters<'t>) -> Result<Parser<'t>, Mistake> {
        let mut parser = Parser::new(text, parameters, &SCHEDULER)?;
        parser.declare_states()?;
        let found = parser.here();
        if found.token != Token::Nothing {
            let found_words = parser.show(found);
            let message = format!("expected `queue state` or `vc state`, not {found_words}");
            return Err(mistake(found.from, message));
        }
        Ok(parser)
    }

    /// A parser of `text`, which follows this one with the same states and parameters. Steps are
    /// counted together.
    fn then(&self, text: &'t str) -> Result<Parser<'t>, Mistake> {
        let mut parser = Parser::new(text, self.parameters, self.dialect)?;
        parser.states.clone_from(&self.states);
        parser.used_parameters.clone_from(&self.used_parameters);
        parser.steps = self.steps;
        Ok(parser)
    }

    /// The whole text as what `inner` parses. It may be broken anywhere.
    fn alone(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        self.tokens.retain(|t| t.token != Token::Separator);
        let found = inner(self)?;
        let rest = self.here();
        if rest.token != Token::Nothing {
            let shown = self.show(rest);
            let message = format!("expected an operator or the end, not {shown}");
            return Err(mistake(rest.from, message));
        }
        Ok(found)
    }

    /// The whole text as a number, which becomes the first local name.
    fn rank(mut self) -> Result<Program, Mistake> {
        let value = self.alone(Parser::expression)?;
        if value.of_type == Type::Bool {
            return Err(mistake(value.at, "a rank is a number, not a truth value"));
        }
        self.locals.push(("rank".to_string(), value.of_type));
        self.used_locals.push(true);
        self.finish(vec![Statement::Assign {
            target: Target::Local(0),
            value,
        }])
    }

    fn finish(&self, body: Vec<Statement>) -> Result<Program, Mistake> {
        if let Some(unused) = self.used_locals.iter().position(|used| !used) {
            let name = &self.locals[unused].0;
            return Err(Mistake {
                at: self.assigned_at[unused],
                message: format!("`{name}` is assigned but never used"),
                suggestion: meant(name, self.states.iter().map(|state| state.name.as_str())),
            });
        }
        let parameters = self.parameters.iter().zip(&self.used_parameters);
        let unused = parameters.filter(|(_, used)| !**used);
        Ok(Program {
            unused_parameters: unused.map(|((name, _), _)| name.to_string()).collect(),
            states: self.states.clone(),
            locals: self.locals.clone(),
            body,
            uses: self.uses.clone(),
            steps: self.steps,
        })
    }

    fn here(&self) -> Placed<'t> {
        self.tokens[self.next]
    }

    fn take(&mut self) -> Placed<'t> {
        let taken = self.here();
        if taken.token != Token::Nothing {
            self.next += 1;
        }
        taken
    }

    fn show(&self, placed: Placed<'_>) -> String {
        placed.token.show(self.text, placed.from, placed.to)
    }

    /// Takes `token`, or says that `what` was expected.
    fn expect(&mut self, token: Token<'_>, what: &str) -> Result<u32, Mistake> {
        let found = self.here();
        if found.token == token {
            self.next += 1;
            return Ok(found.from);
        }
        let found_words = self.show(found);
        Err(mistake(
            found.from,
            format!("expected {what}, not {found_words}"),
        ))
    }

    /// Takes the next token if it is the word `word`.
    fn takes_word(&mut self, word: &str) -> bool {
        let is = self.here().token == Token::Word(word);
        self.next += usize::from(is);
        is
    }

    fn skip_separators(&mut self) {
        while self.here().token == Token::Separator {
            self.next += 1;
        }
    }

    /// Skips ends of lines behind an operator.
    fn continues(&mut self) {
        while self.here().token == Token::Separator
            && self.text.as_bytes()[self.here().from as usize] == b'\n'
        {
            self.next += 1;
        }
    }

    fn count_step(&mut self, at: u32) -> Result<(), Mistake> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(mistake(at, format!("has more than {MOST_STEPS} steps")));
        }
        Ok(())
    }

    /// Runs `inner` one level deeper.
    fn deeper<T>(
        &mut self,
        at: u32,
        inner: impl FnOnce(&mut Self) -> Result<T, Mistake>,
    ) -> Result<T, Mistake> {
        if self.depth == DEEPEST {
            return Err(mistake(
                at,
                format!("is nested deeper than {DEEPEST} levels"),
            ));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn declare_states(&mut self) -> Result<(), Mistake> {
        loop {
            self.skip_separators();
            let owner = if self.takes_word("queue") {
                Owner::Queue
            } else if self.takes_word("vc") {
                Owner::Vc
            } else {
                return Ok(());
            };
            self.expect(Token::Word("state"), "`state`")?;
            let name = self.new_name("a state")?;
            let at = self.expect(Token::Assign, "`=` and the value at the start")?;
            if self.states.len() == MOST_STATES {
                return Err(mistake(
                    at,
                    format!("has more than {MOST_STATES} names of state"),
                ));
            }
            let (of_type, initial) = self.literal()?;
            self.states.push(State {
                name,
                owner,
                of_type,
                initial,
            });
            self.end_of_statement()?;
        }
    }

    /// The value at the start of a state: a number or a truth value. A decimal starts a float.
    fn literal(&mut self) -> Result<(Type, Constant), Mistake> {
        let negative = self.here().token == Token::Operator(Operator::Subtract);
        self.next += usize::from(negative);
        let sign = if negative { -1 } else { 1 };
        let found = self.take();
        match found.token {
            Token::Number(Constant::Integer(i)) => Ok((Type::Integer, Constant::Integer(sign * i))),
            Token::Number(Constant::Decimal(num, den)) => {
                Ok((Type::Float, Constant::Decimal(sign * num, den)))
            }
            Token::Word(word @ ("true" | "false")) if !negative => {
                Ok((Type::Bool, Constant::Integer(i128::from(word == "true"))))
            }
            _ => {
                let found_words = self.show(found);
                let message = format!("expected a number, `true` or `false`, not {found_words}");
                Err(mistake(found.from, message))
            }
        }
    }

    /// A name that has no meaning yet.
    fn new_name(&mut self, what: &str) -> Result<String, Mistake> {
        let found = self.take();
        let Token::Word(word) = found.token else {
            let found_words = self.show(found);
            return Err(mistake(
                found.from,
                format!("expected the name of {what}, not {found_words}"),
            ));
        };
        let is_parameter = self.parameters.iter().any(|(name, _)| *name == word);
        let taken_by = if self.dialect.reserves(word) {
            Some("the language")
        } else if is_parameter {
            Some("a parameter")
        } else if self.states.iter().any(|state| state.name == word) {
            Some("another state")
        } else {
            None
        };
        match taken_by {
            Some(owner) => Err(mistake(
                found.from,
                format!("`{word}` is a name of {owner}"),
            )),
            None => Ok(word.to_string()),
        }
    }

    fn end_of_statement(&mut self) -> Result<(), Mistake> {
        let found = self.here();
        match found.token {
            Token::Separator => self.skip_separators(),
            Token::Nothing | Token::End => {}
            _ => {
                let found_words = self.show(found);
                let message = format!("expected the end of the line or `;`, not {found_words}");
                return Err(mistake(found.from, message));
            }
        }
        Ok(())
    }

    /// Statements up to the end of the text, or up to the `}` of the block that begins at `begin`.
    fn block(&mut self, begin: Option<u32>) -> Result<Vec<Statement>, Mistake> {
        let mut all = Vec::new();
        loop {
            self.skip_separators();
            let found = self.here();
            match (found.token, begin) {
                (Token::End, Some(_)) => {
                    self.next += 1;
                    return Ok(all);
                }
                (Token::Nothing, None) => return Ok(all),
                (Token::Nothing, Some(begin)) => {
                    return Err(mistake(begin, "this `{` has no `}`"));
                }
                (Token::End, None) => return Err(mistake(found.from, "this `}` has no `{`")),
                _ => {}
            }
            if let Some(Statement::Verdict(..)) = all.last() {
                return Err(mistake(
                    found.from,
                    "is never reached, since a verdict ends the program",
                ));
            }
            all.push(self.statement()?);
        }
    }

    fn statement(&mut self) -> Result<Statement, Mistake> {
        let found = self.take();
        let Token::Word(word) = found.token else {
            let found_words = self.show(found);
            let message = format!("expected a statement, not {found_words}");
            return Err(mistake(found.from, message));
        };
        self.count_step(found.from)?;
        if word == "if" {
            return self.choice();
        }
        let mut verdicts = self.dialect.verdicts.iter();
        let statement = match verdicts.find(|(verdict, ..)| *verdict == word) {
            Some(&(_, verdict, _)) => self.verdict(verdict, found.from)?,
            None => self.assignment(word, found.from)?,
        };
        self.end_of_statement()?;
        Ok(statement)
    }

    fn verdict(&mut self, verdict: super::Verdict, at: u32) -> Result<Statement, Mistake> {
        if !self.uses.verdicts.contains(&verdict) {
            self.uses.verdicts.push(verdict);
        }
        // Nothing follows, so every name has a value there.
        self.assigned = u64::MAX;
        Ok(Statement::Verdict(verdict, at))
    }

    /// What follows `if`.
    fn choice(&mut self) -> Result<Statement, Mistake> {
        let condition = self.condition()?;
        let before = self.assigned;
        let then = self.braces()?;
        let after_then = std::mem::replace(&mut self.assigned, before);
        let ends = self.next;
        self.skip_separators();
        let otherwise = if self.takes_word("else") {
            let found = self.here();
            if self.takes_word("if") {
                self.count_step(found.from)?;
                vec![self.deeper(found.from, Self::choice)?]
            } else {
                self.braces()?
            }
        } else {
            self.next = ends;
            Vec::new()
        };
        self.assigned &= after_then;
        Ok(Statement::If {
            condition,
            then,
            otherwise,
        })
    }

    fn braces(&mut self) -> Result<Vec<Statement>, Mistake> {
        let begin = self.expect(Token::Begin, "an operator or `{`")?;
        self.deeper(begin, |parser| parser.block(Some(begin)))
    }

    fn assignment(&mut self, name: &'t str, at: u32) -> Result<Statement, Mistake> {
        let found = self.here();
        if found.token != Token::Assign {
            let ends = [Token::Separator, Token::Nothing, Token::End].contains(&found.token);
            let found_words = self.show(found);
            let verdicts = self.dialect.verdicts.iter().map(|(word, ..)| *word);
            let words = verdicts.chain(["if"]);
            return Err(Mistake {
                at: if ends { at } else { found.from },
                message: if ends {
                    format!("`{name}` is no statement")
                } else {
                    format!("expected `=` behind `{name}`, not {found_words}")
                },
                suggestion: meant(name, words),
            });
        }
        self.next += 1;
        if self.dialect.reserves(name) {
            return Err(mistake(
                at,
                format!("`{name}` is a name of the language and cannot be assigned"),
            ));
        }
        if self
            .parameters
            .iter()
            .any(|(parameter, _)| *parameter == name)
        {
            return Err(mistake(
                at,
                format!("`{name}` is a parameter and cannot be assigned"),
            ));
        }
        let value = self.expression()?;
        if let Some(index) = self.states.iter().position(|state| state.name == name) {
            let state = &self.states[index];
            let how = match state.of_type {
                Type::Integer => "start it as 0.0 to keep floats, or use floor()",
                _ => "its value at the start decides the type",
            };
            fits(&value, state.of_type, name, how)?;
            let target = Target::State(index);
            return Ok(Statement::Assign { target, value });
        }
        let index = match self.locals.iter().position(|(local, _)| local == name) {
            Some(index) => {
                let kept = self.locals[index].1;
                if kept == Type::Bool || value.of_type == Type::Bool {
                    fits(&value, kept, name, "its first assignment decides the type")?;
                } else if wider(kept, value.of_type) != kept {
                    self.widen(name, value.of_type);
                }
                index
            }
            None if self.locals.len() == MOST_LOCALS => {
                return Err(mistake(
                    at,
                    format!("assigns more than {MOST_LOCALS} names"),
                ));
            }
            None => {
                let known = self.wider.iter().find(|(wider, _)| wider == name);
                let of_type = known.map_or(value.of_type, |&(_, of_type)| of_type);
                self.locals.push((name.to_string(), of_type));
                self.used_locals.push(false);
                self.assigned_at.push(at);
                self.locals.len() - 1
            }
        };
        self.assigned |= 1 << index;
        let target = Target::Local(index);
        Ok(Statement::Assign { target, value })
    }

    /// Notes that the local `name` holds numbers of the type `of_type`.
    fn widen(&mut self, name: &str, of_type: Type) {
        match self.wider.iter_mut().find(|(wider, _)| wider == name) {
            Some(known) => known.1 = wider(known.1, of_type),
            None => self.wider.push((name.to_string(), of_type)),
        }
    }

    /// An expression that is true or false.
    fn condition(&mut self) -> Result<Expression, Mistake> {
        let condition = self.expression()?;
        if condition.of_type != Type::Bool {
            let message = format!(
                "expected something true or false, not the {} before it",
                condition.of_type
            );
            return Err(mistake(self.here().from, message));
        }
        Ok(condition)
    }

    fn expression(&mut self) -> Result<Expression, Mistake> {
        self.joined("or", Self::conjunction, Kind::Or)
    }

    fn conjunction(&mut self) -> Result<Expression, Mistake> {
        self.joined("and", Self::negation, Kind::And)
    }

    /// Truth values joined by `word`, from left to right.
    fn joined(
        &mut self,
        word: &str,
        operand: fn(&mut Self) -> Result<Expression, Mistake>,
        kind: fn(Box<Expression>, Box<Expression>) -> Kind,
    ) -> Result<Expression, Mistake> {
        let mut left = operand(self)?;
        while let found = self.here()
            && self.takes_word(word)
        {
            self.count_step(found.from)?;
            self.continues();
            let right = operand(self)?;
            truths(word, [&left, &right], found.from)?;
            left = Expression {
                kind: kind(Box::new(left), Box::new(right)),
                of_type: Type::Bool,
                at: found.from,
            };
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Mistake> {
        let found = self.here();
        if !self.takes_word("not") {
            return self.comparison();
        }
        self.count_step(found.from)?;
        self.continues();
        let inner = self.deeper(found.from, Self::negation)?;
        truths("not", [&inner], found.from)?;
        Ok(Expression {
            kind: Kind::Not(Box::new(inner)),
            of_type: Type::Bool,
            at: found.from,
        })
    }

    fn comparison(&mut self) -> Result<Expression, Mistake> {
        let left = self.sum()?;
        let found = self.here();
        let Token::Compare(comparison) = found.token else {
            return Ok(left);
        };
        self.next += 1;
        self.count_step(found.from)?;
        self.continues();
        let right = self.sum()?;
        numbers(self.text, found, [&left, &right])?;
        if let Token::Compare(_) = self.here().token {
            let message = "compare two numbers at a time, joined by `and`";
            return Err(mistake(self.here().from, message));
        }
        Ok(Expression {
            kind: Kind::Compare(comparison, Box::new(left), Box::new(right)),
            of_type: Type::Bool,
            at: found.from,
        })
    }

    fn sum(&mut self) -> Result<Expression, Mistake> {
        self.chain(&[Operator::Add, Operator::Subtract], Self::product)
    }

    fn product(&mut self) -> Result<Expression, Mistake> {
        self.chain(&[Operator::Multiply, Operator::Divide], Self::sign)
    }

    /// Operands of `operators`, from left to right.
    fn chain(
        &mut self,
        operators: &[Operator],
        operand: fn(&mut Self) -> Result<Expression, Mistake>,
    ) -> Result<Expression, Mistake> {
        let mut left = operand(self)?;
        loop {
            let found = self.here();
            let operator = match found.token {
                Token::Operator(operator) if operators.contains(&operator) => operator,
                _ => return Ok(left),
            };
            self.next += 1;
            self.count_step(found.from)?;
            self.continues();
            let right = operand(self)?;
            numbers(self.text, found, [&left, &right])?;
            let widest = wider(left.of_type, right.of_type);
            let of_type = match operator {
                Operator::Divide if widest == Type::Integer => Type::Decimal,
                _ => widest,
            };
            left = Expression {
                kind: Kind::Arithmetic(operator, Box::new(left), Box::new(right)),
                of_type,
                at: found.from,
            };
        }
    }

    fn sign(&mut self) -> Result<Expression, Mistake> {
        let found = self.take();
        match found.token {
            Token::Operator(Operator::Subtract) => {
                self.count_step(found.from)?;
                let inner = self.deeper(found.from, Self::sign)?;
                numbers(self.text, found, [&inner])?;
                let of_type = inner.of_type;
                Ok(Expression {
                    kind: Kind::Negate(Box::new(inner)),
                    of_type,
                    at: found.from,
                })
            }
            Token::Number(number) => {
                let of_type = match number {
                    Constant::Integer(_) => Type::Integer,
                    Constant::Decimal(..) | Constant::Unlimited => Type::Decimal,
                };
                Ok(leaf(Kind::Constant(number), of_type, found.from))
            }
            Token::Open => {
                let inner = self.deeper(found.from, Self::expression)?;
                self.expect(Token::Close, "an operator or `)`")?;
                Ok(inner)
            }
            Token::Word(word @ ("true" | "false")) => {
                Ok(leaf(Kind::Bool(word == "true"), Type::Bool, found.from))
            }
            Token::Word(word) => self.named(word, found.from),
            _ => {
                let found_words = self.show(found);
                Err(mistake(
                    found.from,
                    format!("expected a number or a name, not {found_words}"),
                ))
            }
        }
    }

    fn named(&mut self, word: &'t str, at: u32) -> Result<Expression, Mistake> {
        let Dialect {
            names, functions, ..
        } = self.dialect;
        if let Some(function) = functions.iter().find(|function| function.word == word) {
            return self.call(function.of, word, at);
        }
        if let Some(name) = names.iter().find(|name| name.word == word) {
            if !self.uses.knows(name.of) {
                self.uses.known.push(name.of);
            }
            return Ok(leaf(Kind::Known(name.of), name.of_type, at));
        }
        if let Some(i) = self.parameters.iter().position(|(name, _)| *name == word) {
            self.used_parameters[i] = true;
            return Ok(leaf(Kind::Parameter(i), self.parameters[i].1, at));
        }
        if let Some(i) = self.states.iter().position(|state| state.name == word) {
            return Ok(leaf(Kind::State(i), self.states[i].of_type, at));
        }
        if let Some(i) = self.locals.iter().position(|(name, _)| name == word) {
            if self.assigned & (1 << i) == 0 {
                return Err(mistake(
                    at,
                    format!("`{word}` may have no value yet: it is not assigned on every way here"),
                ));
            }
            self.used_locals[i] = true;
            return Ok(leaf(Kind::Local(i), self.locals[i].1, at));
        }
        Err(Mistake {
            at,
            message: match word {
                "if" | "else" | "queue" | "vc" | "state" | "and" | "or" => {
                    format!("expected a number or a name, not `{word}`")
                }
                _ if self.dialect.reserves(word) => {
                    format!("`{word}` is a verdict and stands alone")
                }
                _ if is_known_anywhere(word) => {
                    format!("`{word}` does not exist in {}", self.dialect.of)
                }
                _ => format!("unknown name `{word}`"),
            },
            suggestion: meant(word, self.all_names()),
        })
    }

    /// Every name that has a value.
    fn all_names(&self) -> impl Iterator<Item = &str> {
        let known = self.dialect.names.iter().map(|name| name.word);
        let functions = self.dialect.functions.iter().map(|function| function.word);
        let parameters = self.parameters.iter().map(|(name, _)| *name);
        let states = self.states.iter().map(|state| state.name.as_str());
        let locals = self.locals.iter().map(|(name, _)| name.as_str());
        parameters
            .chain(states)
            .chain(locals)
            .chain(known)
            .chain(functions)
    }

    fn call(&mut self, function: Function, word: &str, at: u32) -> Result<Expression, Mistake> {
        self.count_step(at)?;
        let open = self.expect(Token::Open, &format!("`(` behind `{word}`"))?;
        let arguments = self.deeper(open, Self::arguments)?;
        let takes = match function {
            Function::Min | Function::Max | Function::Power => 2,
            Function::Abs | Function::Floor | Function::Float | Function::Sum => 1,
            Function::Draw => 0,
        };
        if arguments.len() != takes {
            let message = format!("`{word}` takes {takes} values, not {}", arguments.len());
            return Err(mistake(at, message));
        }
        for argument in &arguments {
            if argument.of_type == Type::Bool {
                let message = format!("`{word}` takes numbers, not a truth value");
                return Err(mistake(argument.at, message));
            }
        }
        let of_type = match function {
            Function::Min | Function::Max => wider(arguments[0].of_type, arguments[1].of_type),
            Function::Abs => arguments[0].of_type,
            Function::Floor => Type::Integer,
            Function::Float => Type::Float,
            Function::Power if arguments[1].of_type == Type::Integer => Type::Float,
            Function::Power => {
                return Err(mistake(
                    arguments[1].at,
                    "the exponent of `power` must be an integer",
                ));
            }
            Function::Sum => {
                let rates = [Known::Mcr, Known::Pcr, Known::Scr];
                match arguments[0].kind {
                    Kind::Known(name) if rates.contains(&name) => Type::Integer,
                    _ => {
                        let allowed = list(rates.map(Known::word));
                        let message = format!("`sum` takes one of {allowed}");
                        return Err(mistake(arguments[0].at, message));
                    }
                }
            }
            Function::Draw => {
                self.uses.draws = true;
                Type::Float
            }
        };
        Ok(Expression {
            kind: Kind::Call(function, arguments),
            of_type,
            at,
        })
    }

    fn arguments(&mut self) -> Result<Vec<Expression>, Mistake> {
        let mut all = Vec::new();
        if self.here().token == Token::Close {
            self.next += 1;
            return Ok(all);
        }
        loop {
            all.push(self.expression()?);
            if self.here().token != Token::Comma {
                self.expect(Token::Close, "an operator, `,` or `)`")?;
                return Ok(all);
            }
            self.next += 1;
        }
    }
}

fn leaf(kind: Kind, of_type: Type, at: u32) -> Expression {
    Expression { kind, of_type, at }
}

/// The type to which two numbers convert.
fn wider(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Float, _) | (_, Type::Float) => Type::Float,
        (Type::Decimal, _) | (_, Type::Decimal) => Type::Decimal,
        _ => Type::Integer,
    }
}

/// Whether `value` can be kept if values have the type `of_type`.
fn fits(value: &Expression, of_type: Type, name: &str, how: &str) -> Result<(), Mistake> {
    let both_numbers = value.of_type != Type::Bool && of_type != Type::Bool;
    let converts = both_numbers && wider(value.of_type, of_type) == of_type;
    if converts || value.of_type == of_type {
        return Ok(());
    }
    let message = format!(
        "`{name}` holds the type {of_type}, not {}: {how}",
        value.of_type
    );
    Err(mistake(value.at, message))
}

fn truths<const M: usize>(word: &str, operands: [&Expression; M], at: u32) -> Result<(), Mistake> {
    match operands
        .iter()
        .find(|operand| operand.of_type != Type::Bool)
    {
        Some(wrong) => {
            let message = format!(
                "`{word}` joins truth values, not a value of the type {}",
                wrong.of_type
            );
            Err(mistake(at, message))
        }
        None => Ok(()),
    }
}

fn numbers<const M: usize>(
    text: &str,
    operator: Placed<'_>,
    operands: [&Expression; M],
) -> Result<(), Mistake> {
    if operands.iter().all(|operand| operand.of_type != Type::Bool) {
        return Ok(());
    }
    let shown = operator.token.show(text, operator.from, operator.to);
    Err(mistake(
        operator.from,
        format!("{shown} takes numbers, not a truth value"),
    ))
}

/// Why `name` cannot name a parameter in `dialect`, if so.
pub fn fault_of_parameter(name: &str, dialect: &Dialect) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if dialect.reserves(name) {
        Some("reserved word of the language".into())
    } else if name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(fits) {
        Some("must consist of letters, digits and _, and not begin with a digit".into())
    } else {
        None
    }
}
