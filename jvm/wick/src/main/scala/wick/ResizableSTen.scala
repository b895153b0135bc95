package wick

/** A tensor whose shape can change and whose memory only grows: dlib's `resizable_tensor`.
  *
  * [[tensor]] is what it is now: an ordinary tensor, which a change of shape closes. Its memory has room
  * for [[capacity]] elements. Shapes that fit are taken at once; a larger one takes new memory, and what
  * the elements were is lost. Memory never shrinks by itself: [[shrinkToFit]] and [[clear]] give it back.
  *
  * While views of [[tensor]] are open the memory stays: whatever would replace it is an
  * `IllegalStateException` and changes nothing.
  * {{{
  * Scope.root { implicit scope =>
  *   val batch = ResizableSTen(List(32, 10), STenOptions.f)
  *   batch.setSize(20, 10)              // the same memory
  *   assert(batch.capacity == 320 && batch.shape == List(20L, 10L))
  *   batch.tensor.fill_(1.0)
  * }
  * }}}
  * It belongs to the scope that it was made in, or moved to, and can be used from any thread.
  */
final class ResizableSTen private (private var root: STen, private var current: STen) extends AutoCloseable {

  /** The tensor as it is now; the next change of shape closes it. */
  def tensor: STen = synchronized {
    current.handle
    current
  }

  /** Sizes, outermost first. */
  def shape: List[Long] = tensor.shape

  /** How many elements there are. */
  def numel: Long = tensor.numel

  /** How many elements there is memory for. */
  def capacity: Long = synchronized(root.numel)

  /** Changes the shape. Within the capacity elements stay where they are; beyond it they are lost, and
    * the annotation is kept.
    */
  def setSize(shape: Long*): Unit = synchronized {
    val spec = new AliasSpec(shape.toList)
    if (spec.size <= root.numel) replaceView(spec)
    else
      replaceMemory("set_size", spec) { (memory, _) =>
        val note = root.annotation
        if (note != null) memory.annotation = note
      }
  }

  /** Takes the shape of another tensor. */
  def copySize(other: STen): Unit = setSize(other.shape: _*)

  /** Frees the memory and forgets the annotation: no elements and no capacity. */
  def clear(): Unit = synchronized(replaceMemory("clear", AliasSpec())((_, _) => ()))

  /** Makes the capacity the number of elements, which keep their values. */
  def shrinkToFit(): Unit = synchronized {
    if (root.numel > current.numel)
      replaceMemory("shrink_to_fit", new AliasSpec(current.shape)) { (memory, view) =>
        view.copyFrom(current)
        memory.annotation = root.annotation
      }
  }

  /** Takes the shape and, cast, the elements of another tensor. */
  def assign(t: STen): Unit = synchronized {
    copySize(t)
    current.copyFrom(t)
  }

  /** Takes the elements of a matrix, cast. The shape stays where the matrix has a row for each index of
    * its first dimension and as many columns as the others have elements; else it becomes the matrix's.
    */
  def assign[M](m: M)(implicit matrix: MatrixLike[M]): Unit = synchronized {
    val (rows, columns) = (matrix.rows(m), matrix.columns(m))
    if (shape.headOption.getOrElse(1L) != rows || shape.drop(1).product != columns) setSize(rows, columns)
    current.assignMatrix(m)
  }

  /** A copy in memory of its own, with its annotation; its capacity is the number of elements. */
  def cloneResizable[S: Sc]: ResizableSTen = synchronized {
    val out = ResizableSTen(shape, current.options)
    out.tensor.copyFrom(current)
    out.tensor.annotation = current.annotation
    out
  }

  /** Takes memory, shape and annotation of another one, of the same element type, which is left empty. */
  def moveFrom(other: ResizableSTen): Unit = if (other ne this) {
    val dtype = synchronized {
      checkAlone("move_from")
      root.dtype
    }
    // One lock at a time: two that take from each other do not wait for each other.
    val (memory, view) = other.surrender(dtype)
    synchronized {
      root.currentOwner(List(memory, view))
      settle(memory, view)
    }
  }

  private def surrender(dtype: DType): (STen, STen) = synchronized {
    if (root.dtype != dtype)
      throw new DTypeException(s"move_from: ${root.dtype} to $dtype: expected one element type")
    implicit val scope: Scope = root.currentOwner
    val out = (root, current)
    val memory = ResizableSTen.memory(0, root.options)
    current = AliasSpec()(memory)
    root = memory
    out
  }

  /** The box of `shape` at `coords`, as a view; where there is no element yet, the tensor first becomes
    * as large as the box needs.
    */
  def subTensor[S: Sc](shape: Seq[Long], coords: Seq[Long]): STen = synchronized {
    val ends = shape.zip(coords)
    if (current.numel == 0 && shape.length == coords.length)
      if (ends.forall { case (size, at) => size >= 0 && at >= 0 && size <= Long.MaxValue - at })
        setSize(ends.map { case (size, at) => size + at }: _*)
    current.subTensor(shape, coords)
  }

  /** Frees the memory before the scope ends. */
  def close(): Unit = synchronized {
    current.close()
    root.close()
  }

  private def checkAlone(op: String): Unit = {
    val views = root.storageRefCount - 2
    if (views > 0)
      throw new IllegalStateException(
        s"$op: ${root.dtype} ${current.shapeText} with room for ${root.numel}: $views views of it are open"
      )
  }

  private def replaceView(spec: AliasSpec): Unit = {
    val view = spec(root)(root.currentOwner)
    current.close()
    current = view
  }

  private def replaceMemory(op: String, spec: AliasSpec)(fill: (STen, STen) => Unit): Unit = {
    implicit val scope: Scope = root.currentOwner
    root.handle
    checkAlone(op)
    val memory = ResizableSTen.memory(spec.size, root.options)
    try {
      val view = spec(memory)
      fill(memory, view)
      settle(memory, view)
    } catch { case t: Throwable => memory.close(); throw t }
  }

  private def settle(memory: STen, view: STen): Unit = {
    current.close()
    root.close()
    root = memory
    current = view
  }

  override def toString: String = synchronized(s"ResizableSTen($current, room for ${root.shapeText})")
}

/** Makes resizable tensors. */
object ResizableSTen {

  private def memory[S: Sc](count: Long, options: STenOptions): STen = STen.empty(List(count), options)

  /** Of a shape, its elements not yet written; without one, empty. */
  def apply[S: Sc](shape: Seq[Long] = List(0L), options: STenOptions = STen.fOptions): ResizableSTen = {
    val spec = new AliasSpec(shape.toList)
    val root = memory(spec.size, options)
    new ResizableSTen(root, spec(root))
  }

  /** A matrix, copied, in the element type of `options`. */
  def fromMatrix[M](m: M, options: STenOptions)(implicit matrix: MatrixLike[M], scope: Scope): ResizableSTen = {
    val out = apply(List(matrix.rows(m), matrix.columns(m)), options)
    out.assign(m)
    out
  }

  /** Both of its tensors move. */
  implicit val movable: Movable[ResizableSTen] = Movable.nonEmpty(r => r.synchronized(List(r.root, r.current)))
}
