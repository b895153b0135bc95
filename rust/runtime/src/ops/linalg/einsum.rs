//! Einstein's summation: products and sums told by the names of dimensions.

use wick_core::MAX_RANK;
use wick_core::ops::BinaryOp;

use super::products::{binary_new, missing, sum_over};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::ops::matmul::{MatmulOp, matmul};
use crate::ops::shape::reshape;
use crate::tensor::Tensor;

const OP: &str = "einsum";

/// A dimension's name: A to Z are 0 to 25, a to z 26 to 51; the dimensions of an ellipsis follow,
/// counted from the last.
type Label = u8;

const LETTERS: usize = 52;
const LABELS: usize = LETTERS + MAX_RANK;

/// What an equation says.
struct Equation {
    /// The names of each operand's dimensions.
    inputs: Vec<Vec<Label>>,
    output: Vec<Label>,
}

fn refuse<T>(equation: &str, operands: &[&Tensor], text: String) -> Result<T> {
    Err(Error::shape(OP, operands, format!("\"{equation}\": {text}")))
}

fn letter(c: char) -> Option<Label> {
    match c {
        'A'..='Z' => Some(c as u8 - b'A'),
        'a'..='z' => Some(c as u8 - b'a' + 26),
        _ => None,
    }
}

fn name(label: Label) -> String {
    match usize::from(label) {
        l @ 0..26 => char::from(b'A' + l as u8).to_string(),
        l @ 26..LETTERS => char::from(b'a' + (l - 26) as u8).to_string(),
        _ => "...".into(),
    }
}

/// Names of one term; none: its ellipsis.
fn term(equation: &str, text: &str, operands: &[&Tensor]) -> Result<Vec<Option<Label>>> {
    let (mut out, mut rest) = (vec![], text);
    while let Some(c) = rest.chars().next() {
        if let Some(label) = letter(c) {
            out.push(Some(label));
            rest = &rest[1..];
        } else if let Some(after) = rest.strip_prefix("...") {
            if out.contains(&None) {
                return refuse(equation, operands, "a term has two ellipses".into());
            }
            out.push(None);
            rest = after;
        } else {
            return refuse(
                equation,
                operands,
                format!("'{c}' is no letter, comma, arrow or ellipsis"),
            );
        }
    }
    Ok(out)
}

impl Equation {
    fn parse(equation: &str, operands: &[&Tensor]) -> Result<Equation> {
        let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (&text[..], None),
        };
        let terms: Vec<&str> = left.split(',').collect();
        if terms.len() != operands.len() {
            let text = format!("{} terms for {} operands", terms.len(), operands.len());
            return refuse(equation, operands, text);
        }
        // How many dimensions ellipses stand for, at most.
        let mut most = 0;
        let mut inputs = vec![];
        for (i, (text, t)) in terms.iter().zip(operands).enumerate() {
            let labels = term(equation, text, operands)?;
            let named = labels.iter().flatten().count();
            let open = labels.contains(&None);
            let Some(stands_for) = t.rank().checked_sub(named).filter(|n| open || *n == 0) else {
                let text = format!("operand {i} has {} dimensions for \"{text}\"", t.rank());
                return refuse(equation, operands, text);
            };
            most = most.max(stands_for);
            let mut all = vec![];
            for label in labels {
                match label {
                    Some(label) => all.push(label),
                    None => all.extend(ellipsis(stands_for)),
                }
            }
            inputs.push(all);
        }
        let mut times = [0usize; LABELS];
        inputs.iter().flatten().for_each(|l| times[usize::from(*l)] += 1);
        let output = match right {
            None => {
                let once = (0..LETTERS).filter(|l| times[*l] == 1).map(|l| l as Label);
                ellipsis(most).chain(once).collect()
            }
            Some(text) => {
                let mut out = vec![];
                for label in term(equation, text, operands)? {
                    match label {
                        None => out.extend(ellipsis(most)),
                        Some(l) if times[usize::from(l)] == 0 => {
                            let text = format!("'{}' of the result is in no operand", name(l));
                            return refuse(equation, operands, text);
                        }
                        Some(l) if out.contains(&l) => {
                            let text = format!("'{}' is twice in the result", name(l));
                            return refuse(equation, operands, text);
                        }
                        Some(l) => out.push(l),
                    }
                }
                out
            }
        };
        Ok(Equation { inputs, output })
    }
}

/// The names of an ellipsis' dimensions.
fn ellipsis(n: usize) -> impl Iterator<Item = Label> {
    (0..n).rev().map(|k| (LETTERS + k) as Label)
}

/// An operand with the names of its dimensions.
#[derive(Clone)]
struct Named {
    t: Tensor,
    labels: Vec<Label>,
}

impl Named {
    fn find(&self, label: Label) -> Option<usize> {
        self.labels.iter().position(|l| *l == label)
    }

    /// Dimensions of one name as their diagonal.
    fn without_repeats(mut self) -> Result<Named> {
        while let Some((i, j)) = self.repeated() {
            let layout = self.t.layout().diagonal(0, i as i64, j as i64);
            self.t = self.t.with_layout(OP, layout)?;
            let label = self.labels[i];
            self.labels.remove(j);
            self.labels.remove(i);
            self.labels.push(label);
        }
        Ok(self)
    }

    fn repeated(&self) -> Option<(usize, usize)> {
        (0..self.labels.len()).find_map(|i| {
            (i + 1..self.labels.len()).find(|j| self.labels[*j] == self.labels[i]).map(|j| (i, j))
        })
    }

