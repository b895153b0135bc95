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
public final class Native {
  private Native() {}

  /**
   * {@code raw >>> HINT_SHIFT}: 0 ask {@link #shape}, 1 shape of operand one, 2 of operand two, 3 the
   * tensor is sparse: ask.
   */
  public static final int HINT_SHIFT = 62;

  public static final long HANDLE_MASK = (1L << HINT_SHIFT) - 1;

  /** {@code handle & DTYPE_MASK} is the tensor's libtorch scalar type number. */
  public static final long DTYPE_MASK = 0xF;

  public static final int INT = 0;
  public static final int FLOAT = 1;
  public static final int BOOL = 2;

  static {
    NativeLoader.load();
    try {
      init(NativeLoader.VERSION);
    } catch (LinkageError | RuntimeException e) {
      throw NativeLoader.notOurs(e);
    }
  }

  /** The library's one exported symbol: registers all methods below and compares versions. */
  private static native void init(String version);

  /**
   * Code of an operation; families: unary binary ternary reduce along view index_kind create random variate
   * matmul addmm linalg index index_put pair neural pick running interpolation
   * sparse.
   */
  public static native int opCode(String family, String name);

  // handles and memory
  public static native void release(long a);
  public static native void releaseAll(long[] handles, int count);

  /** As {@link #releaseAll} without the array; what is no live handle is passed over. */
  public static native void releaseFew(long a, long b, long c, long d);
  public static native boolean isLive(long a);

  /** A second handle of the same elements. */
  public static native long alias(long a);
  public static native long[] shape(long a);
  public static native long[] strides(long a);
  public static native long storageOffset(long a);
  public static native boolean sharesStorage(long a, long b);
  public static native boolean isContiguous(long a);

  /** Fills live bytes, peak bytes, live tensors, cached bytes, cap, tensors ever made, ever freed. */
  public static native void memory(long[] out);
  public static native void resetPeak();
  public static native void setCap(long bytes);
  public static native void trim();
  public static native int threads();
  public static native void setThreads(int n);

  /** One of baseline, avx2, avx512. */
  public static native String cpuLevel();

  // devices and contexts: numbers, 0 the default context. Methods that make a tensor of nothing take
  // the device's number above the low byte of their dtype.
  /** The number of a simulated device, which is made when it is first asked for. */
  public static native int simDevice(int index);
  public static native int deviceOf(long a);

  /** A new tensor on a device. */
  public static native long copyToDevice(long a, int device);

  /** The same elements, computed on another device. */
  public static native long onDevice(long a, int device);

  /** Begins to bring the elements to a device. */
  public static native void prefetch(long a, int device);

  /** Whether they are there; -1: on the one that is not the processor, -2: on the processor. */
  public static native boolean isReady(long a, int device);

  /** Makes the elements undefined; false, and nothing, where there are others in the storage. */
  public static native boolean discard(long a);

  /** Bytes in row-major order. */
  public static native void hostRead(long a, byte[] out);
  public static native void hostWrite(long a, byte[] from);

  /**
   * {@code what}: 0 a delay in nanoseconds, 1 failures to come, 2 held or not, 3 a fresh start;
   * {@code work}: 0 operations, 1 copies to the device, 2 from it.
   */
  public static native void simulate(int index, int what, int work, long value);

  /** How many pieces of such work were done. */
  public static native long simulated(int index, int work);

  /** A handle of an event, which is no tensor's. */
  public static native long queueEvent(int device, boolean upload);
  public static native void queueWait(int device, boolean upload, long event);
  public static native boolean eventDone(long event);

  /** {@code nanos} negative: without a limit. */
  public static native boolean eventWait(long event, long nanos);
  public static native void eventRelease(long event);

  /** 0: the machine's. */
  public static native int newContext(int threads, long cap);
  public static native void closeContext(int number);

  /**
   * Fills live, peak, cached bytes, cap, threads, seed, offset, programs, their bytes, how many were
   * built, read and found.
   */
  public static native void contextState(int number, long[] out);

  /**
   * {@code what}: 0 threads, 1 cap, 2 seed and offset, 3 trim, 4 the peak starts anew, 5 programs are
   * forgotten.
   */
  public static native void setContext(int number, int what, long value, long second);

