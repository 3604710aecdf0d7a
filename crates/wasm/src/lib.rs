//! The engine behind a C interface, for WebAssembly. A worker of the explorer page calls it.
//!
//! A caller asks for [`room`], writes a request there (UTF-8), and calls a function with its
//! length. Each function returns the length of its answer. The answer is JSON text that begins at
//! [`answer`] and lasts until the next call.
//!
//! An error is answered by `{"errors": [...]}`. A panic leaves its message at [`panicked_at`], and
//! the instance must not be used again.
#![allow(unsafe_code)]

mod calls;

pub use calls::{Run, build, components, read, text, written};
use std::cell::RefCell;

#[derive(Default)]
struct State {
    request: Vec<u8>,
    answer: String,
    points: Vec<f64>,
    file: Vec<u8>,
    run: Option<Run>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    /// Message of a panic. Kept apart, as a panic may come while the state is borrowed.
    static PANIC: RefCell<String> = RefCell::default();
}

/// Makes room for a request of `len` bytes and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn room(len: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|info| PANIC.set(info.to_string())));
    STATE.with_borrow_mut(|state| {
        state.request = vec![0; len];
        state.request.as_mut_ptr()
    })
}

/// Keeps what `work` makes of the request as the answer, and returns its length.
fn answered(work: impl FnOnce(&mut State, &str) -> String) -> usize {
    STATE.with_borrow_mut(|state| {
        let bytes = std::mem::take(&mut state.request);
        let request = String::from_utf8_lossy(&bytes);
        state.answer = work(state, &request);
        state.answer.len()
    })
}

/// Returns the address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Returns the address of the points of the last [`advance`].
#[unsafe(no_mangle)]
pub extern "C" fn points() -> *const f64 {
    STATE.with_borrow(|state| state.points.as_ptr())
}

/// Returns the length of the message of a panic, which begins at [`panicked_at`].
#[unsafe(no_mangle)]
pub extern "C" fn panicked() -> usize {
    PANIC.with_borrow(String::len)
}

/// Returns the address of the message of a panic.
#[unsafe(no_mangle)]
pub extern "C" fn panicked_at() -> *const u8 {
    PANIC.with_borrow(|message| message.as_ptr())
}

/// Answers `{"build": ..., "components": ...}`: version and hash of the engine, and every component
/// with its parameters.
#[unsafe(no_mangle)]
pub extern "C" fn describe_engine() -> usize {
    answered(|_, _| {
        text(components().map(|found| serde_json::json!({"build": build(), "components": found})))
    })
}

/// Reads the scenario of a request; see [`calls::read`].
#[unsafe(no_mangle)]
pub extern "C" fn read_scenario() -> usize {
    answered(|_, request| written(read(request)))
}

/// Begins a run of the scenario of a request, and answers `{}`.
#[unsafe(no_mangle)]
pub extern "C" fn open() -> usize {
    answered(|state, request| {
        state.run = None;
        text(Run::new(request).map(|run| {
            state.run = Some(run);
            serde_json::json!({})
        }))
    })
}

/// Continues the run until `seconds`; see [`Run::advance`].
#[unsafe(no_mangle)]
pub extern "C" fn advance(seconds: f64) -> usize {
    answered(|state, _| {
        text(match &mut state.run {
            Some(run) => run.advance(seconds, &mut state.points),
            None => Err(vec!["no run is open".to_string()]),
        })
    })
}

/// Takes the bytes that the capture of the run has recorded since the last call, and returns their
/// number. They begin at [`file`].
#[unsafe(no_mangle)]
pub extern "C" fn capture() -> usize {
    STATE.with_borrow_mut(|state| {
        state.file = state.run.as_mut().map_or(Vec::new(), Run::capture);
        state.file.len()
    })
}

/// Returns the address of the bytes of the last [`capture`].
#[unsafe(no_mangle)]
pub extern "C" fn file() -> *const u8 {
    STATE.with_borrow(|state| state.file.as_ptr())
}

/// Answers with the result of the run, which must have ended.
#[unsafe(no_mangle)]
pub extern "C" fn finish() -> usize {
    answered(|state, _| match state.run.take().map(Run::finish) {
        Some(Ok(result)) => result,
        Some(Err(errors)) => text(Err(errors)),
        None => text(Err(vec!["no run is open".to_string()])),
    })
}
