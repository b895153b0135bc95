package wick.bench

import java.io.File
import java.nio.file.Files

/** `./sbt bench`: measures every row, or those whose "op size" matches a pattern, and prints each as
  * soon as it is known. `./sbt "bench -- growth"`: times an element as the number of elements grows.
  */
object Main {

  def main(args: Array[String]): Unit = {
    val folder = new File("target/bench")
    Files.createDirectories(folder.toPath)
    val peers = new Peers(folder)
    try
      args.mkString(" ") match {
        case "growth" => Growth.print(peers)
        case pattern  => table(pattern, peers)
      }
    finally peers.close()
  }

  private def table(pattern: String, peers: Peers): Unit = {
    val matching = pattern.r
    val families = Families.all.map(f => f -> f.rows.filter(r => matching.findFirstIn(r.name).nonEmpty)).filter(_._2.nonEmpty)
    if (families.isEmpty) {
      System.err.println(s"no row matches $pattern; the rows are: ${Families.rows.map(_.name).mkString(", ")}")
      sys.exit(2)
    }
    val machines = families.flatMap(_._2).flatMap(_.threads).distinct.map(n => n -> Machine.measure(n)).toMap
    machines.toSeq.sortBy(_._1).foreach { case (threads, machine) => machine.lines(threads).foreach(println) }
    println(Table.header)
    val lines = for {
      (family, rows) <- families
      _ = peers.renew()
      row <- rows
      threads <- row.threads
      line = measure(peers, row, threads, if (family.short) "short" else "usual", machines(threads))
      _ = if (family.short) peers.renew()
    } yield {
      println(line.text)
      line
    }
    peers.torch.foreach(version => println(s"torch: PyTorch $version in a process of its own"))
    Table.summary(lines).foreach(println)
  }

  private def measure(peers: Peers, row: Row, threads: Int, plan: String, machine: Machine): Table.Line = {
    val index = Families.index(row)
    def by(peer: String) = told(peer, row, peers.measure(peer, index, threads, plan))
    val wick = by("wick")
    val (peer, other) =
      if (row.byDjl) ("DJL", Some(by("djl")))
      else if (row.torchBody.nonEmpty) {
        // Without PyTorch there is nothing to compare with, which is no failure.
        val times = peers.measureTorch(row, threads)
        ("torch", if (peers.torch.isEmpty) None else Some(told("torch", row, times)))
      } else ("-", None)
    val loop = if (threads == 1) row.loopBody.map(_ => by("loop")) else None
    Table.Line(row, threads, wick, peer, other, loop, machine.least(row.cost))
  }

  private def told(peer: String, row: Row, times: Either[String, Times]): Either[String, Times] = {
    times.left.foreach(cause => System.err.println(s"${row.name} by $peer: $cause"))
    times
  }
}