  /** How many threads of the context's pool the system has bound; no cores: to none. */
  public static native int bindThreads(int number, long[] cores);

  /** {@code bridge}: a {@link SchedulerBridge}, or null. */
  public static native void setScheduler(int number, Object bridge);
  public static native void setKernelFolder(int number, String path);

  /** Runs the next part of an operation; false where none is left. */
  public static native boolean runPart(long parts);

  /**
   * For this thread's operations: -1 no dimension; 0 auto, 1 static, 2 dynamic; 0 threads: the
   * context's. Fills those before.
   */
  public static native void setHints(
      int splitDim, int strategy, int granules, int threads, long[] before);

  // arrays; the array's length must equal the product of the shape
  public static native long fromDoubles(double[] data, long[] shape);
  public static native long fromFloats(float[] data, long[] shape);
  public static native long fromLongs(long[] data, long[] shape);
  public static native long fromInts(int[] data, long[] shape);
  public static native long fromShorts(short[] data, long[] shape);

  /** {@code dtype}: i8, u8. */
  public static native long fromBytes(byte[] data, long[] shape, int dtype);
  public static native long fromBooleans(boolean[] data, long[] shape);

  /** Raw half-precision bits; {@code dtype}: f16, bf16. */
  public static native long fromHalfBits(short[] data, long[] shape, int dtype);
  public static native void toDoubles(long a, double[] out);
  public static native void toFloats(long a, float[] out);
  public static native void toLongs(long a, long[] out);
  public static native void toInts(long a, int[] out);
  public static native void toShorts(long a, short[] out);
  public static native void toBytes(long a, byte[] out);
  public static native void toBooleans(long a, boolean[] out);
  public static native void toHalfBits(long a, short[] out);

  /** The one element as a double (any dtype); error where numel is not 1. */
  public static native double itemDouble(long a);

  /** The one element as a long; floats truncate. */
  public static native long itemLong(long a);

  // creation
  public static native long full(int dtype, long[] shape, int kind, long bits);
  public static native long empty(int dtype, long[] shape);
  public static native long eye(int dtype, long n, long m);

  public static native long arange(
      int dtype, int kind, long startBits, long endBits, long stepBits);

  public static native long linspace(int dtype, double start, double end, long steps);
  public static native void fill(long a, int kind, long bits);

  /** {@code value}: a tensor without dimensions. */
  public static native void fillTensor(long a, long value);

  // random: a number is a function of seed, offset and place alone; without {@code seeded} the
  // default generator gives seed and offset and moves on
  /** Starts the default generator anew. */
  public static native void seed(long seed);

  /** Fills seed and offset of the default generator. */
  public static native void generatorState(long[] out);
  public static native void setGeneratorState(long seed, long offset);

  /** The seed of an independent sequence; takes one step. */
  public static native long splitGenerator(boolean seeded, long seed, long offset);

  /**
   * rand randn uniform normal bernoulli: p, q are the bits of doubles; randint: longs. A draw of n
   * elements takes ceil(n / 32) steps.
   */
  public static native long random(
      int op, int dtype, long[] shape, long p, long q, boolean seeded, long seed, long offset);

  public static native void randomInPlace(
      int op, long a, long p, long q, boolean seeded, long seed, long offset);

  public static native long bernoulliOf(long probs, boolean seeded, long seed, long offset);

  public static native long variate(
      int op, long parameters, boolean seeded, long seed, long offset);

  public static native long multinomial(
      long weights, long samples, boolean replacement, boolean seeded, long seed, long offset);

  public static native long randperm(int dtype, long n, boolean seeded, long seed, long offset);

  // elementwise
  public static native long unary(int op, long a, double p0, double p1, double p2, long out);
  public static native long binary(int op, long a, long b, int alphaKind, long alphaBits, long out);

  /** One operand a number; {@code reversed}: the number is the left operand. */
  public static native long binaryScalar(
      int op, long a, int kind, long bits, boolean reversed, int alphaKind, long alphaBits, long out);

