//! Compiles programs for one queue or port: parameters, K and sums over VCs become constants, and
//! what follows from constants alone is computed once.

use super::machine::{Op, Outside, Pair, Register, UNLIMITED, bits, run, to_float};
use super::names::{Function, Known};
use super::{
    Constant, Expression, Kind, Operator, Owner, Program, Statement, Target, Type, Verdict,
};
use crate::ground::rng::Stream;
use std::collections::HashMap;

/// Constants of one queue.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Values of the parameters, in the order in which the program was read.
    pub parameters: Vec<Constant>,
    /// K; `None`: unlimited.
    pub buffer: Option<u64>,
    /// Time of a cell on the link, ticks.
    pub cell_time: u64,
    /// Sums of MCR, PCR and SCR over the VCs of the queue, bit/s.
    pub sums: [u64; 3],
}

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Code {
    /// Operations.
    pub ops: Vec<Op>,
    /// Where the text of each operation begins, in bytes.
    pub places: Vec<u32>,
    /// Registers at the start of the first run. States of the queue stay in theirs.
    pub registers: Vec<i128>,
    /// Names that must be set before each run.
    pub names: Vec<(Known, Register)>,
    /// States of the queue: index in the program, and register.
    pub of_queue: Vec<(usize, Register)>,
    /// Start values of the states of a VC, and their indices in the program.
    pub of_vc: Vec<(usize, i128)>,
    /// Of each text, its first operation and the registers of its local names.
    pub texts: Vec<(usize, Vec<Register>)>,
}

/// Answers of compiled programs, by number.
pub const ANSWERS: [Verdict; 6] = [
    Verdict::Accept,
    Verdict::Tag,
    Verdict::Refuse,
    Verdict::RefuseCell,
    Verdict::PushOutCell,
    Verdict::PushOutFrame,
];

/// Where a value is.
#[derive(Clone, Copy, Debug)]
enum Operand {
    One(Register),
    Two(Pair),
}

/// Compiles `programs`, which have the same states and parameters, for a queue or port in these
/// `surroundings`.
pub fn compile(programs: &[&Program], surroundings: &Surroundings) -> Code {
    let mut compiler = Compiler::new(programs[0], surroundings);
    compiler.lay_out_names(programs);
    compiler.lay_out_states();
    for program in programs {
        compiler.program = program;
        compiler.lay_out_locals();
        let start = compiler.code.ops.len();
        compiler.block(&program.body);
        compiler.emit(Op::Answer { answer: 0 }, 0);
        let locals = compiler.locals.clone();
        compiler.code.texts.push((start, locals));
    }
    compiler.code
}

/// The register of a state's start value.
pub fn start_of(of_type: Type, initial: Constant) -> i128 {
    match (of_type, initial) {
        (Type::Float, Constant::Integer(i)) => bits(to_float(i)),
        (_, Constant::Integer(i)) => i,
        (_, Constant::Decimal(num, den)) => bits(to_float(num) / to_float(den)),
        (_, Constant::Unlimited) => UNLIMITED,
    }
}

struct Compiler<'p> {
    program: &'p Program,
    surroundings: &'p Surroundings,
    code: Code,
    /// Registers of constants by value.
    constants: HashMap<i128, Register>,
    /// By register.
    is_constant: Vec<bool>,
    /// Registers of the local names; a decimal takes two.
    locals: Vec<Register>,
}

