//! Sequences of operations that run again and again. While a thread records, operations run as ever
//! and leave their bodies behind; a run takes the bodies' operands and results from its own list, by
//! the handles that they had when recorded, which are closed by then and never come back.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wick_core::DType;
use wick_runtime::error::Kind;
use wick_runtime::ops::elementwise;
use wick_runtime::ops::promote::{Overlap, overlap};
use wick_runtime::plan::trace::{self, Event};
use wick_runtime::plan::{PoolSet, Strategy};
use wick_runtime::{Error, Result, Tensor};

use crate::runtime::runtime;

const OP: &str = "pipeline";

/// An operation of a pipeline, to be done again.
type Body = Box<dyn Fn() -> Result<()> + Send + Sync>;

struct Step {
    body: Body,
    /// Its results have the numbers from the first to before the last one.
    first: usize,
    last: usize,
    /// Tensors that nothing needs after it.
    done: Vec<usize>,
}

/// What a tensor was when recorded.
#[derive(Clone, PartialEq, Eq)]
struct Form {
    dtype: DType,
    shape: Vec<i64>,
    device: u32,
}

impl Form {
    fn of(t: &Tensor) -> Form {
        Form { dtype: t.dtype(), shape: t.shape().to_vec(), device: t.device() }
    }

    fn is(&self, t: &Tensor) -> bool {
        self.dtype == t.dtype() && self.shape == t.shape() && self.device == t.device()
    }
}

/// Tensors by number: inputs first, then results as they were made.
type Nodes = Vec<Option<Tensor>>;

/// A recorded sequence with its memory.
pub struct Pipeline {
    steps: Vec<Step>,
    inputs: usize,
    forms: Vec<Form>,
    outputs: Vec<usize>,
    /// Numbers of the handles that the bodies know.
    numbers: HashMap<i64, usize>,
    schedule: Arc<trace::Schedule>,
    pools: Arc<PoolSet>,
    spare: Mutex<Vec<Nodes>>,
    /// Runs, and those among them that asked for other memory than was planned.
    runs: AtomicU64,
    astray: AtomicU64,
}

/// A thread's recording.
struct Recording {
    steps: Vec<Recorded>,
    inputs: usize,
    forms: Vec<Form>,
    numbers: HashMap<i64, usize>,
    /// Handles to close when it ends.
    open: Vec<i64>,
    /// For each number: the storage's number in the trace, and the last step that used it.
    storages: Vec<Option<u32>>,
    last_uses: Vec<usize>,
    trace: Vec<Event>,
}

/// A step and the part of the trace that it made.
struct Recorded {
    step: Step,
    events: std::ops::Range<usize>,
}

impl Recording {
    fn push(&mut self, handle: i64, form: Form, storage: Option<u32>) {
        self.numbers.insert(handle, self.forms.len());
        self.forms.push(form);
        self.open.push(handle);
        self.storages.push(storage);
        self.last_uses.push(self.steps.len());
    }

    /// Lets go of each tensor after its last use, and what happens to storages then.
    fn settle(&mut self, outputs: &[usize]) -> Vec<Event> {
        for (number, last) in self.last_uses.iter().enumerate() {
            if !outputs.contains(&number)
                && let Some(recorded) = self.steps.get_mut(*last)
            {
                recorded.step.done.push(number);
            }
        }
        let mut sharers: HashMap<u32, usize> = HashMap::new();
        for storage in self.storages.iter().flatten() {
            *sharers.entry(*storage).or_default() += 1;
        }
        // Numbers of storages in the trace that a run makes.
        let mut renamed: HashMap<u32, u32> = HashMap::new();
        let mut settled = Vec::new();
        let trace = std::mem::take(&mut self.trace);
        for Recorded { step, events } in &self.steps {
            for event in &trace[events.clone()] {
                match *event {
                    Event::Begin { index: old, bytes } => {
                        let index = renamed.len() as u32;
                        renamed.insert(old, index);
                        settled.push(Event::Begin { index, bytes });
                    }
                    // Storages of results end when the last of them is let go.
                    Event::End { index } if sharers.contains_key(&index) => {}
                    Event::End { index } => {
                        settled.extend(renamed.get(&index).map(|&index| Event::End { index }));
                    }
                }
            }
            for storage in step.done.iter().filter_map(|n| self.storages[*n]) {
                if let Some(left) = sharers.get_mut(&storage) {
                    *left -= 1;
                    if *left == 0 {
                        settled.extend(renamed.get(&storage).map(|&index| Event::End { index }));
                    }
                }
            }
        }
        settled
    }
}