  /** where addcmul addcdiv lerp clamp: a missing operand (clamp's bounds) is 0; kind, bits: value or weight. */
  public static native long ternary(int op, long a, long b, long c, int kind, long bits, long out);

  /**
   * An elementwise expression of operands that broadcast. Its steps, each: kind (0 unary, 1 binary, 2
   * ternary), code, operands (each 0 and a place among the operands, 1 and a step, or 2 + a scalar's kind
   * and its bits), and three doubles' bits for unary, a scalar's kind and bits for ternary. {@code finish}:
   * a reduction of the last step's result over all elements, or -1.
   */
  public static native long fuse(long[] expression, long[] operands, int finish, long out);
  public static native long cast(long a, int dtype);

  /** dst takes src's values, cast and broadcast. */
  public static native void copy(long dst, long src);


  public static native boolean equal(long a, long b);

  // reductions; dims null: all
  public static native long reduce(
      int op, long a, long[] dims, boolean keepDim, int dtype, double correction, long out);

  /** Two results: max min with indices, var_mean std_mean. */
  public static native void reducePair(
      int op, long a, long[] dims, boolean keepDim, double correction, long[] results);

  /** softmax log_softmax cumsum cumprod: shape stays. */
  public static native long along(int op, long a, long dim, int dtype);

  // shapes: narrow select slice transpose squeeze unsqueeze diagonal ... with up to four numbers
  public static native long view(int op, long a, long p, long q, long r, long s);

  /** view reshape expand permute flip roll repeat movedim as_strided ... with a list of numbers. */
  public static native long viewList(int op, long a, long[] list);
  public static native long cat(long[] tensors, long dim, long out);
  public static native long stack(long[] tensors, long dim, long out);

  // products: mm bmm matmul mv dot inner outer
  public static native long matmul(int op, long a, long b, long out);

  /** addmm baddbmm addmv: beta * self + alpha * a @ b. */
  public static native long addmm(
      int op,
      long self,
      long a,
      long b,
      int betaKind,
      long betaBits,
      int alphaKind,
      long alphaBits,
      long out);

  // linear algebra
  /**
   * Decompositions, norms, products of several operands (family linalg): {@code p} are flags and whole
   * numbers, {@code x} and {@code y} numbers, as the operation has them; fills in as many results as
   * it gives.
   */
  public static native void linalg(
      int op, long[] operands, long[] p, double x, double y, long[] results);

  public static native long einsum(String equation, long[] operands);

  // indexing
  /**
   * index_select gather take masked_select (family index): {@code dim} where the operation has one,
   * {@code index} the indices or the mask; {@code out} for index_select alone.
   */
  public static native long index(int op, long a, long dim, long index, long out);

  /**
   * index_add index_copy index_fill scatter scatter_add put put_accumulate masked_scatter (family
   * index_put); source 0: the scalar. {@code inPlace}: a is written.
   */
  public static native long indexPut(
      int op, long a, long dim, long index, long source, int kind, long bits, boolean inPlace);

  /** Advanced indexing: an index a dimension, 0 for a whole one; a mask stands for several. */
  public static native long indexList(long a, long[] indices);

  public static native long indexPutList(
      long a, long[] indices, long source, boolean accumulate, boolean inPlace);

  public static native long maskedFill(long a, long mask, int kind, long bits, boolean inPlace);
  public static native long oneHot(long a, long classes);

  /** Index tuples of what is not zero, one a row. */
  public static native long nonzero(long a);

  /** The columns of {@link #nonzero}, one tensor a dimension (one where there is none). */
  public static native void nonzeroEach(long a, long[] results);

  // sorting and selection; results: values and places, which are i64. NaN counts as greatest
  /** Stable. */
  public static native void sort(long a, long dim, boolean descending, long[] results);
  public static native long argsort(long a, long dim, boolean descending);
  public static native long sortValues(long a, long dim, boolean descending);

  /** With targets both are written into, and results stays as it is; else both are 0. */
  public static native void topk(
      long a,
      long k,
      long dim,
      boolean largest,
      boolean sorted,
      long outValues,
      long outIndices,
      long[] results);

  /** kthvalue (k from 1) median nanmedian mode (family pick). */
  public static native void pick(int op, long a, long k, long dim, boolean keepDim, long[] results);
  public static native long median(long a, boolean skipNan);

