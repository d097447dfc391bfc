package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"si/learn/skills"
)

// skillFields are the flags of what a skill says.
type skillFields struct {
	description, category, version, license, compatibility, tools, body string
}

func (f *skillFields) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.description, "description", "", "what it does and when to use it, at most 1024 characters")
	flags.StringVar(&f.category, "category", "", "one word")
	flags.StringVar(&f.version, "skill-version", "", "its version")
	flags.StringVar(&f.license, "license", "", "its license")
	flags.StringVar(&f.compatibility, "compatibility", "", "what it needs, at most 500 characters")
	flags.StringVar(&f.tools, "allowed-tools", "", "tools that it may use, with blanks between them")
	flags.StringVar(&f.body, "body", "", "a file with the body in Markdown; - reads the standard input")
}

// fields are those that were given.
func (f *skillFields) fields(w World, dir string, flags *pflag.FlagSet) (skills.Fields, error) {
	var out skills.Fields
	for name, to := range map[string]struct {
		value *string
		field **string
	}{
		"description": {&f.description, &out.Description}, "category": {&f.category, &out.Category}, "skill-version": {&f.version, &out.Version},
		"license": {&f.license, &out.License}, "compatibility": {&f.compatibility, &out.Compatibility}, "allowed-tools": {&f.tools, &out.AllowedTools},
	} {
		if flags.Changed(name) {
			*to.field = to.value
		}
	}
	if !flags.Changed("body") {
		return out, nil
	}
	data, err := readGiven(w, dir, f.body)
	text := string(data)
	out.Body = &text
	return out, err
}

// maxSkill bounds what is read of a file that becomes a skill, in bytes.
const maxSkill = 1 << 20

// readGiven reads a file that a flag names; - is the standard input.
func readGiven(w World, dir, name string) ([]byte, error) {
	in := w.Stdin
	if name != "-" {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() // opened for reading only
		in = f
	}
	if in == nil {
		return nil, errors.New("there is no standard input")
	}
	data, err := io.ReadAll(io.LimitReader(in, maxSkill+1))
	if err == nil && len(data) > maxSkill {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxSkill)
	}
	return data, err
}

func newSkillsCreate(w World, place *placeFlags) *cobra.Command {
	o := &skillFields{}
	c := &cobra.Command{
		Use: "create NAME", Short: "write a new skill", Args: oneArg("the name of the skill"),
		Long: `NAME is 1 to 64 lower-case letters, digits and single hyphens. A name that is taken,
also by a skill in the archive, is refused.

Exit codes: 0 written; 1 refused; 2 usage.`,
	}
	o.add(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		fields, err := o.fields(w, place.dir(w), c.Flags())
		if err != nil {
			return fmt.Errorf("read the body: %w", err)
		}
		if fields.Description == nil || fields.Body == nil {
			return usagef("create wants --description and --body; see 'si skills create --help'")
		}
		return skillChange(c.Context(), w, place, args[0], "written to", func(s *skillPlace) error {
			return s.Create(c.Context(), args[0], skills.ByUser, fields)
		})
	}
	return c
}

func newSkillsEdit(w World, place *placeFlags) *cobra.Command {
	o, file := &skillFields{}, ""
	c := &cobra.Command{
		Use: "edit NAME", Short: "change fields of a skill, or replace its SKILL.md", Args: oneArg("the name of the skill"),
		Long: `Only the fields that are given change; an empty one is removed. --file replaces the
whole SKILL.md. You can also edit the file itself: what lies on the disk counts.

Exit codes: 0 written; 1 refused; 2 usage.`,
	}
	o.add(c.Flags())
	c.Flags().StringVar(&file, "file", "", "a whole SKILL.md; - reads the standard input")
	c.RunE = func(c *cobra.Command, args []string) error {
		fields, err := o.fields(w, place.dir(w), c.Flags())
		if err != nil {
			return fmt.Errorf("read the body: %w", err)
		}
		some := fields != skills.Fields{}
		if some == (file != "") {
			return usagef("edit wants fields to change, or --file; see 'si skills edit --help'")
		}
		var data []byte
		if file != "" {
			if data, err = readGiven(w, place.dir(w), file); err != nil {
				return fmt.Errorf("read the new SKILL.md: %w", err)
			}
		}
		return skillChange(c.Context(), w, place, args[0], "changed in", func(s *skillPlace) error {
			if some {
				return s.Patch(c.Context(), args[0], fields)
			}
			return s.Edit(c.Context(), args[0], data)
		})
	}
	return c
}

// skillChange makes a change and says where.
func skillChange(ctx context.Context, w World, place *placeFlags, name, did string, change func(*skillPlace) error) error {
	return changeSkills(ctx, w, place, func(s *skillPlace) error {
		if err := change(s); err != nil {
			return err
		}
		info, err := s.Find(name)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w.Stdout, "%s %s %s\n", name, did, info.Dir)
		return err
	})
}

func newSkillsDelete(w World, place *placeFlags) *cobra.Command {
	c := &cobra.Command{
		Use: "delete NAME", Aliases: []string{"archive"}, Short: "put a skill into the archive", Args: oneArg("the name of the skill"),
		Long: "'si skills restore NAME' brings it back; with --erase it is gone. A pinned skill, and one that belongs to others, is refused.",
	}
	erase := c.Flags().Bool("erase", false, "remove it for good")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *erase && c.CalledAs() == "archive" {
			return usagef("archive keeps the skill; use 'si skills delete --erase %s'", args[0])
		}
		return changeSkills(c.Context(), w, place, func(s *skillPlace) error {
			if err := s.Delete(c.Context(), args[0], *erase); err != nil {
				return err
			}
			said := args[0] + " is in the archive; 'si skills restore " + args[0] + "' brings it back"
			if *erase {
				said = args[0] + " is gone"
			}
			_, err := fmt.Fprintln(w.Stdout, said)
			return err
		})
	}
	return c
}

func newSkillsPin(w World, place *placeFlags, pin bool) *cobra.Command {
	use, short, said := "pin", "keep the curator from a skill", "is pinned"
	if !pin {
		use, short, said = "unpin", "let the curator have a skill again", "is no longer pinned"
	}
	return &cobra.Command{
		Use: use + " NAME", Short: short, Args: oneArg("the name of the skill"),
		RunE: func(c *cobra.Command, args []string) error {
			return changeSkills(c.Context(), w, place, func(s *skillPlace) error {
				if err := s.Pin(c.Context(), args[0], pin); err != nil {
					return err
				}
				_, err := fmt.Fprintln(w.Stdout, args[0], said)
				return err
			})
		},
	}
}

func newSkillsRestore(w World, place *placeFlags) *cobra.Command {
	return &cobra.Command{
		Use: "restore NAME", Short: "bring a skill back from the archive", Args: oneArg("the name of the skill"),
		RunE: func(c *cobra.Command, args []string) error {
			return skillChange(c.Context(), w, place, args[0], "is back in", func(s *skillPlace) error {
				return s.Restore(c.Context(), strings.TrimSpace(args[0]))
			})
		},
	}
}
