package survey

import (
	"strings"

	"si/benchmark"
	"si/internal/lazyre"
	"si/track"
)

var (
	javaFile  = lazyre.New(`\.(?:java|kt|scala)$`)
	jmhMark   = lazyre.New(`^\s*@Benchmark\b`)
	jmhImport = lazyre.New(`^import org\.openjdk\.jmh`)
	jmhMethod = lazyre.New(`(?:public|fun)\s+(?:[\w<>\[\], ]+\s+)?(\w+)\s*\(`)
	jmhMode   = lazyre.New(`Mode\.(AverageTime|SampleTime|SingleShotTime)`)
	jmhPlugin = lazyre.New(`me\.champeau\.jmh`)
)

// jmhBenchmarks are those of JMH, run by Gradle's plug-in or by the jar that
// Maven builds.
func jmhBenchmarks(i *index) []Finding {
	for _, file := range i.match(javaFile) {
		h, ok := i.first(file, jmhMark)
		if _, imports := i.first(file, jmhImport); !ok || !imports {
			continue
		}
		command, lists := jmhCommand(i)
		if command == "" {
			return nil
		}
		name := jmhName(i.text(file), h.line)
		f := Finding{
			Tool: "JMH", File: file, Line: h.line, Text: h.text, Command: command, Format: benchmark.FormatRegex, Sure: Tool,
			Metric: name, Direction: track.HigherIsBetter, Sealed: append([]string{file}, lists...),
			Regex: `^(?:\w+\.)*(?P<name>\w+)\s+(?:thrpt|avgt|sample|ss)\s+\d*\s+(?P<value>[\d.]+)\s`,
			Note:  "a run of JMH takes minutes: lower its forks and iterations if the rounds become too long",
		}
		if jmhMode.MatchString(i.text(file)) {
			f.Direction = track.LowerIsBetter
		}
		return []Finding{f}
	}
	return nil
}

func jmhCommand(i *index) (command string, sealed []string) {
	for _, p := range []string{"build.gradle", "build.gradle.kts"} {
		if i.files[p] && jmhPlugin.MatchString(i.text(p)) {
			if i.files["gradlew"] {
				return "sh gradlew -q jmh", []string{p, "gradlew"}
			}
			return "gradle -q jmh", []string{p}
		}
	}
	if i.files["pom.xml"] && strings.Contains(i.text("pom.xml"), "jmh") {
		return "mvn -q -DskipTests package && java -jar target/benchmarks.jar", []string{"pom.xml"}
	}
	return "", nil
}

func jmhName(text string, line int) string {
	lines := strings.Split(text, "\n")
	for _, l := range lines[min(line, len(lines)):min(line+8, len(lines))] {
		if m := jmhMethod.FindStringSubmatch(l); m != nil {
			return m[1]
		}
	}
	return "primary"
}
