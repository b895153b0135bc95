package wick

/** Tuples of what may hold tensors. Their lines differ in nothing but arity. */
private[wick] trait TupleMovables extends MovableFromEmpty {
  private def product[P <: Product](parts: Movable[_]*): Movable[P] =
    if (parts.forall(_.isEmpty)) EmptyMovable.make else new TupleMovable[P](parts.toArray)
  implicit def t2[A, B](implicit a: Movable[A], b: Movable[B]): Movable[(A, B)] = product(a, b)
  implicit def t3[A, B, C](implicit
      a: Movable[A], b: Movable[B], c: Movable[C]
  ): Movable[(A, B, C)] =
    product(a, b, c)
  implicit def t4[A, B, C, D](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D]
  ): Movable[(A, B, C, D)] =
    product(a, b, c, d)
  implicit def t5[A, B, C, D, E](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E]
  ): Movable[(A, B, C, D, E)] =
    product(a, b, c, d, e)
  implicit def t6[A, B, C, D, E, F](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F]
  ): Movable[(A, B, C, D, E, F)] =
    product(a, b, c, d, e, f)
  implicit def t7[A, B, C, D, E, F, G](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G]
  ): Movable[(A, B, C, D, E, F, G)] =
    product(a, b, c, d, e, f, g)
  implicit def t8[A, B, C, D, E, F, G, H](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H]
  ): Movable[(A, B, C, D, E, F, G, H)] =
    product(a, b, c, d, e, f, g, h)
  implicit def t9[A, B, C, D, E, F, G, H, I](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I]
  ): Movable[(A, B, C, D, E, F, G, H, I)] =
    product(a, b, c, d, e, f, g, h, i)
  implicit def t10[A, B, C, D, E, F, G, H, I, J](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J]
  ): Movable[(A, B, C, D, E, F, G, H, I, J)] =
    product(a, b, c, d, e, f, g, h, i, j)
  implicit def t11[A, B, C, D, E, F, G, H, I, J, K](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K)] =
    product(a, b, c, d, e, f, g, h, i, j, k)
  implicit def t12[A, B, C, D, E, F, G, H, I, J, K, L](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l)
  implicit def t13[A, B, C, D, E, F, G, H, I, J, K, L, M](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m)
  implicit def t14[A, B, C, D, E, F, G, H, I, J, K, L, M, N](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n)
  implicit def t15[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
  implicit def t16[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
  implicit def t17[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P], q: Movable[Q]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
  implicit def t18[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P], q: Movable[Q], r: Movable[R]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
  implicit def t19[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P], q: Movable[Q], r: Movable[R],
      s: Movable[S]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
  implicit def t20[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P], q: Movable[Q], r: Movable[R],
      s: Movable[S], t: Movable[T]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
  implicit def t21[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P], q: Movable[Q], r: Movable[R],
      s: Movable[S], t: Movable[T], u: Movable[U]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
  implicit def t22[A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V](implicit
      a: Movable[A], b: Movable[B], c: Movable[C], d: Movable[D], e: Movable[E], f: Movable[F],
      g: Movable[G], h: Movable[H], i: Movable[I], j: Movable[J], k: Movable[K], l: Movable[L],
      m: Movable[M], n: Movable[N], o: Movable[O], p: Movable[P], q: Movable[Q], r: Movable[R],
      s: Movable[S], t: Movable[T], u: Movable[U], v: Movable[V]
  ): Movable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V)] =
    product(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
}

/** Tuples of what holds no tensor. */
@scala.annotation.nowarn
private[wick] trait EmptyTuples extends EmptyDerivation {
  implicit def t2[A: EmptyMovable, B: EmptyMovable]: EmptyMovable[(A, B)] = EmptyMovable.make
  implicit def t3[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable
  ]: EmptyMovable[(A, B, C)] =
    EmptyMovable.make
  implicit def t4[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable
  ]: EmptyMovable[(A, B, C, D)] =
    EmptyMovable.make
  implicit def t5[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E)] =
    EmptyMovable.make
  implicit def t6[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F)] =
    EmptyMovable.make
  implicit def t7[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G)] =
    EmptyMovable.make
  implicit def t8[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H)] =
    EmptyMovable.make
  implicit def t9[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I)] =
    EmptyMovable.make
  implicit def t10[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J)] =
    EmptyMovable.make
  implicit def t11[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K)] =
    EmptyMovable.make
  implicit def t12[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L)] =
    EmptyMovable.make
  implicit def t13[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M)] =
    EmptyMovable.make
  implicit def t14[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N)] =
    EmptyMovable.make
  implicit def t15[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O)] =
    EmptyMovable.make
  implicit def t16[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P)] =
    EmptyMovable.make
  implicit def t17[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable, Q: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q)] =
    EmptyMovable.make
  implicit def t18[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable, Q: EmptyMovable, R: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R)] =
    EmptyMovable.make
  implicit def t19[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable, Q: EmptyMovable, R: EmptyMovable,
      S: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S)] =
    EmptyMovable.make
  implicit def t20[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable, Q: EmptyMovable, R: EmptyMovable,
      S: EmptyMovable, T: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T)] =
    EmptyMovable.make
  implicit def t21[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable, Q: EmptyMovable, R: EmptyMovable,
      S: EmptyMovable, T: EmptyMovable, U: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U)] =
    EmptyMovable.make
  implicit def t22[
      A: EmptyMovable, B: EmptyMovable, C: EmptyMovable, D: EmptyMovable, E: EmptyMovable, F: EmptyMovable,
      G: EmptyMovable, H: EmptyMovable, I: EmptyMovable, J: EmptyMovable, K: EmptyMovable, L: EmptyMovable,
      M: EmptyMovable, N: EmptyMovable, O: EmptyMovable, P: EmptyMovable, Q: EmptyMovable, R: EmptyMovable,
      S: EmptyMovable, T: EmptyMovable, U: EmptyMovable, V: EmptyMovable
  ]: EmptyMovable[(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V)] =
    EmptyMovable.make
}

/** The parts of a tuple, each by its own instance. */
private final class TupleMovable[P <: Product](parts: Array[Movable[_]]) extends Movable[P] {
  def foreach(value: P)(f: STen => Unit): Unit = {
    var i = 0
    while (i < parts.length) {
      val part = value.productElement(i)
      if (part != null) parts(i).asInstanceOf[Movable[Any]].foreach(part)(f)
      i += 1
    }
  }
}
