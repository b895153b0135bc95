//! A tensor: a share of a storage, seen through a layout and a dtype.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use wick_core::block::Place;
use wick_core::{DType, Layout, LayoutError, View, ViewMut};

use crate::context::Context;
use crate::device::{self, Access, Device};
use crate::error::{Error, Kind, Result};
use crate::pool;
use crate::storage::Storage;

/// What a tensor is.
#[derive(Debug)]
pub(crate) struct Record {
    pub storage: Arc<Storage>,
    /// Shared by results of one shape.
    pub layout: Arc<Layout>,
    dtype: DType,
    /// Operations must not write.
    read_only: bool,
    /// Where it is computed: the storage's home, or its second device.
    device: u32,
}

/// A value; views share the storage, which goes with the last of them. One pointer, so that results
/// of operations come back in registers.
#[derive(Debug)]
pub struct Tensor(ManuallyDrop<Arc<Record>>);

impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        Tensor(self.0.clone())
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it is not used again.
        pool::give(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

impl Tensor {
    /// A new contiguous tensor, its elements not yet written.
    pub fn empty(ctx: &Context, op: &'static str, dtype: DType, shape: &[i64]) -> Result<Tensor> {
        let size = |e| Error::size(op, dtype, shape, e);
        let layout = Layout::contiguous(shape).map_err(size)?;
        let bytes = layout.numel().checked_mul(dtype.size() as i64).ok_or(LayoutError::Overflow);
        let bytes = bytes.map_err(size)? as usize;
        Tensor::new(ctx, dtype, bytes, |l| l == &layout, || Arc::new(layout))
    }

    /// A new tensor of another one's shape, which lies densely; its elements not yet written.
    pub(crate) fn empty_like(ctx: &Context, dtype: DType, dense: &Tensor) -> Result<Tensor> {
        let bytes = dense.numel() as usize * dtype.size();
        let wanted = &dense.0.layout;
        if wanted.offset() != 0 {
            return Tensor::new(ctx, dtype, bytes, |_| false, || Arc::new(wanted.at_start()));
        }
        let same = |l: &Layout| std::ptr::eq(l, &**wanted) || l == &**wanted;
        Tensor::new(ctx, dtype, bytes, same, || Arc::clone(wanted))
    }

    /// A tensor that this thread kept, or a new one; `layout` makes the wanted layout where the
    /// kept one is not `same`.
    #[inline]
    fn new(
        ctx: &Context,
        dtype: DType,
        bytes: usize,
        same: impl Fn(&Layout) -> bool,
        layout: impl FnOnce() -> Arc<Layout>,
    ) -> Result<Tensor> {
        if let Some(kept) = pool::take(ctx.allocator(), bytes) {
            // SAFETY: nobody else has a kept record.
            let record = unsafe { &mut *Arc::as_ptr(&kept).cast_mut() };
            if !same(&record.layout) {
                record.layout = layout();
            }
            (record.dtype, record.read_only, record.device) = (dtype, false, ctx.number());
            return Ok(Tensor(ManuallyDrop::new(kept)));
        }
        let storage = Arc::new(Storage::allocate(ctx.allocator(), bytes)?);
        Ok(Tensor::fresh(storage, layout(), dtype))
    }

    fn of(record: Record) -> Tensor {
        Tensor(ManuallyDrop::new(Arc::new(record)))
    }

    fn fresh(storage: Arc<Storage>, layout: Arc<Layout>, dtype: DType) -> Tensor {
        let device = storage.home();
        Tensor::of(Record { storage, layout, dtype, read_only: false, device })
    }

    /// Another tensor of the same elements; a clone is the same tensor.
    fn again(&self) -> Record {
        let Record { storage, layout, dtype, read_only, device } = &**self.0;
        let (storage, layout) = (storage.clone(), layout.clone());
        Record { storage, layout, dtype: *dtype, read_only: *read_only, device: *device }
    }

    /// A tensor in memory that stays its giver's.
    pub(crate) fn imported(storage: Storage, layout: Layout, dtype: DType) -> Tensor {
        Tensor::fresh(Arc::new(storage), Arc::new(layout), dtype)
    }

    /// Another tensor of the same elements.
    pub fn alias(&self) -> Tensor {
        Tensor::of(self.again())
    }

    /// The same elements, which operations refuse to write through this tensor and its views.
    pub fn read_only(&self) -> Tensor {
        Tensor::of(Record { read_only: true, ..self.again() })
    }

    /// Whether operations refuse to write through it.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.0.read_only
    }

    /// The same elements through another layout, which must stay inside the storage.
    pub fn with_layout(
        &self,
        op: &'static str,
        layout: std::result::Result<Layout, LayoutError>,
    ) -> Result<Tensor> {
        let fail = |e| Error::layout(op, self, e);
        let layout = layout.map_err(fail)?;
        let (needed, size) = (layout.span().map_err(fail)?, self.capacity());
        if needed > size {
            return Err(fail(LayoutError::Storage { needed, size }));
        }
        Ok(Tensor::of(Record { layout: Arc::new(layout), ..self.again() }))
    }

    /// The same bytes as elements of another type.
    pub(crate) fn seen_as(
        &self,
        op: &'static str,
        dtype: DType,
        layout: std::result::Result<Layout, LayoutError>,
    ) -> Result<Tensor> {
        Tensor::of(Record { dtype, ..self.again() }).with_layout(op, layout)
    }

    /// Elements that the storage holds.
    pub fn capacity(&self) -> i64 {
        (self.0.storage.bytes() / self.dtype().size()) as i64
    }

    /// Its element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Shape, strides, offset.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// Sizes, outermost first.
    pub fn shape(&self) -> &[i64] {
        self.0.layout.shape()
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.layout.rank()
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.0.layout.numel()
    }

    /// The bytes it shares.
    pub fn storage(&self) -> &Storage {
        &self.0.storage
    }

    /// How many tensors share the bytes, this one included.
    pub fn sharers(&self) -> usize {
        Arc::strong_count(&self.0.storage)
    }

    /// Whether both see the same bytes (not necessarily the same elements of them).
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0.storage, &other.0.storage)
    }

    /// Whether both have the same sizes.
    #[inline]
    pub fn same_shape(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.0.layout, &other.0.layout) || self.shape() == other.shape()
    }

    /// The number of the device that it is computed on.
    pub fn device(&self) -> u32 {
        self.0.device
    }

    /// Where the storage begins on the tensor's device, the elements being right there. What cannot be
    /// made right is an error that is raised (see `device::attempt`).
    #[inline]
    fn reach(&self, access: Access) -> *mut u8 {
        if self.0.storage.is_plain() { self.0.storage.ptr() } else { self.reach_further(access) }
    }

    #[cold]
    fn reach_further(&self, access: Access) -> *mut u8 {
        if self.0.storage.has_ended() {
            let expected = "its memory went back to the pool when the lease ended".into();
            device::raise(Kind::State { op: "a leased tensor", expected }.into());
        }
        if access != Access::Read {
            self.0.storage.note_write();
        }
        if self.0.storage.mirror().is_none() {
            return self.0.storage.ptr();
        }
        // What is written through a part of the storage leaves the rest to be kept.
        let access = match access {
            Access::Overwrite if !self.covers_storage() => Access::Write,
            access => access,
        };
        self.0.storage.reach(self.0.device, access).unwrap_or_else(|e| device::raise(e))
    }

    fn covers_storage(&self) -> bool {
        self.0.layout.is_contiguous()
            && self.numel() as usize * self.dtype().size() == self.0.storage.bytes()
    }

    #[inline]
    fn place_for(&self, access: Access) -> Place {
        let offset = self.0.layout.byte_offset(self.dtype());
        Place { start: self.reach(access).wrapping_offset(offset), dtype: self.dtype() }
    }

    /// For kernels that have the layout in a nest, to read: where the first element lies.
    #[inline]
    pub fn place(&self) -> Place {
        self.place_for(Access::Read)
    }

    /// As [`Tensor::place`], to write.
    #[inline]
    pub fn place_mut(&self) -> Place {
        self.place_for(Access::Write)
    }

    /// For kernels, to read.
    pub fn view(&self) -> View {
        View { ptr: self.reach(Access::Read), dtype: self.dtype(), layout: *self.0.layout }
    }

    /// For kernels, to write. The operation has checked that elements do not overlap.
    pub fn view_mut(&self) -> ViewMut {
        ViewMut { ptr: self.reach(Access::Write), dtype: self.dtype(), layout: *self.0.layout }
    }

    /// For kernels that write every element and read none.
    pub fn view_over(&self) -> ViewMut {
        ViewMut { ptr: self.reach(Access::Overwrite), dtype: self.dtype(), layout: *self.0.layout }
    }

    /// The same elements computed on another device: the storage gets a second place there, and what
    /// is written on either shows on both.
    pub fn on(&self, op: &'static str, device: &Arc<Device>) -> Result<Tensor> {
        self.0.storage.spread(op, device)?;
        Ok(Tensor::of(Record { device: device.number(), ..self.again() }))
    }

    /// Begins to make the elements right on the tensor's device without waiting for it.
    pub fn prefetch(&self, op: &'static str) -> Result<()> {
        self.0.storage.prefetch(op, self.0.device)
    }

    /// Whether the elements are right on a device, so that an access there waits for nothing.
    pub fn is_ready(&self, device: u32) -> bool {
        self.0.storage.is_right(device)
    }

    /// As [`Tensor::is_ready`] for the device beside the processor that the storage is on, or for the
    /// processor.
    pub fn is_ready_beside(&self, beside: bool) -> bool {
        self.0.storage.is_right_beside(beside)
    }

    /// Makes the elements undefined until all of them are written; false, and nothing, where the
    /// tensor is not the whole of its storage.
    pub fn discard(&self, op: &'static str) -> Result<bool> {
        let whole = self.covers_storage();
        if whole {
            self.0.storage.discard(op)?;
        }
        Ok(whole)
    }

    /// Stretched to a shape that it broadcasts to.
    pub(crate) fn broadcast_to(&self, op: &'static str, shape: &[i64]) -> Result<Tensor> {
        self.with_layout(op, self.0.layout.expand(shape))
    }
}