struct Run {
    pipeline: Arc<Pipeline>,
    nodes: Nodes,
    /// The number of the next result.
    next: usize,
}

enum State {
    Idle,
    Recording(Recording),
    Running(Run),
}

/// Whether the process has ever recorded: until then operations do not ask.
static ANY: AtomicBool = AtomicBool::new(false);

thread_local! {
    static BUSY: Cell<bool> = const { Cell::new(false) };
    static STATE: RefCell<State> = const { RefCell::new(State::Idle) };
}

/// Whether this thread records or runs a pipeline.
#[inline]
pub fn busy() -> bool {
    ANY.load(Relaxed) && BUSY.get()
}

fn refused(expected: impl Into<String>) -> Error {
    Kind::State { op: OP, expected: expected.into().into() }.into()
}

fn recording<T>(f: impl FnOnce(&mut Recording) -> T) -> Option<T> {
    if !busy() {
        return None;
    }
    STATE.with_borrow_mut(|state| match state {
        State::Recording(recording) => Some(f(recording)),
        _ => None,
    })
}

fn running<T>(f: impl FnOnce(&mut Run) -> T) -> Option<T> {
    if !busy() {
        return None;
    }
    STATE.with_borrow_mut(|state| match state {
        State::Running(run) => Some(f(run)),
        _ => None,
    })
}

/// Whether this thread records a pipeline.
pub fn records() -> bool {
    recording(|_| ()).is_some()
}

