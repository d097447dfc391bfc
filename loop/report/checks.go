package report

import "strings"

// checks are commands by which a reader can look for himself: each is copied to a
// shell, so that what comes from the track is quoted.
func checks(r Report) []Check {
	s := r.Source
	start, end := quoted(short(s.Start)), quoted(short(s.Champion))
	branch := orElse(s.Delivery, s.Improve)
	var list []Check
	if len(r.Gains) > 0 && s.Start != "" && branch != "" {
		list = append(list,
			Check{"What the branch holds, one commit for each gain", "git log --reverse " + start + ".." + quoted(branch)},
			Check{"All that changed", "git diff " + start + " " + quoted(branch)})
	}
	if len(r.Gains) > 0 {
		g := r.Gains[0]
		list = append(list, Check{"Every run behind a gain (here the first)", "si why " + quoted(candidateName(g.Round, g.Executor, g.PlanID))})
	}
	list = append(list, Check{"Every change that was tried", "si history"})
	command := byHand(r.Benchmark)
	if s.Start != "" && command != "" {
		list = append(list, Check{"The score of the start, by hand", "git worktree add --detach ../before " + start + " && (cd ../before && " + command + ")"})
	}
	if s.Champion != "" && s.Champion != s.Start && command != "" {
		list = append(list, Check{"The score of the result, by hand (take turns, several times)", "git worktree add --detach ../after " + end + " && (cd ../after && " + command + ")"})
	}
	shown, _ := capped(r.Checks, mostItems)
	for _, c := range shown {
		list = append(list, Check{line(c.What, lineWidth), text(c.Command)})
	}
	return list
}

// byHand is the benchmark as one line of a shell, "" when it is none.
func byHand(b Benchmark) string {
	command, setup := text(b.Command), text(b.Setup)
	if command == "" || strings.Contains(command+setup, "\n") {
		return ""
	}
	if setup != "" {
		return setup + " && " + command
	}
	return command
}

// showCommand prints a gain's whole change.
func showCommand(g Gain) string {
	switch {
	case g.Commit != "":
		return "git show " + quoted(short(g.Commit))
	case g.Merge != "":
		return "git show --first-parent " + quoted(short(g.Merge))
	}
	return ""
}

// quoted is one word for a shell, cleaned of what cannot be seen. What would be
// read as an option is told apart by the quotes only, so that no name begins with
// a dash.
func quoted(s string) string {
	s = strings.TrimLeft(line(s, lineWidth), "-")
	plain := s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_./-", r)
	}) < 0
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
