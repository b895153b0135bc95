val scala2 = "2.13.18"
val scala3 = "3.3.7"
val djl = "0.36.0"
val munit = "1.2.4"

ThisBuild / organization := "io.wick"
ThisBuild / version := NativeBuild.version((ThisBuild / baseDirectory).value) + "-SNAPSHOT"
ThisBuild / scalaVersion := scala2
ThisBuild / crossScalaVersions := Seq(scala2, scala3)
ThisBuild / licenses := Seq(License.Apache2)
ThisBuild / versionScheme := Some("early-semver")

Global / onChangedBuildSource := ReloadOnSourceChanges

val nativeLibrary = taskKey[File]("The native library of this machine: WICK_NATIVE_LIB, or what cargo builds.")

// In the build's scope, so that cargo runs once whatever modules and Scala versions ask for it.
ThisBuild / nativeLibrary := {
  sys.env.get("WICK_NATIVE_LIB") match {
    case Some(path) => file(path)
    case None       => NativeBuild.library((ThisBuild / baseDirectory).value, streams.value.log)
  }
}

/** The feature version of the JDK that forked programs run on. */
def jdk(home: Option[File]): Int = {
  val version = home.map(_ / "release").filter(_.exists).flatMap { release =>
    IO.readLines(release).collectFirst { case s if s.startsWith("JAVA_VERSION=") => s.split('"')(1) }
  }
  version.getOrElse(sys.props("java.specification.version")).takeWhile(_.isDigit).toInt
}

/** Native access is allowed by name from the first JDK that knows the flag, and denied to all others. */
def nativeAccess(home: Option[File]): Seq[String] =
  (if (jdk(home) >= 17) Seq("--enable-native-access=ALL-UNNAMED") else Nil) ++
    (if (jdk(home) >= 24) Seq("--illegal-native-access=deny") else Nil)

// Programs and tests run in the repository's root, in a JVM of their own.
val forked = Seq(
  fork := true,
  run / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  run / outputStrategy := Some(StdoutOutput),
  javaOptions ++= nativeAccess(javaHome.value),
  Test / javaOptions := nativeAccess((Test / javaHome).value) ++ Seq("-Xmx512m", "-Xss2m", "-Xcheck:jni"),
  libraryDependencies ++= Seq(
    "org.scalameta" %% "munit" % munit % Test,
    "org.scalameta" %% "munit-scalacheck" % "1.2.0" % Test
  )
)

val java11 = Seq(
  scalacOptions ++= Seq("-release:11", "-deprecation", "-feature", "-unchecked", "-encoding", "utf8", "-Werror"),
  Compile / console / scalacOptions -= "-Werror",
  Compile / doc / scalacOptions -= "-Werror",
  scalacOptions ++= {
    if (scalaBinaryVersion.value == "3") Seq("-Wunused:imports", "-Wunused:privates")
    else Seq("-Xlint:_,-unused", "-Wunused:imports,privates,locals", "-Wconf:origin=scala.collection.compat.*:s")
  },
  Compile / javacOptions ++= Seq("--release", "11", "-Xlint:all"),
  Compile / doc / javacOptions := Seq("--release", "11", "-Xdoclint:none")
)

val unpublished = Seq(publish / skip := true, Compile / doc / sources := Nil)

lazy val root = (project in file("."))
  .aggregate(wick, examples, conformance, stress)
  .settings(
    unpublished,
    name := "wick-build",
    target := baseDirectory.value / "target" / "sbt", // target itself is cargo's
    crossScalaVersions := Nil,
    Compile / console := (wick / Compile / console).value,
    Compile / console / aggregate := false
  )