  /** cummax cummin (family running). */
  public static native void running(int op, long a, long dim, long[] results);

  /** At the fraction q, or where {@code each} is not 0 at those; {@code all}: of all elements. */
  public static native long quantile(
      long a,
      double q,
      long each,
      boolean all,
      long dim,
      boolean keepDim,
      int interpolation,
      boolean skipNan);

  /** Results: different elements or slices, number of each, how often; unwanted ones are empty. */
  public static native void unique(
      long a,
      boolean all,
      long dim,
      boolean consecutive,
      boolean inverse,
      boolean counts,
      long[] results);

  // sparse tensors: what other methods do with them, they do where the operation is linear
  public static native long sparseCoo(long indices, long values, long[] shape);

  /**
   * coalesce indices values to_dense to_sparse zeros_like (family sparse); {@code dims}: how many
   * leading dimensions become sparse, -1 for all.
   */
  public static native long sparse(int op, long a, long dims);

  /** The dense gradient at the coordinates of the input. */
  public static native long sparseMask(long grad, long input);

  /** Fills number of coordinates, 1 where they are coalesced, sparse dimensions, bytes. */
  public static native void sparseInfo(long a, long[] out);

  /** Coordinates and values as they are. */
  public static native void sparseParts(long a, long[] results);

  // searching, counting, repeating
  public static native long searchsorted(
      boolean bucketize, long sequence, long values, long sorter, boolean right, boolean i32);

  public static native long histc(long a, long bins, double min, double max);
  public static native long bincount(long a, long weights, long minLength);

  /** {@code repeats} 0: all {@code times}; {@code all}: of the flattened tensor. */
  public static native long repeatInterleave(
      long a, long repeats, long times, boolean all, long dim);

  public static native long repeatPlaces(long repeats);
  public static native long cartesianProduct(long[] vectors);
  public static native long combinations(long a, long r, boolean again);
  public static native long trianglePlaces(long rows, long columns, long diagonal, boolean upper);

  /** A view for each vector. */
  /** {@code n}: -1 for as many elements as there are. */
  public static native long fft(int op, long a, long n, long dim, int norm);

  /**
   * Reads bytes {@code [offset, offset + length)} of a file; {@code parts} holds dtype, offset and
   * bytes of each tensor.
   */
  public static native void tensorsFromFile(
      String path, long offset, long length, long[] parts, long[] results);

  public static native void meshgrid(long[] vectors, boolean xy, long[] results);
  public static native long diff(long a, long n, long dim, long before, long after);

  public static native long nanReduce(
      boolean mean, long a, long[] dims, boolean keepDim, int dtype);

  // the memory behind tensors
  /** How many tensors share it. */
  public static native long storageRefCount(long a);

  /** Its number, which no other storage gets, and how often it was written since it was asked for. */
  public static native void storageWatch(long a, long[] out);

  /** Where the first element lies. */
  public static native long address(long a);
  public static native boolean isImported(long a);
  public static native boolean isReadOnly(long a);

  /** Throws where the tensor is read-only or elements share their place. */
  public static native void checkSlots(long a);

  /** A second handle of the same elements, through which nothing is written. */
  public static native long readOnly(long a);

  /** What was put beside the elements, or null. */
  public static native Object annotation(long a);
  public static native void annotate(long a, Object value);

  /** The whole of a direct buffer, which stays reachable while a tensor sees it. */
  public static native long importBuffer(
      java.nio.ByteBuffer buffer, int dtype, long[] shape, boolean readOnly);

  /** The giver stays reachable while a tensor sees the bytes. */
  public static native long importAddress(
      long address, long bytes, int dtype, long[] shape, boolean readOnly, Object giver);

  public static native void memcpy(long dst, long src);
  public static native double dotDouble(long a, long b);

  /** Fills the array from place {@code from} of the row-major order on. */
  public static native void readElements(long a, long from, double[] out);

  /** Bytes of elements in row-major order, from byte {@code from} on. */
  public static native void readBytes(long a, long from, byte[] out, int length);
  public static native void writeBytes(long a, long from, byte[] data, int length);