/// Does an operation, and remembers it where the thread records.
#[inline]
pub fn perform<T>(body: &(impl Fn() -> Result<T> + Clone + Send + Sync + 'static)) -> Result<T> {
    if busy() { remember(body.clone()) } else { body() }
}

#[cold]
fn remember<T>(body: impl Fn() -> Result<T> + Send + Sync + 'static) -> Result<T> {
    let Some(first) = recording(|r| r.forms.len()) else { return body() };
    let begin = trace::recorded_events();
    let value = body()?;
    recording(|r| {
        let (body, last): (Body, _) = (Box::new(move || body().map(drop)), r.forms.len());
        let step = Step { body, first, last, done: Vec::new() };
        r.steps.push(Recorded { step, events: begin..trace::recorded_events() });
    });
    Ok(value)
}

/// Fails where the thread records.
pub fn refuse(op: &'static str, why: &'static str) -> Result<()> {
    let text = || format!("{op} cannot be part of a pipeline: {why}");
    recording(|_| Err(refused(text()))).unwrap_or(Ok(()))
}

/// A handle for a tensor of elements from the JVM. A pipeline makes it anew in each run, since it may be
/// written.
pub fn constant(t: Tensor) -> Result<i64> {
    let rt = runtime();
    if !records() {
        return rt.own(t);
    }
    perform(&move || rt.own(elementwise::cast(&rt.ctx, &t, t.dtype())?))
}

/// A result that a run keeps under its number; its handle is nobody's. None outside of runs.
#[cold]
pub fn keep(t: &Tensor) -> Option<Result<i64>> {
    running(|run| {
        let (number, pipeline) = (run.next, &run.pipeline);
        match pipeline.forms.get(number) {
            Some(form) if form.is(t) => {
                run.next += 1;
                run.nodes[number] = Some(t.clone());
                Ok(1)
            }
            _ => Err(Error::shape(
                OP,
                &[t],
                "an operation gave another shape than when recorded: it depends on values",
            )),
        }
    })
}

/// Notes a handle that was made for a result.
#[cold]
pub fn made(handle: i64, t: &Tensor) {
    let storage = trace::recorded_index(t);
    recording(|r| {
        r.push(handle, Form::of(t), storage);
    });
}

/// Notes that a step uses a handle.
#[cold]
pub fn used(handle: i64) {
    recording(|r| {
        if let Some(&number) = r.numbers.get(&handle) {
            r.last_uses[number] = r.steps.len();
        }
    });
}

/// The tensor that a run has under a recorded handle.
#[cold]
pub fn node(handle: i64) -> Option<Tensor> {
    running(|run| {
        let number = *run.pipeline.numbers.get(&handle)?;
        run.nodes[number].clone()
    })?
}

fn set(state: State) {
    BUSY.set(!matches!(state, State::Idle));
    STATE.set(state);
}

/// Begins to record on this thread; `inputs` stand for those of later runs.
pub fn record(inputs: &[i64]) -> Result<()> {
    let rt = runtime();
    if busy() {
        return Err(refused("this thread records or runs a pipeline already"));
    }
    let mut recording = Recording {
        steps: Vec::new(),
        inputs: inputs.len(),
        forms: Vec::new(),
        numbers: HashMap::new(),
        open: Vec::new(),
        storages: Vec::new(),
        last_uses: Vec::new(),
        trace: Vec::new(),
    };
    for handle in inputs {
        let t = rt.look(OP, *handle)?;
        if recording.numbers.contains_key(handle) {
            return Err(Error::shape(OP, &[&t], "the same tensor twice among the inputs"));
        }
        recording.push(*handle, Form::of(&t), None);
    }
    if !trace::record() {
        return Err(refused("this thread's memory is being traced already"));
    }
    ANY.store(true, Relaxed);
    set(State::Recording(recording));
    Ok(())
}

/// Ends the recording without a pipeline.
pub fn abandon() {
    if records() {
        set(State::Idle);
        trace::recorded();
    }
}

/// Ends the recording: a pipeline that gives `outputs`. Its tensors are closed.
pub fn finish(outputs: &[i64], strategy: Strategy, pools: usize, wipe: bool) -> Result<Pipeline> {
    let finished = STATE.with_borrow_mut(|state| match std::mem::replace(state, State::Idle) {
        State::Recording(recording) => Some(recording),
        other => {
            *state = other;
            None
        }
    });
    let mut recording = finished.ok_or_else(|| refused("this thread records none"))?;
    BUSY.set(false);
    recording.trace = trace::recorded().ok_or_else(|| refused("the trace is gone"))?;
    let rt = runtime();
    for handle in &recording.open {
        rt.close(*handle);
    }
    let number = |handle: &i64| {
        let number = recording.numbers.get(handle).copied();
        number.ok_or_else(|| refused("an output was not made by it, nor given to it"))
    };
    let outputs = outputs.iter().map(number).collect::<Result<Vec<_>>>()?;
    if pools == 0 {
        return Err(refused("no pool: at least 1 is needed"));
    }
    let schedule = trace::Schedule::new(recording.settle(&outputs), strategy);
    let pools = PoolSet::new(&rt.ctx, &schedule.plan().blocks, pools, wipe)?;
    let Recording { steps, inputs, forms, numbers, .. } = recording;
    let steps = steps.into_iter().map(|recorded| recorded.step).collect();
    let (schedule, pools) = (Arc::new(schedule), Arc::new(pools));
    let (runs, astray, spare) = (AtomicU64::new(0), AtomicU64::new(0), Mutex::default());
    Ok(Pipeline { steps, inputs, forms, outputs, numbers, schedule, pools, spare, runs, astray })
}

impl Pipeline {
    /// Runs the steps on these inputs, in a pool that is waited for; the outputs go into `out`, or
    /// into new tensors.
    pub fn run(
        self: &Arc<Self>,
        inputs: &[&Tensor],
        out: Option<&[&Tensor]>,
        timeout: Duration,
    ) -> Result<Vec<Tensor>> {
        if busy() {
            return Err(refused("this thread records or runs a pipeline already"));
        }
        self.check(inputs, out)?;
        let lease = PoolSet::acquire(&self.pools, timeout)?;
        self.runs.fetch_add(1, Relaxed);
        let (nodes, followed, lease) = trace::replay(&self.schedule, lease, || {
            let _idle = Idle;
            self.steps(inputs)
        });
        if !followed {
            self.astray.fetch_add(1, Relaxed);
        }
        let mut nodes = nodes?;
        // They lie in the pool, and nowhere else once it is released.
        let results = self.copy_out(&nodes, out);
        nodes.clear();
        self.spare().push(nodes);
        drop(lease);
        results
    }

    fn steps(self: &Arc<Self>, inputs: &[&Tensor]) -> Result<Nodes> {
        let mut nodes = self.spare().pop().unwrap_or_default();
        nodes.extend(inputs.iter().map(|t| Some((*t).clone())));
        nodes.resize_with(self.forms.len(), || None);
        set(State::Running(Run { pipeline: Arc::clone(self), nodes, next: inputs.len() }));
        for Step { body, first, last, done } in &self.steps {
            running(|run| run.next = *first);
            body()?;
            if running(|run| run.next) != Some(*last) {
                return Err(refused("an operation gave other results than recorded"));
            }
            for number in done {
                drop(running(|run| run.nodes[*number].take()));
            }
        }
        match STATE.replace(State::Idle) {
            State::Running(run) => Ok(run.nodes),
            _ => Err(refused("an operation ended the run")),
        }
    }

    fn copy_out(&self, nodes: &Nodes, out: Option<&[&Tensor]>) -> Result<Vec<Tensor>> {
        let ctx = &runtime().ctx;
        let missing = || refused("an output was closed on the way");
        let mut results = Vec::new();
        for (i, number) in self.outputs.iter().enumerate() {
            let from = nodes[*number].as_ref().ok_or_else(missing)?;
            match out {
                Some(out) => elementwise::copy(ctx, out[i], from)?,
                None => results.push(elementwise::cast(ctx, from, from.dtype())?),
            }
        }
        Ok(results)
    }

    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<Nodes>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, inputs: &[&Tensor], out: Option<&[&Tensor]>) -> Result<()> {
        let fit = |what: &str, given: &[&Tensor], forms: &mut dyn Iterator<Item = &Form>| {
            let forms: Vec<&Form> = forms.collect();
            if given.len() != forms.len() {
                let (n, m) = (given.len(), forms.len());
                return Err(Error::shape(OP, given, format!("{n} {what}s, recorded with {m}")));
            }
            for (i, (t, form)) in given.iter().zip(forms).enumerate() {
                if !form.is(t) {
                    let Form { dtype, shape, .. } = form;
                    let text =
                        format!("{what} {i} was {dtype} {shape:?} on its device when recorded");
                    return Err(Error::shape(OP, &[t], text));
                }
            }
            Ok(())
        };
        fit("input", inputs, &mut self.forms[..self.inputs].iter())?;
        let Some(out) = out else { return Ok(()) };
        fit("output", out, &mut self.outputs.iter().map(|n| &self.forms[*n]))?;
        for (i, t) in out.iter().enumerate() {
            if out[..i].iter().any(|o| overlap(o, t) != Overlap::None) {
                return Err(Error::shape(OP, &[t], format!("output {i} has a second writer")));
            }
            if inputs.iter().any(|o| overlap(o, t) != Overlap::None) {
                let text = format!("output {i} is also read as an input: clone it first");
                return Err(Error::shape(OP, &[t], text));
            }
        }
        Ok(())
    }

    /// Operations, intermediates, their bytes together, the most that live at once, bytes of a pool,
    /// pools, free ones, runs, and runs that did not follow the recording.
    pub fn report(&self) -> [i64; 9] {
        let (sum, peak) = self.schedule.bytes();
        let (pools, free) = self.pools.counts();
        let numbers = [
            self.steps.len(),
            self.schedule.len(),
            sum,
            peak,
            self.schedule.plan().bytes(),
            pools,
            free,
        ];
        let [runs, astray] = [&self.runs, &self.astray].map(|n| n.load(Relaxed) as i64);
        let [a, b, c, d, e, f, g] = numbers.map(|n| n as i64);
        [a, b, c, d, e, f, g, runs, astray]
    }

    /// Where each intermediate lies: block, offset, bytes.
    pub fn places(&self) -> Vec<i64> {
        self.schedule.places().flatten().map(|n| n as i64).collect()
    }
}

/// Makes the thread idle again, after a panic too.
struct Idle;

impl Drop for Idle {
    fn drop(&mut self) {
        set(State::Idle);
    }
}
