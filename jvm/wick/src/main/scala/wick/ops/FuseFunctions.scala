package wick

/** Functions of the [[STen]] companion: elementwise expressions without tensors in between. */
private[wick] trait FuseFunctions {

  /** An elementwise expression of tensors that broadcast, or its sum, mean, greatest or least element,
    * evaluated block by block in the cache: the values, dtype and shape are those of one operation
    * after the other, the time that of reading the operands and writing the result once.
    * {{{
    * val z = STen.fuse(a, b, c)((a, b, c) => a * b + c.exp)
    * val distance = STen.fuse(a, b)((a, b) => ((a - b) * (a - b)).sum)
    * }}}
    * A reduction is fused where all operands with dimensions are contiguous and of one shape; else the
    * elements are written out first. Errors are those of the operations.
    */
  def fuse[S: Sc](operands: Seq[STen])(f: Seq[Expr] => Fusible): STen = {
    val of = new Object
    fused(operands, f(operands.indices.map(new Expr.Operand(of, _))), of)
  }

  /** As `fuse` of a sequence. */
  def fuse[S: Sc](a: STen)(f: Expr => Fusible): STen =
    fuse(List(a))(x => f(x(0)))

  /** As `fuse` of a sequence. */
  def fuse[S: Sc](a: STen, b: STen)(f: (Expr, Expr) => Fusible): STen =
    fuse(List(a, b))(x => f(x(0), x(1)))

  /** As `fuse` of a sequence. */
  def fuse[S: Sc](a: STen, b: STen, c: STen)(f: (Expr, Expr, Expr) => Fusible): STen =
    fuse(List(a, b, c))(x => f(x(0), x(1), x(2)))

  /** As `fuse` of a sequence. */
  def fuse[S: Sc](a: STen, b: STen, c: STen, d: STen)(f: (Expr, Expr, Expr, Expr) => Fusible): STen =
    fuse(List(a, b, c, d))(x => f(x(0), x(1), x(2), x(3)))

  /** As `fuse` of a sequence. */
  def fuse[S: Sc](a: STen, b: STen, c: STen, d: STen, e: STen)(f: (Expr, Expr, Expr, Expr, Expr) => Fusible): STen =
    fuse(List(a, b, c, d, e))(x => f(x(0), x(1), x(2), x(3), x(4)))

  /** An elementwise expression as by `fuse`, written into `out`, which has the result's shape, a dtype
    * that can hold it, and may be one of the operands.
    */
  def fuseOut(out: STen, operands: Seq[STen])(f: Seq[Expr] => Expr): Unit = {
    val of = new Object
    f(operands.indices.map(new Expr.Operand(of, _))) match {
      case x: Expr.Operand => out.copyFrom(operand(operands, x, of))
      case x               =>
        Native.fuse(Expr.program(x, of), operands.map(_.handle).toArray, -1, out.handle)
        ()
    }
  }

  /** As `fuseOut` of a sequence. */
  def fuseOut(out: STen, a: STen)(f: Expr => Expr): Unit =
    fuseOut(out, List(a))(x => f(x(0)))

  /** As `fuseOut` of a sequence. */
  def fuseOut(out: STen, a: STen, b: STen)(f: (Expr, Expr) => Expr): Unit =
    fuseOut(out, List(a, b))(x => f(x(0), x(1)))

  /** As `fuseOut` of a sequence. */
  def fuseOut(out: STen, a: STen, b: STen, c: STen)(f: (Expr, Expr, Expr) => Expr): Unit =
    fuseOut(out, List(a, b, c))(x => f(x(0), x(1), x(2)))

  /** As `fuseOut` of a sequence. */
  def fuseOut(out: STen, a: STen, b: STen, c: STen, d: STen)(f: (Expr, Expr, Expr, Expr) => Expr): Unit =
    fuseOut(out, List(a, b, c, d))(x => f(x(0), x(1), x(2), x(3)))

  /** As `fuseOut` of a sequence. */
  def fuseOut(out: STen, a: STen, b: STen, c: STen, d: STen, e: STen)(f: (Expr, Expr, Expr, Expr, Expr) => Expr): Unit =
    fuseOut(out, List(a, b, c, d, e))(x => f(x(0), x(1), x(2), x(3), x(4)))

  private def fused[S: Sc](operands: Seq[STen], f: Fusible, of: AnyRef): STen = f.expression match {
    case x: Expr.Operand =>
      val t = operand(operands, x, of)
      if (f.finish < 0) t.cloneTensor
      else STen.own(Native.reduce(f.finish, t.handle, null, false, -1, 0.0, 0L))
    case x =>
      val raw = Native.fuse(Expr.program(x, of), operands.map(_.handle).toArray, f.finish, 0L)
      STen.own(raw, operands.head)
  }

  private def operand(operands: Seq[STen], x: Expr.Operand, of: AnyRef): STen =
    if (x.of eq of) operands(x.place)
    else throw new IllegalArgumentException("fuse: an operand of another call of fuse")
}