    /// Summed over the dimensions that `keep` does not want.
    fn summed(self, ctx: &Context, keep: impl Fn(Label) -> bool) -> Result<Named> {
        let gone: Vec<i64> =
            (0..self.labels.len()).filter(|d| !keep(self.labels[*d])).map(|d| d as i64).collect();
        if gone.is_empty() {
            return Ok(self);
        }
        let t = sum_over(ctx, &self.t, &gone)?;
        Ok(Named { t, labels: self.labels.into_iter().filter(|l| keep(*l)).collect() })
    }

    /// Without the dimensions of size 1 that stretch.
    fn squeezed(mut self, sizes: &[i64; LABELS]) -> Result<Named> {
        for d in (0..self.labels.len()).rev() {
            if self.t.shape()[d] == 1 && sizes[usize::from(self.labels[d])] != 1 {
                self.t = self.t.with_layout(OP, self.t.layout().select(d as i64, 0))?;
                self.labels.remove(d);
            }
        }
        Ok(self)
    }

    fn permuted(&self, order: &[Label]) -> Result<Tensor> {
        let dims: Vec<i64> = order.iter().filter_map(|l| self.find(*l)).map(|d| d as i64).collect();
        self.t.with_layout(OP, self.t.layout().permute(&dims))
    }
}

/// The product of two operands, summed over the names that neither the result nor a later operand
/// has.
fn pair(ctx: &Context, x: Named, y: Named, keep: &dyn Fn(Label) -> bool) -> Result<Named> {
    let x = {
        let other = y.labels.clone();
        x.summed(ctx, |l| keep(l) || other.contains(&l))?
    };
    let y = {
        let other = x.labels.clone();
        y.summed(ctx, |l| keep(l) || other.contains(&l))?
    };
    let part = |a: &Named, b: &Named, shared: bool, kept: bool| -> Vec<Label> {
        a.labels
            .iter()
            .copied()
            .filter(|l| b.labels.contains(l) == shared && keep(*l) == kept)
            .collect()
    };
    let (batch, summed) = (part(&x, &y, true, true), part(&x, &y, true, false));
    let (rows, cols) = (part(&x, &y, false, true), part(&y, &x, false, true));
    let labels = [&batch[..], &rows, &cols].concat();
    let sizes = |a: &Named, labels: &[Label]| -> Vec<i64> {
        labels.iter().filter_map(|l| a.find(*l)).map(|d| a.t.shape()[d]).collect()
    };
    let (b, m) = (sizes(&x, &batch), sizes(&x, &rows));
    let (k, n) = (sizes(&x, &summed), sizes(&y, &cols));
    let left = x.permuted(&[&batch[..], &rows, &summed].concat())?;
    let right = y.permuted(&[&batch[..], &summed, &cols].concat())?;
    if summed.is_empty() {
        let ones = |n: usize| vec![1; n];
        let left = reshape(ctx, OP, &left, &[&b[..], &m, &ones(n.len())].concat())?;
        let right = reshape(ctx, OP, &right, &[&b[..], &ones(m.len()), &n].concat())?;
        let t = binary_new(ctx, BinaryOp::Mul, &left, &right)?;
        return Ok(Named { t, labels });
    }
    let count = |sizes: &[i64]| sizes.iter().product::<i64>();
    let (p, q, r, s) = (count(&b), count(&m), count(&k), count(&n));
    let left = reshape(ctx, OP, &left, &[p, q, r])?;
    let right = reshape(ctx, OP, &right, &[p, r, s])?;
    let t = matmul(ctx, MatmulOp::Bmm, &left, &right, None)?.ok_or_else(missing)?;
    let t = t.with_layout(OP, t.layout().view(&[b, m, n].concat()))?;
    Ok(Named { t, labels })
}

/// libtorch's einsum: letters name dimensions, an ellipsis all others; operands are taken from the
/// left to the right. Without an arrow the result has the names that appear once, in alphabetical
/// order, after the ellipsis.
pub fn einsum(ctx: &Context, equation: &str, operands: &[&Tensor]) -> Result<Tensor> {
    if operands.is_empty() {
        return refuse(equation, operands, "expected at least one operand".into());
    }
    if operands.iter().any(|t| t.dtype() != operands[0].dtype()) {
        return Err(Error::dtype(OP, operands, "expected one dtype: cast first"));
    }
    let Equation { inputs, output } = Equation::parse(equation, operands)?;
    let mut sizes = [1i64; LABELS];
    for (i, (labels, t)) in inputs.iter().zip(operands).enumerate() {
        for (d, &label) in labels.iter().enumerate() {
            let (size, known) = (t.shape()[d], &mut sizes[usize::from(label)]);
            let repeated = labels[..d].iter().position(|l| *l == label);
            if let Some(other) = repeated
                && t.shape()[other] != size
            {
                let text = format!(
                    "'{}' names sizes {} and {size} of operand {i}",
                    name(label),
                    t.shape()[other]
                );
                return refuse(equation, operands, text);
            }
            if *known == 1 {
                *known = size;
            } else if size != 1 && size != *known {
                let text = format!("'{}' names sizes {known} and {size}", name(label));
                return refuse(equation, operands, text);
            }
        }
    }
    let mut named = vec![];
    for (labels, t) in inputs.into_iter().zip(operands) {
        let one = Named { t: (*t).clone(), labels }.without_repeats()?;
        named.push(one.squeezed(&sizes)?);
    }
    let mut rest = named.into_iter();
    let Some(mut result) = rest.next() else { return Err(missing()) };
    while let Some(next) = rest.next() {
        let later: Vec<Label> = rest.as_slice().iter().flat_map(|n| n.labels.clone()).collect();
        let keep = |l: Label| output.contains(&l) || later.contains(&l);
        result = pair(ctx, result, next, &keep)?;
    }
    let result = result.summed(ctx, |l| output.contains(&l))?;
    result.permuted(&output)
}
