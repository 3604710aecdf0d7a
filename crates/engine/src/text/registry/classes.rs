//! The service classes as choices, and as the names of class queues.

use super::component::{Parameter, parameter};
use super::family::Family;
use super::kind::Default;
use super::kind::{Kind, choice};
use crate::ground::class::Class;

const COUNT: usize = Class::ALL.len();

/// What a class is, and what its queue is.
const fn help(class: Class) -> (&'static str, &'static str) {
    match class {
        Class::Cbr => ("Constant bit rate.", "Queue of class cbr."),
        Class::Vbr => ("Variable bit rate.", "Queue of class vbr."),
        Class::Abr => ("Available bit rate.", "Queue of class abr."),
        Class::Gfr => ("Guaranteed frame rate.", "Queue of class gfr."),
        Class::Ubr => ("Unspecified bit rate.", "Queue of class ubr."),
    }
}

/// The service classes.
pub(super) const CLASSES: Kind = Kind::Choice(&{
    let mut all = [choice("", ""); COUNT];
    let mut i = 0;
    while i < COUNT {
        let class = Class::ALL[i];
        all[i] = choice(class.name(), help(class).0);
        i += 1;
    }
    all
});

/// How many parameters a port or switch has with its class queues.
pub(super) const fn with_queues(parameters: &[Parameter]) -> usize {
    parameters.len() + COUNT
}

/// The `parameters` of a port or switch, and after them a queue for each class.
pub(super) const fn class_queues<const ALL: usize>(
    parameters: &[Parameter],
    default: &'static str,
) -> [Parameter; ALL] {
    assert!(ALL == with_queues(parameters));
    let mut all = [parameters[0]; ALL];
    let mut i = 0;
    while i < ALL {
        all[i] = if i < parameters.len() {
            parameters[i]
        } else {
            let class = Class::ALL[i - parameters.len()];
            let kind = Kind::One(Family::Queue);
            parameter(class.name(), kind, Default::Derived(default), help(class).1)
        };
        i += 1;
    }
    all
}