impl<'p> Compiler<'p> {
    fn new(program: &'p Program, surroundings: &'p Surroundings) -> Compiler<'p> {
        Compiler {
            program,
            surroundings,
            code: Code {
                ops: Vec::new(),
                places: Vec::new(),
                registers: Vec::new(),
                names: Vec::new(),
                of_queue: Vec::new(),
                of_vc: Vec::new(),
                texts: Vec::new(),
            },
            constants: HashMap::new(),
            is_constant: Vec::new(),
            locals: Vec::new(),
        }
    }

    /// Gives registers to the names that any of `programs` uses.
    fn lay_out_names(&mut self, programs: &[&Program]) {
        for &name in programs.iter().flat_map(|program| &program.uses.known) {
            let is_new = self.code.names.iter().all(|(known, _)| *known != name);
            if is_new && !matches!(name, Known::K | Known::CellTime) {
                let register = self.register();
                self.code.names.push((name, register));
            }
        }
    }

    fn lay_out_states(&mut self) {
        for (index, state) in self.program.states.iter().enumerate() {
            let start = start_of(state.of_type, state.initial);
            match state.owner {
                Owner::Queue => {
                    let register = self.register();
                    self.code.registers[usize::from(register)] = start;
                    self.code.of_queue.push((index, register));
                }
                Owner::Vc => self.code.of_vc.push((index, start)),
            }
        }
    }

    fn lay_out_locals(&mut self) {
        self.locals.clear();
        for &(_, of_type) in &self.program.locals {
            let register = self.register();
            if of_type == Type::Decimal {
                self.register();
            }
            self.locals.push(register);
        }
    }

    /// A new register.
    fn register(&mut self) -> Register {
        self.code.registers.push(0);
        self.is_constant.push(false);
        (self.code.registers.len() - 1) as Register
    }

    fn constant(&mut self, value: i128) -> Register {
        if let Some(&register) = self.constants.get(&value) {
            return register;
        }
        let register = self.register();
        self.code.registers[usize::from(register)] = value;
        self.is_constant[usize::from(register)] = true;
        self.constants.insert(value, register);
        register
    }

    fn emit(&mut self, op: Op, at: u32) {
        self.code.ops.push(op);
        self.code.places.push(at);
    }

    /// Index of the next operation.
    fn here(&self) -> u16 {
        self.code.ops.len() as u16
    }

    /// Lets `jumps` lead to the next operation.
    fn land(&mut self, jumps: Vec<usize>) {
        let here = self.here();
        for jump in jumps {
            self.code.ops[jump].lead_to(here);
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Assign { target, value } => self.assign(*target, value),
                Statement::Verdict(verdict, at) => {
                    let answer = ANSWERS.iter().position(|answer| answer == verdict);
                    let answer = answer.unwrap_or(0) as u16;
                    self.emit(Op::Answer { answer }, *at);
                }
                Statement::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let no = self.branch(condition, false);
                    self.block(then);
                    if otherwise.is_empty() {
                        self.land(no);
                        continue;
                    }
                    let past = self.code.ops.len();
                    self.emit(Op::Jump { to: 0 }, condition.at);
                    self.land(no);
                    self.block(otherwise);
                    self.land(vec![past]);
                }
            }
        }
    }

    fn assign(&mut self, target: Target, value: &Expression) {
        let of_type = match target {
            Target::State(i) => self.program.states[i].of_type,
            Target::Local(i) => self.program.locals[i].1,
        };
        let at = value.at;
        let first = self.code.ops.len();
        let operand = self.value_as(value, of_type);
        match (target, operand) {
            (Target::Local(i), Operand::Two(pair)) => {
                let to = self.locals[i];
                self.emit(Op::Copy { to, a: pair.num }, at);
                self.emit(
                    Op::Copy {
                        to: to + 1,
                        a: pair.den,
                    },
                    at,
                );
            }
            (Target::Local(i), Operand::One(a)) => self.put(self.locals[i], a, first, at),
            (Target::State(i), Operand::One(a)) => {
                let of_queue = self.code.of_queue.iter().find(|(state, _)| *state == i);
                match of_queue.map(|&(_, register)| register) {
                    Some(to) => self.put(to, a, first, at),
                    None => {
                        let state = self.place_of(i);
                        self.emit(Op::Store { state, a }, at);
                    }
                }
            }
            (Target::State(_), Operand::Two(_)) => unreachable!("no state is a decimal"),
        }
    }

    /// Puts the value of register `a`, which the operations from `first` on have made, into `to`.
    fn put(&mut self, to: Register, a: Register, first: usize, at: u32) {
        let is_new = !self.is_constant[usize::from(a)] && self.code.ops.len() > first;
        if is_new
            && let Some(last) = self.code.ops.last_mut()
            && let Some(result) = last.result().filter(|result| **result == a)
        {
            *result = to;
            return;
        }
        self.emit(Op::Copy { to, a }, at);
    }

    /// Place of a state among those of a VC.
    fn place_of(&self, state: usize) -> u16 {
        let place = self.code.of_vc.iter().position(|(i, _)| *i == state);
        place.expect("it is a state of the VC") as u16
    }

    /// The value of `e`, converted to `of_type`.
    fn value_as(&mut self, e: &Expression, of_type: Type) -> Operand {
        let operand = self.value(e);
        match of_type {
            Type::Decimal => Operand::Two(self.as_pair(operand)),
            Type::Float => Operand::One(self.as_float(operand, e)),
            Type::Integer | Type::Bool => operand,
        }
    }

    fn as_pair(&mut self, operand: Operand) -> Pair {
        match operand {
            Operand::Two(pair) => pair,
            Operand::One(num) => Pair {
                num,
                den: self.constant(1),
            },
        }
    }

    fn as_float(&mut self, operand: Operand, e: &Expression) -> Register {
        match (operand, e.of_type) {
            (Operand::One(register), Type::Float) => register,
            (Operand::One(a), _) => {
                let to = self.register();
                self.compute(Op::FloatOfInteger { to, a }, &[operand], to, e.at)
            }
            (Operand::Two(a), _) => {
                let to = self.register();
                self.compute(Op::FloatOfDecimal { to, a }, &[operand], to, e.at)
            }
        }
    }

    /// Emits `op`, or computes it if all of `from` are constants and it does not fail. Returns the
    /// register of the result.
    fn compute(&mut self, op: Op, from: &[Operand], to: Register, at: u32) -> Register {
        let constant = |r: &Register| self.is_constant[usize::from(*r)];
        let folds = from.iter().all(|operand| match operand {
            Operand::One(a) => constant(a),
            Operand::Two(pair) => constant(&pair.num) && constant(&pair.den),
        });
        let mut outside = Outside {
            of_vc: &mut [],
            draws: Stream::new(0, 0, "", ""),
            drawn: &mut 0,
        };
        let alone = [op, Op::Answer { answer: 0 }];
        if folds
            && run(&alone, 0, &mut self.code.registers, &mut outside)
                .1
                .is_ok()
        {
            self.is_constant[usize::from(to)] = true;
        } else {
            self.emit(op, at);
        }
        to
    }

    /// As [`Compiler::compute`], for a result of two registers.
    fn compute_pair(&mut self, op: Op, from: [Operand; 2], to: Register, at: u32) -> Operand {
        self.compute(op, &from, to, at);
        self.is_constant[usize::from(to) + 1] = self.is_constant[usize::from(to)];
        Operand::Two(Pair {
            num: to,
            den: to + 1,
        })
    }

    fn known(&mut self, constant: Constant, of_type: Type) -> Operand {
        let (num, den) = match constant {
            Constant::Integer(i) => (i, 1),
            Constant::Decimal(num, den) => (num, den),
            Constant::Unlimited => (UNLIMITED, 1),
        };
        let num = self.constant(num);
        if of_type != Type::Decimal {
            return Operand::One(num);
        }
        Operand::Two(Pair {
            num,
            den: self.constant(den),
        })
    }

    fn value(&mut self, e: &Expression) -> Operand {
        match &e.kind {
            Kind::Constant(constant) => self.known(*constant, e.of_type),
            Kind::Parameter(i) => self.known(self.surroundings.parameters[*i], e.of_type),
            Kind::Bool(truth) => Operand::One(self.constant(i128::from(*truth))),
            Kind::Known(Known::K) => {
                let k = self.surroundings.buffer.map_or(UNLIMITED, i128::from);
                Operand::One(self.constant(k))
            }
            Kind::Known(Known::CellTime) => {
                Operand::One(self.constant(self.surroundings.cell_time.into()))
            }
            Kind::Known(name) => {
                let found = self.code.names.iter().find(|(known, _)| known == name);
                Operand::One(found.expect("it is used").1)
            }
            Kind::State(i) => self.state(*i, e.at),
            Kind::Local(i) => {
                let register = self.locals[*i];
                match e.of_type {
                    Type::Decimal => Operand::Two(Pair {
                        num: register,
                        den: register + 1,
                    }),
                    _ => Operand::One(register),
                }
            }
            Kind::Not(_) | Kind::And(..) | Kind::Or(..) | Kind::Compare(..) => {
                let to = self.register();
                let (no, yes) = (self.constant(0), self.constant(1));
                self.emit(Op::Copy { to, a: no }, e.at);
                let is_false = self.branch(e, false);
                self.emit(Op::Copy { to, a: yes }, e.at);
                self.land(is_false);
                Operand::One(to)
            }
            Kind::Negate(inner) => match self.value(inner) {
                Operand::Two(a) => {
                    let to = self.register();
                    let num = [Operand::One(a.num)];
                    let num = self.compute(Op::NegateInteger { to, a: a.num }, &num, to, e.at);
                    Operand::Two(Pair { num, den: a.den })
                }
                Operand::One(a) => {
                    let to = self.register();
                    let op = match e.of_type {
                        Type::Float => Op::NegateFloat { to, a },
                        _ => Op::NegateInteger { to, a },
                    };
                    Operand::One(self.compute(op, &[Operand::One(a)], to, e.at))
                }
            },
            Kind::Arithmetic(operator, a, b) => self.arithmetic(*operator, a, b, e),
            Kind::Call(function, arguments) => self.call(*function, arguments, e),
        }
    }

    fn state(&mut self, index: usize, at: u32) -> Operand {
        let of_queue = self.code.of_queue.iter().find(|(state, _)| *state == index);
        if let Some(&(_, register)) = of_queue {
            return Operand::One(register);
        }
        let (to, state) = (self.register(), self.place_of(index));
        self.emit(Op::Load { to, state }, at);
        Operand::One(to)
    }

    fn arithmetic(
        &mut self,
        operator: Operator,
        a: &Expression,
        b: &Expression,
        e: &Expression,
    ) -> Operand {
        let operands = [self.value_as(a, e.of_type), self.value_as(b, e.of_type)];
        let to = self.register();
        match operands {
            [Operand::Two(a), Operand::Two(b)] => {
                self.register();
                let op = match operator {
                    Operator::Add => Op::AddDecimals { to, a, b },
                    Operator::Subtract => Op::SubtractDecimals { to, a, b },
                    Operator::Multiply => Op::MultiplyDecimals { to, a, b },
                    Operator::Divide => Op::DivideDecimals { to, a, b },
                };
                self.compute_pair(op, operands, to, e.at)
            }
            [Operand::One(a), Operand::One(b)] => {
                let op = match (operator, e.of_type) {
                    (Operator::Add, Type::Float) => Op::AddFloats { to, a, b },
                    (Operator::Subtract, Type::Float) => Op::SubtractFloats { to, a, b },
                    (Operator::Multiply, Type::Float) => Op::MultiplyFloats { to, a, b },
                    (Operator::Divide, _) => Op::DivideFloats { to, a, b },
                    (Operator::Add, _) => Op::AddIntegers { to, a, b },
                    (Operator::Subtract, _) => Op::SubtractIntegers { to, a, b },
                    (Operator::Multiply, _) => Op::MultiplyIntegers { to, a, b },
                };
                Operand::One(self.compute(op, &operands, to, e.at))
            }
            _ => unreachable!("both have the type of the result"),
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expression], e: &Expression) -> Operand {
        if function == Function::Draw {
            let to = self.register();
            self.emit(Op::Draw { to }, e.at);
            return Operand::One(to);
        }
        if function == Function::Sum {
            let which = match arguments[0].kind {
                Kind::Known(Known::Mcr) => 0,
                Kind::Known(Known::Pcr) => 1,
                _ => 2,
            };
            return Operand::One(self.constant(self.surroundings.sums[which].into()));
        }
        let first_type = match function {
            Function::Min | Function::Max => e.of_type,
            Function::Power | Function::Float => Type::Float,
            _ => arguments[0].of_type,
        };
        let a = self.value_as(&arguments[0], first_type);
        let b = arguments.get(1).map(|b| match function {
            Function::Power => self.value(b),
            _ => self.value_as(b, e.of_type),
        });
        let to = self.register();
        match (function, a, b) {
            (Function::Min | Function::Max, Operand::Two(x), Some(Operand::Two(y))) => {
                self.register();
                let op = match function {
                    Function::Min => Op::MinDecimal { to, a: x, b: y },
                    _ => Op::MaxDecimal { to, a: x, b: y },
                };
                self.compute_pair(op, [a, Operand::Two(y)], to, e.at)
            }
            (
                Function::Min | Function::Max | Function::Power,
                Operand::One(x),
                Some(Operand::One(y)),
            ) => {
                let op = match (function, e.of_type) {
                    (Function::Power, _) => Op::Power { to, a: x, n: y },
                    (Function::Min, Type::Float) => Op::MinFloat { to, a: x, b: y },
                    (Function::Min, _) => Op::MinInteger { to, a: x, b: y },
                    (_, Type::Float) => Op::MaxFloat { to, a: x, b: y },
                    _ => Op::MaxInteger { to, a: x, b: y },
                };
                Operand::One(self.compute(op, &[a, Operand::One(y)], to, e.at))
            }
            (Function::Abs, Operand::Two(x), _) => {
                let op = Op::AbsInteger { to, a: x.num };
                let num = self.compute(op, &[Operand::One(x.num)], to, e.at);
                Operand::Two(Pair { num, den: x.den })
            }
            (Function::Abs, Operand::One(x), _) => {
                let op = match e.of_type {
                    Type::Float => Op::AbsFloat { to, a: x },
                    _ => Op::AbsInteger { to, a: x },
                };
                Operand::One(self.compute(op, &[a], to, e.at))
            }
            (Function::Floor, Operand::Two(x), _) => {
                Operand::One(self.compute(Op::FloorDecimal { to, a: x }, &[a], to, e.at))
            }
            (Function::Floor, Operand::One(x), _) if arguments[0].of_type == Type::Float => {
                Operand::One(self.compute(Op::FloorFloat { to, a: x }, &[a], to, e.at))
            }
            // An integer, or what is a float already.
            _ => a,
        }
    }

    /// Operations that jump if `e` is `if_is`, and go on elsewhere. Returns the jumps, which
    /// lead nowhere yet.
    fn branch(&mut self, e: &Expression, if_is: bool) -> Vec<usize> {
        match (&e.kind, if_is) {
            (Kind::Bool(truth), _) => {
                if *truth == if_is {
                    self.emit(Op::Jump { to: 0 }, e.at);
                    return vec![self.code.ops.len() - 1];
                }
                Vec::new()
            }
            (Kind::Not(inner), _) => self.branch(inner, !if_is),
            (Kind::And(a, b), false) | (Kind::Or(a, b), true) => {
                let mut jumps = self.branch(a, if_is);
                jumps.extend(self.branch(b, if_is));
                jumps
            }
            (Kind::And(a, b), true) | (Kind::Or(a, b), false) => {
                let past = self.branch(a, !if_is);
                let jumps = self.branch(b, if_is);
                self.land(past);
                jumps
            }
            (Kind::Compare(how, a, b), _) => {
                let of_type = match (a.of_type, b.of_type) {
                    (Type::Float, _) | (_, Type::Float) => Type::Float,
                    (Type::Decimal, _) | (_, Type::Decimal) => Type::Decimal,
                    _ => Type::Integer,
                };
                let operands = (self.value_as(a, of_type), self.value_as(b, of_type));
                let (how, to) = (*how, 0);
                let op = match (operands, of_type) {
                    ((Operand::Two(a), Operand::Two(b)), _) => Op::JumpDecimals {
                        a,
                        how,
                        b,
                        if_is,
                        to,
                    },
                    ((Operand::One(a), Operand::One(b)), Type::Float) => Op::JumpFloats {
                        a,
                        how,
                        b,
                        if_is,
                        to,
                    },
                    ((Operand::One(a), Operand::One(b)), _) => Op::JumpIntegers {
                        a,
                        how,
                        b,
                        if_is,
                        to,
                    },
                    _ => unreachable!("both have one type"),
                };
                self.emit(op, e.at);
                vec![self.code.ops.len() - 1]
            }
            _ => {
                let Operand::One(a) = self.value(e) else {
                    unreachable!("a truth value takes one register");
                };
                self.emit(Op::JumpIf { a, if_is, to: 0 }, e.at);
                vec![self.code.ops.len() - 1]
            }
        }
    }
}

/// The value of `e`, a number without names of the program, as a fraction. `None` if that fails,
/// and for floats.
pub fn value_of(e: &Expression, surroundings: &Surroundings) -> Option<(i128, i128)> {
    let nothing = Program {
        states: Vec::new(),
        locals: Vec::new(),
        body: Vec::new(),
        uses: super::Uses::default(),
        steps: 0,
        unused_parameters: Vec::new(),
    };
    let mut compiler = Compiler::new(&nothing, surroundings);
    let operand = compiler.value(e);
    let read = |r: Register| {
        let at = usize::from(r);
        compiler.is_constant[at].then_some(compiler.code.registers[at])
    };
    match operand {
        Operand::One(a) if e.of_type == Type::Integer => Some((read(a)?, 1)),
        Operand::Two(pair) => Some((read(pair.num)?, read(pair.den)?)),
        Operand::One(_) => None,
    }
}
