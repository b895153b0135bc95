//! A tensor: a share of a storage, seen through a layout and a dtype.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::Arc;

use wick_core::block::Place;
use wick_core::{DType, Layout, LayoutError, View, ViewMut};

use crate::context::Context;
use crate::device::{self, Access, Device};
use crate::error::{Error, Result};
use crate::pool::{self, Parts};
use crate::storage::Storage;

/// A value; clones and views share the storage, which goes with the last of them.
#[derive(Debug)]
pub struct Tensor {
    storage: ManuallyDrop<Arc<Storage>>,
    /// Shared by results of one shape, so that a tensor is three words.
    layout: ManuallyDrop<Arc<Layout>>,
    /// Always written. Without the values that a dtype leaves free, options and results of tensors
    /// are told apart by a pointer, and tensors are moved whole.
    dtype: MaybeUninit<DType>,
    /// As the dtype, always written: 1 where operations must not write, 0 where they may.
    read_only: MaybeUninit<u8>,
    /// Where it is computed: the storage's home, or its second device.
    device: u32,
}

impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        self.share(Arc::clone(&self.layout), self.dtype())
    }
}

impl Drop for Tensor {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: neither is used again.
        let (storage, layout) = unsafe {
            (ManuallyDrop::take(&mut self.storage), ManuallyDrop::take(&mut self.layout))
        };
        pool::give(Parts { storage, layout });
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
        let wanted = &dense.layout;
        if wanted.offset() != 0 {
            return Tensor::new(ctx, dtype, bytes, |_| false, || Arc::new(wanted.at_start()));
        }
        let same = |l: &Layout| std::ptr::eq(l, &***wanted) || l == &***wanted;
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
            let layout = if same(&kept.layout) { kept.layout } else { layout() };
            return Ok(Tensor::of(kept.storage, layout, dtype, ctx.number()));
        }
        let storage = Arc::new(Storage::allocate(ctx.allocator(), bytes)?);
        Ok(Tensor::of(storage, layout(), dtype, ctx.number()))
    }

    fn of(storage: Arc<Storage>, layout: Arc<Layout>, dtype: DType, device: u32) -> Tensor {
        Tensor {
            storage: ManuallyDrop::new(storage),
            layout: ManuallyDrop::new(layout),
            dtype: MaybeUninit::new(dtype),
            read_only: MaybeUninit::new(0),
            device,
        }
    }

    /// A tensor in memory that stays its giver's.
    pub(crate) fn imported(storage: Storage, layout: Layout, dtype: DType) -> Tensor {
        let home = storage.home();
        Tensor::of(Arc::new(storage), Arc::new(layout), dtype, home)
    }

    /// A tensor of the same storage, as writable and on the same device.
    fn share(&self, layout: Arc<Layout>, dtype: DType) -> Tensor {
        let mut share = Tensor::of(Arc::clone(&self.storage), layout, dtype, self.device);
        share.read_only = self.read_only;
        share
    }

    /// The same elements, which operations refuse to write through this tensor and its views.
    pub fn read_only(&self) -> Tensor {
        let mut copy = self.clone();
        copy.read_only = MaybeUninit::new(1);
        copy
    }

    /// Whether operations refuse to write through it.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        // SAFETY: `of`, which makes all tensors, writes it.
        unsafe { self.read_only.assume_init() != 0 }
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
        Ok(self.share(Arc::new(layout), self.dtype()))
    }

    /// The same bytes as elements of another type.
    pub(crate) fn seen_as(
        &self,
        op: &'static str,
        dtype: DType,
        layout: std::result::Result<Layout, LayoutError>,
    ) -> Result<Tensor> {
        let whole = self.share(Arc::clone(&self.layout), dtype);
        whole.with_layout(op, layout)
    }

    /// Elements that the storage holds.
    pub fn capacity(&self) -> i64 {
        (self.storage.bytes() / self.dtype().size()) as i64
    }

    /// Its element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        // SAFETY: `of`, which makes all tensors, writes it.
        unsafe { self.dtype.assume_init() }
    }

    /// Shape, strides, offset.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Sizes, outermost first.
    pub fn shape(&self) -> &[i64] {
        self.layout.shape()
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// Number of elements.
    pub fn numel(&self) -> i64 {
        self.layout.numel()
    }

    /// The bytes it shares.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// How many tensors share the bytes, this one included.
    pub fn sharers(&self) -> usize {
        Arc::strong_count(&self.storage)
    }

    /// Whether both see the same bytes (not necessarily the same elements of them).
    pub fn shares_storage(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Whether both have the same sizes.
    pub fn same_shape(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.layout, &other.layout) || self.shape() == other.shape()
    }

    /// The number of the device that it is computed on.
    pub fn device(&self) -> u32 {
        self.device
    }

    /// Where the storage begins on the tensor's device, the elements being right there. What cannot be
    /// made right is an error that is raised (see `device::attempt`).
    #[inline]
    fn reach(&self, access: Access) -> *mut u8 {
        if self.storage.mirror().is_none() {
            self.storage.ptr()
        } else {
            self.reach_mirrored(access)
        }
    }

    #[cold]
    fn reach_mirrored(&self, access: Access) -> *mut u8 {
        // What is written through a part of the storage leaves the rest to be kept.
        let access = match access {
            Access::Overwrite if !self.covers_storage() => Access::Write,
            access => access,
        };
        self.storage.reach(self.device, access).unwrap_or_else(|e| device::raise(e))
    }

    fn covers_storage(&self) -> bool {
        self.layout.is_contiguous()
            && self.numel() as usize * self.dtype().size() == self.storage.bytes()
    }

    #[inline]
    fn place_for(&self, access: Access) -> Place {
        let offset = self.layout.byte_offset(self.dtype());
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
        View { ptr: self.reach(Access::Read), dtype: self.dtype(), layout: **self.layout }
    }

    /// For kernels, to write. The operation has checked that elements do not overlap.
    pub fn view_mut(&self) -> ViewMut {
        ViewMut { ptr: self.reach(Access::Write), dtype: self.dtype(), layout: **self.layout }
    }

    /// For kernels that write every element and read none.
    pub fn view_over(&self) -> ViewMut {
        ViewMut { ptr: self.reach(Access::Overwrite), dtype: self.dtype(), layout: **self.layout }
    }

    /// The same elements computed on another device: the storage gets a second place there, and what
    /// is written on either shows on both.
    pub fn on(&self, op: &'static str, device: &Arc<Device>) -> Result<Tensor> {
        self.storage.spread(op, device)?;
        let mut there = self.clone();
        there.device = device.number();
        Ok(there)
    }

    /// Begins to make the elements right on the tensor's device without waiting for it.
    pub fn prefetch(&self, op: &'static str) -> Result<()> {
        self.storage.prefetch(op, self.device)
    }

    /// Whether the elements are right on a device, so that an access there waits for nothing.
    pub fn is_ready(&self, device: u32) -> bool {
        self.storage.is_right(device)
    }

    /// Makes the elements undefined until all of them are written; false, and nothing, where the
    /// tensor is not the whole of its storage.
    pub fn discard(&self, op: &'static str) -> Result<bool> {
        let whole = self.covers_storage();
        if whole {
            self.storage.discard(op)?;
        }
        Ok(whole)
    }

    /// Stretched to a shape that it broadcasts to.
    pub(crate) fn broadcast_to(&self, op: &'static str, shape: &[i64]) -> Result<Tensor> {
        self.with_layout(op, self.layout.expand(shape))
    }
}
