// A user's build: it knows the published artifact and nothing of the build that made it.
scalaVersion := "2.13.18"
crossScalaVersions := Seq("2.13.18", "3.3.7")

libraryDependencies += "io.wick" %% "wick" % "0.1.0-SNAPSHOT"
libraryDependencies += "org.scalameta" %% "munit" % "1.2.4" % Test