lazy val wick = (project in file("jvm/wick"))
  .settings(
    java11,
    forked,
    name := "wick",
    description := "Off-heap N-dimensional arrays, freed with their scope",
    libraryDependencies ++= {
      if (scalaBinaryVersion.value == "3") Nil
      else
        Seq(
          "com.softwaremill.magnolia1_2" %% "magnolia" % "1.1.10",
          "org.scala-lang" % "scala-reflect" % scalaVersion.value % Provided
        )
    },
    Compile / resourceGenerators += Def.task {
      val library = (ThisBuild / nativeLibrary).value
      val to = (Compile / resourceManaged).value / "native" / NativeBuild.platform / System.mapLibraryName("wick")
      val copy = FileFunction.cached(crossTarget.value / "native-cache", FilesInfo.hash, FilesInfo.exists) { in =>
        IO.copyFile(in.head, to)
        Set(to)
      }
      copy(Set(library)).toSeq
    }.taskValue,
    Compile / packageBin / packageOptions += Package.ManifestAttributes(
      "Automatic-Module-Name" -> "io.wick",
      "Enable-Native-Access" -> "ALL-UNNAMED"
    ),
    // The REPL runs inside sbt's JVM; each start has a class loader, and so a library, of its own.
    console / initialCommands := "import wick._; implicit val scope: Scope = Scope.free",
    console / cleanupCommands := "scope.release()"
  )

lazy val examples = (project in file("jvm/examples"))
  .dependsOn(wick)
  .settings(java11, forked, unpublished, name := "wick-examples")

lazy val conformance = (project in file("tests/conformance"))
  .dependsOn(wick)
  .settings(
    java11,
    forked,
    unpublished,
    name := "wick-conformance",
    libraryDependencies += "com.lihaoyi" %% "ujson" % "4.1.0",
    Compile / run / mainClass := Some("wick.conformance.Main")
  )

lazy val stress = (project in file("tests/stress"))
  .dependsOn(wick)
  .settings(java11, forked, unpublished, name := "wick-stress")

// Outside the aggregate: plain compile and test must not fetch the peers.
lazy val bench = (project in file("jvm/bench"))
  .enablePlugins(JmhPlugin)
  .dependsOn(wick)
  .settings(
    java11,
    // Rows name their operands in patterns, as the class does.
    scalacOptions -= "-Werror",
    forked,
    unpublished,
    name := "wick-bench",
    crossScalaVersions := Seq(scala2),
    Jmh / run / baseDirectory := (ThisBuild / baseDirectory).value,
    Jmh / javaOptions := nativeAccess(javaHome.value) ++
      Seq("-Xms1g", "-Xmx1g", "-Dai.djl.offline=true", "-Djmh.separateClasspathJAR=true"),
    libraryDependencies ++= Seq(
      "ai.djl" % "api" % djl,
      "ai.djl.pytorch" % "pytorch-engine" % djl,
      "ai.djl.pytorch" % "pytorch-jni" % s"2.7.1-$djl",
      "ai.djl.pytorch" % "pytorch-native-cpu" % "2.7.1" classifier "linux-x86_64"
    )
  )

// Outside the aggregate: compiles and runs the README's snippets, by the alias checkDocs below.
lazy val docs = (project in file("target/docs"))
  .enablePlugins(MdocPlugin)
  .dependsOn(wick)
  .settings(
    unpublished,
    scalaVersion := scala3,
    crossScalaVersions := Seq(scala3),
    mdocIn := (ThisBuild / baseDirectory).value / "README.md",
    mdocOut := target.value / "README.md"
  )

addCommandAlias("demo", "examples/runMain wick.examples.Digits")

addCommandAlias("apiCheck", "conformance/runMain wick.conformance.ApiCheck")

addCommandAlias("accuracy", "conformance/runMain wick.conformance.Accuracy")

addCommandAlias("checkDocs", s"++$scala3; docs/mdoc; ++$scala2")

// bench, or bench -- PATTERN
commands += Command.args("bench", "[-- PATTERN]") { (state, arguments) =>
  (("bench/Jmh/runMain wick.bench.Main" +: arguments.dropWhile(_ == "--")).mkString(" ")) :: state
}

// A line that .ci/run tells its steps apart by, when it feeds commands to one sbt.
commands += Command.args("step", "NAME") { (state, name) =>
  println(s"=== step ${name.mkString(" ")}")
  state
}
