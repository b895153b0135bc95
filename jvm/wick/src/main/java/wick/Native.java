package wick;

/**
 * Every native method, one a signature: {@code op} is the code that {@link #opCode} gives for an
 * operation's libtorch name, asked for once at class load.
 *
 * <p>A tensor is a 64-bit handle; 0 stands for "none". A method that makes a tensor returns the new
 * handle with two hint bits on top (see {@link #HINT_SHIFT}): where the result has the shape of the
 * first or second operand, the caller need not ask for it. {@code out} = 0 makes a new tensor, any
 * other handle is written into (the first operand's own handle: the in-place form) and 0 returned.
 * A scalar travels as a kind ({@link #INT}, {@link #FLOAT}, {@link #BOOL}) and 64 bits: the long, or
 * {@code Double.doubleToRawLongBits}. Dtypes are libtorch's scalar type numbers, -1 for "none".
 */
final class Native {
  private Native() {}

  /** {@code raw >>> HINT_SHIFT}: 0 ask {@link #shape}, 1 shape of operand one, 2 of operand two. */
  static final int HINT_SHIFT = 62;

  static final long HANDLE_MASK = (1L << HINT_SHIFT) - 1;

  /** {@code handle & DTYPE_MASK} is the tensor's libtorch scalar type number. */
  static final long DTYPE_MASK = 0xF;

  static final int INT = 0;
  static final int FLOAT = 1;
  static final int BOOL = 2;

  static {
    NativeLoader.load();
    try {
      init(NativeLoader.VERSION);
    } catch (UnsatisfiedLinkError e) {
      throw NativeLoader.notOurs(e);
    }
  }

  /** The library's one exported symbol: registers all methods below and compares versions. */
  private static native void init(String version);

  /** Code of an operation; families: unary binary ternary reduce along view index_kind create random matmul index. */
  static native int opCode(String family, String name);

  // handles and memory
  static native void release(long a);

  static native void releaseAll(long[] handles, int count);

  static native boolean isLive(long a);

  static native long[] shape(long a);

  static native long[] strides(long a);

  static native long storageOffset(long a);

  static native boolean sharesStorage(long a, long b);

  static native boolean isContiguous(long a);

  /** Fills live bytes, peak bytes, live tensors, cached bytes, cap, tensors ever made, ever freed. */
  static native void memory(long[] out);

  static native void resetPeak();

  static native void setCap(long bytes);

  static native void trim();

  static native int threads();

  static native void setThreads(int n);

  /** One of baseline, avx2, avx512. */
  static native String cpuLevel();

  // arrays; the array's length must equal the product of the shape
  static native long fromDoubles(double[] data, long[] shape);

  static native long fromFloats(float[] data, long[] shape);

  static native long fromLongs(long[] data, long[] shape);

  static native long fromInts(int[] data, long[] shape);

  static native long fromShorts(short[] data, long[] shape);

  /** {@code dtype}: i8, u8. */
  static native long fromBytes(byte[] data, long[] shape, int dtype);

  static native long fromBooleans(boolean[] data, long[] shape);

  /** Raw half-precision bits; {@code dtype}: f16, bf16. */
  static native long fromHalfBits(short[] data, long[] shape, int dtype);

  static native void toDoubles(long a, double[] out);

  static native void toFloats(long a, float[] out);

  static native void toLongs(long a, long[] out);

  static native void toInts(long a, int[] out);

  static native void toShorts(long a, short[] out);

  static native void toBytes(long a, byte[] out);

  static native void toBooleans(long a, boolean[] out);

  static native void toHalfBits(long a, short[] out);

  /** The one element as a double (any dtype); error where numel is not 1. */
  static native double itemDouble(long a);

  /** The one element as a long; floats truncate. */
  static native long itemLong(long a);

  // creation
  static native long full(int dtype, long[] shape, int kind, long bits);

  static native long empty(int dtype, long[] shape);

  static native long eye(int dtype, long n, long m);

  static native long arange(
      int dtype, int kind, long startBits, long endBits, long stepBits);

  static native long linspace(int dtype, double start, double end, long steps);

  // random: numbers are a function of (seed, offset, place) alone
  static native void seed(long seed);

  /** {@code op}: rand randn normal randint bernoulli...; p, q: its parameters as double or long bits. */
  static native long random(int op, int dtype, long[] shape, long p, long q);

  static native long randperm(int dtype, long n);

  // elementwise
  static native long unary(int op, long a, double p0, double p1, double p2, long out);

  static native long binary(int op, long a, long b, int alphaKind, long alphaBits, long out);

  /** One operand a number; {@code reversed}: the number is the left operand. */
  static native long binaryScalar(
      int op, long a, int kind, long bits, boolean reversed, int alphaKind, long alphaBits, long out);

  /** where addcmul addcdiv lerp clamp: a missing operand (clamp's bounds) is 0; kind, bits: value or weight. */
  static native long ternary(int op, long a, long b, long c, int kind, long bits, long out);

  static native long cast(long a, int dtype);

  /** dst takes src's values, cast and broadcast. */
  static native void copy(long dst, long src);

  static native void fill(long a, int kind, long bits);

  static native boolean equal(long a, long b);

  // reductions; dims null: all
  static native long reduce(
      int op, long a, long[] dims, boolean keepDim, int dtype, double correction, long out);

  /** Two results: max min with indices, var_mean std_mean. */
  static native void reducePair(
      int op, long a, long[] dims, boolean keepDim, double correction, long[] results);

  /** softmax log_softmax cumsum cumprod: shape stays. */
  static native long along(int op, long a, long dim, int dtype);

  // shapes: narrow select slice transpose squeeze unsqueeze diagonal ... with up to four numbers
  static native long view(int op, long a, long p, long q, long r, long s);

  /** view reshape expand permute flip roll repeat movedim as_strided ... with a list of numbers. */
  static native long viewList(int op, long a, long[] list);

  static native long cat(long[] tensors, long dim, long out);

  static native long stack(long[] tensors, long dim, long out);

  // products: mm bmm matmul dot outer inner
  static native long matmul(int op, long a, long b, long out);

  /** addmm baddbmm: beta * self + alpha * a @ b. */
  static native long addmm(
      int op,
      long self,
      long a,
      long b,
      int betaKind,
      long betaBits,
      int alphaKind,
      long alphaBits,
      long out);

  // indexing
  /** index_select gather take masked_select: dim where the operation has one. */
  static native long index(int op, long a, long dim, long index, long out);

  /** index_add scatter_add scatter index_copy ...; source 0: the scalar. {@code inPlace}: a is written. */
  static native long indexPut(
      int op, long a, long dim, long index, long source, int kind, long bits, boolean inPlace);

  static native long maskedFill(long a, long mask, int kind, long bits, boolean inPlace);

  static native long oneHot(long a, long classes);
}