  // pipelines
  /** Operations of this thread are recorded from here on; the inputs stand for those of runs. */
  public static native void pipelineRecord(long[] inputs);

  /** Ends the recording for nothing. */
  public static native void pipelineAbandon();

  /** Ends the recording and closes its tensors: the pipeline that gives the outputs. */
  public static native long pipelineFinish(long[] outputs, int planner, int pools, boolean wipe);

  /** Into {@code out}, a target for each output, or where that is null into new tensors. */
  public static native void pipelineRun(
      long pipeline, long[] inputs, long[] out, long nanos, long[] results);

  /** See {@code Pipeline.Report}. */
  public static native void pipelineReport(long pipeline, long[] out);

  /** Block, offset and bytes of each intermediate. */
  public static native long[] pipelinePlaces(long pipeline);
  public static native void pipelineClose(long pipeline);

  // memory managers
  public static native long manager(int planner, boolean wipe);
  public static native int managerGroup(long manager);

  /** Begins a life; its number. */
  public static native int managerManage(long manager, int group, long bytes, long align);
  public static native void managerEnd(long manager, int group, int managed);
  public static native void managerPopulate(long manager, int pools);

  /** Bytes, alignment and owners of each block of a pool. */
  public static native long[] managerBlocks(long manager);
  public static native void managerClear(long manager);
  public static native void managerClose(long manager);
  public static native long lease(long manager, long nanos);

  public static native long leaseTensor(
      long manager, long lease, int group, int managed, int dtype, long[] shape);

  public static native void leaseWipe(long lease);
  public static native void leaseRelease(long lease);

  // neural operations
  /** Elementwise gradients: of two operands and up to three numbers. */
  public static native long pair(
      int op, long a, long b, double p0, double p1, double p2, long out);

  /**
   * All others: operands (0: missing), whole numbers and factors in the order that the operation
   * takes them; a result that was not asked for is 0.
   */
  public static native void neural(
      int op, long[] operands, long[] numbers, double[] factors, long[] results);

  // images (family image: the filters first, whose numbers are a border mode and the valid part)
  /** One image: whole numbers and factors as the operation has them; as many results as it gives. */
  public static native void image(
      int op, long a, long[] numbers, double[] factors, long[] results);

  public static native long imageRead(String path);
  public static native void imageWrite(String path, long a);

  /** Elements not written yet, in a storage of {@code total} elements. */
  public static native long padded(
      int dtype, long[] shape, long[] strides, long offset, long total);

  /** Writes top, right, bottom, left elements around each plane. */
  public static native void fillBorder(long a, long[] sides, int mode, double value);

  // kernels: kind 0 filters, 1 unary, 2 binary; operands, then targets
  /**
   * Fills number of dimensions, border (top, right, bottom, left), scratch bytes; start, end and step of
   * each dimension.
   */
  public static native void kernelInfo(
      int kind, int op, long[] operands, long[] edges, double value, long[] out);

  /** Over all of its window (null), or over a part on the calling thread. */
  public static native void kernelRun(
      int kind, int op, long[] operands, long[] edges, double value, long[] window);

  // rows of the last dimension from an index on, in the array's type
  public static native void rowDoubles(long a, long[] at, long step, int count, double[] row);
  public static native void rowFloats(long a, long[] at, long step, int count, float[] row);
  public static native void rowLongs(long a, long[] at, long step, int count, long[] row);
  public static native void rowInts(long a, long[] at, long step, int count, int[] row);
  public static native void rowShorts(long a, long[] at, long step, int count, short[] row);
  public static native void rowBytes(long a, long[] at, long step, int count, byte[] row);
  public static native void setRowDoubles(long a, long[] at, long step, int count, double[] row);
  public static native void setRowFloats(long a, long[] at, long step, int count, float[] row);
  public static native void setRowLongs(long a, long[] at, long step, int count, long[] row);
  public static native void setRowInts(long a, long[] at, long step, int count, int[] row);
  public static native void setRowShorts(long a, long[] at, long step, int count, short[] row);
  public static native void setRowBytes(long a, long[] at, long step, int count, byte[] row);
}
