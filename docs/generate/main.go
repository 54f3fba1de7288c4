// Command generate writes the generated parts of the documentation. With --markdown it writes the command reference.
// With --package it writes the man pages and completion scripts of archives and packages. With --screens it draws
// recorded terminals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

func main() {
	reference := flag.String("markdown", "", "directory for the Markdown reference")
	packaged := flag.String("package", "", "directory for man pages and completion scripts")
	pictures := flag.String("screens", "", "directory for pictures of the recorded terminals")
	date := flag.Int64("date", 0, "date of the man pages, in seconds since 1970")
	flag.Parse()
	err := run(*reference, *packaged, time.Unix(*date, 0).UTC())
	if err == nil && *pictures != "" {
		err = writeScreens("test/sessions", *pictures)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(reference, packaged string, date time.Time) error {
	// Defaults below the home directory are shown as $HOME.
	if err := errors.Join(os.Setenv("HOME", "$HOME"), os.Unsetenv("KUBECACHEDIR")); err != nil {
		return err
	}
	genname := cmd.NewCommand()
	genname.InitDefaultHelpFlag()
	if reference != "" {
		if err := writeReference(genname, reference); err != nil {
			return err
		}
	}
	if packaged == "" {
		return nil
	}
	return errors.Join(
		writeManual(genname, filepath.Join(packaged, "man"), date),
		writeCompletions(filepath.Join(packaged, "completions")),
	)
}

// writeReference writes a page per command.
func writeReference(genname *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	undated(genname)
	link := func(page string) string {
		if page == "kubectl.md" {
			return "https://kubernetes.io/docs/reference/kubectl/"
		}
		return page
	}
	if err := doc.GenMarkdownTreeCustom(genname, dir, func(string) string { return "" }, link); err != nil {
		return err
	}
	return linkGlobalOptions(dir)
}

// globalOptions matches the list of the flags that all commands have.
var globalOptions = regexp.MustCompile("(?s)### Options inherited from parent commands\n\n```.*?```\n")

// linkGlobalOptions replaces the list by a link on all pages but that of "options".
func linkGlobalOptions(dir string) error {
	pages, err := filepath.Glob(filepath.Join(dir, "kubectl_genname_*.md"))
	for _, page := range pages {
		if filepath.Base(page) == "kubectl_genname_options.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		text = globalOptions.ReplaceAll(text, []byte("[Options of all commands](kubectl_genname_options.md)\n"))
		if err := os.WriteFile(page, text, 0o644); err != nil {
			return err
		}
	}
	return err
}

func undated(cmd *cobra.Command) {
	cmd.DisableAutoGenTag = true
	for _, child := range cmd.Commands() {
		undated(child)
	}
}

// writeManual writes a page of section 1 per command.
func writeManual(genname *cobra.Command, dir string, date time.Time) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return doc.GenManTree(genname, &doc.GenManHeader{Section: "1", Source: "kubectl genname", Date: &date}, dir)
}

// writeCompletions writes a script per shell, under the file name that the shell expects.
func writeCompletions(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for shell, file := range map[string]string{
		"bash":       "kubectl-genname.bash",
		"zsh":        "_kubectl-genname",
		"fish":       "kubectl-genname.fish",
		"powershell": "kubectl-genname.ps1",
	} {
		var script strings.Builder
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &script, ErrOut: io.Discard}
		if code := cmd.Execute(context.Background(), []string{"completion", shell}, streams); code != 0 {
			return fmt.Errorf("completion %s: exit code %d", shell, code)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(script.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
