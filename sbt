#!/usr/bin/env bash
# Starts the sbt that project/build.properties names, with all arguments as given. It uses, in this
# order: the launcher it fetched before, an installed sbt, coursier's cs, or Maven to fetch the launcher.
# Called from a folder that holds a build of its own (tests/consumer), it starts that one.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -n 's/^sbt\.version *= *//p' "$root/project/build.properties" | tr -d '[:space:]')
launcher=$root/project/.launcher/sbt-launch-$version.jar
jvm_options=(-Xmx3g -Xss4m -Dfile.encoding=UTF-8)

if [[ -n ${JAVA_HOME:-} ]]; then
  java=$JAVA_HOME/bin/java
  [[ -x $java ]] || { echo "sbt: JAVA_HOME is $JAVA_HOME, but there is no bin/java in it" >&2; exit 1; }
else
  java=$(command -v java) || { echo "sbt: no java: install JDK 17 or newer, or set JAVA_HOME" >&2; exit 1; }
fi

# The terminal's width and colours are sbt's to find out; all that is fixed here is the JVM.
launch() {
  # JDK 24 and newer warn about what sbt itself loads and reads natively; older ones lack the second flag.
  local major
  major=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p')
  if [[ $major =~ ^[0-9]+$ ]] && ((major >= 24)); then
    jvm_options+=(--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow)
  fi
  # shellcheck disable=SC2086  # SBT_OPTS is a list of words by custom
  exec "$java" "${jvm_options[@]}" ${JAVA_OPTS:-} ${SBT_OPTS:-} -jar "$launcher" "$@"
}

fetch_with_maven() {
  local folder
  folder=$(mktemp -d "$root/project/.launcher/fetch.XXXXXX")
  # The name is taken last, so that an interrupted download is never started.
  if mvn -q -B -Dstyle.color=never dependency:copy -Dartifact="org.scala-sbt:sbt-launch:$version" \
    -DoutputDirectory="$folder" >&2; then
    mv "$folder/sbt-launch-$version.jar" "$launcher"
  fi
  rm -rf "$folder"
  [[ -f $launcher ]]
}

[[ -f project/build.properties ]] || cd "$root"
if [[ -f $launcher ]]; then
  launch "$@"
elif command -v sbt >/dev/null; then
  exec sbt "${jvm_options[@]/#/-J}" "$@"
elif command -v cs >/dev/null; then
  exec cs launch "org.scala-sbt:sbt-launch:$version" "${jvm_options[@]/#/--java-opt=}" -- "$@"
elif command -v mvn >/dev/null; then
  mkdir -p "${launcher%/*}"
  fetch_with_maven || { echo "sbt: Maven could not fetch sbt-launch $version" >&2; exit 1; }
  launch "$@"
else
  echo "sbt: install one of sbt, coursier (cs) or Maven (mvn); any of them can start sbt $version" >&2
  exit 1
fi
