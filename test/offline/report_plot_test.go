package offline

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	common "github.com/kubectl-genname/kubectl-genname/pkg/cmd/messages"
)

// The commands of docs/internals/kep-4420.md draw the pictures in docs/figures.
func TestFigures(t *testing.T) {
	document, err := os.ReadFile("../../docs/internals/kep-4420.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^    kubectl genname report --plot (\S+) (.*)$`).FindAllStringSubmatch(string(document), -1)
	if len(commands) < 4 {
		t.Fatalf("docs/internals/kep-4420.md has %d commands", len(commands))
	}
	for _, command := range commands {
		file, flags := command[1], strings.Fields(command[2])
		t.Run(file, func(t *testing.T) {
			want, err := os.ReadFile("../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			drawn := filepath.Join(t.TempDir(), "drawn.svg")
			if _, stderr, code := run(t, append([]string{"report", "--plot", drawn}, flags...)...); code != 0 {
				t.Fatal(stderr)
			}
			got, err := os.ReadFile(drawn)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what is drawn; make -f lab/Makefile figures draws it", file)
			}
		})
	}
}

func TestReportPlotPNG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odds.PNG")
	stdout, stderr, code := run(t, "report", "--plot", path, "--existing=5000")
	if !strings.HasPrefix(stdout, fmt.Sprintf("A prefix has %s.", "5,000 names")) || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Error(err)
	}
}

// A picture replaces the existing file and leaves no other files.
func TestReportPlotReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "odds.svg")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "report", "--plot", path, "-o", "json"); code != 0 {
		t.Fatal(stderr)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasSuffix(data, []byte("</svg>\n")) {
		t.Errorf("%v\n%s", err, data)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

func TestReportPlotInTheTerminal(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--plot=-", "--existing=121")
	for _, want := range []string{
		"Chance that a create fails, of 27^5 = 14,348,907 names\n\n     100% ┤  ",
		"a  none (1 attempt)              0.1% at 209, 50% at 4,462\n",
		"d  server+client (128 attempts)  0.1% at 12,429,300, 50% at 13,075,758\n",
		"now: 121 names exist\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "ROOM") || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	for line := range strings.SplitSeq(stdout, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

// Policies with equal attempts share a curve. Policies with unknown attempts have none.
func TestReportPlotPolicies(t *testing.T) {
	stdout, _, _ := run(t, "report", "--plot=-", "--server-attempts=1", "--client-attempts=2")
	if !strings.Contains(stdout, "a  none, server (1 attempt)           ") || !strings.Contains(stdout, "b  client, server+client (2 attempts)  ") {
		t.Errorf("stdout\n%s", stdout)
	}
	unknown := readSavedAudit(t)
	from := strings.Index(unknown, `"items": [`) + len(`"items": [`)
	to := strings.Index(unknown, `"group": "example.com"`)
	unknown = unknown[:from] + "{" + unknown[to:]
	stdout, stderr, code := runWith(t, unknown, "report", "--plot=-", "--from=-")
	if !strings.HasPrefix(stdout, "backups.example.com/volume-backup-: chance that a create fails\n") || code != 0 ||
		!strings.Contains(stdout, "a  none (1 attempt)  ") || !strings.Contains(stdout, "b  client (16 attempts)  ") || strings.Contains(stdout, "\nc  ") {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
}

// If the plot fails, the error names the flag. Nothing is printed, and no file remains.
func TestReportPlotBadInput(t *testing.T) {
	dir := t.TempDir()
	directory := filepath.Join(dir, "directory.svg")
	if err := os.Mkdir(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	nonsuch := filepath.Join(dir, "nonsuch", "odds.svg")
	for _, test := range []struct{ args, stderr string }{
		{"--plot=odds.jpg", failure("--plot must be a file that ends in .svg or .png, or - for the terminal, not %q", "odds.jpg")},
		{"--plot=odds", failure("--plot must be a file that ends in .svg or .png, or - for the terminal, not %q", "odds")},
		{"--plot=", failure("--plot must be a file that ends in .svg or .png, or - for the terminal, not %q", "")},
		{"--plot=" + directory, failure("--plot: %w", fmt.Errorf("%s exists, and is not a file", directory))},
		{"--plot=- -o json", failure("--plot=- can't be used with -o, because both print on stdout")},
		{"--plot=- --plot-scale=cubic", "error: invalid argument \"cubic\" for \"--plot-scale\" flag: " + fmt.Sprintf(common.BadWord, "linear, semilog or log") + "\n" + reportHelp},
		{"--plot-scale=log", failure("--plot-scale and --plot-retries need --plot")},
		{"--plot-retries=0", failure("--plot-scale and --plot-retries need --plot")},
		{"--plot=- --plot-retries=0-16", failure("--plot-retries can draw at most %d curves, not %d", 16, 17)},
		{"--plot=- --plot-retries=8-0", badValue("plot-retries", "8-0", "%q is no list of retries below %d, like 0,1 or 0-8", 1024)},
		{"--plot=- --plot-retries=-1", badValue("plot-retries", "-1", "%q is no list of retries below %d, like 0,1 or 0-8", 1024)},
		{"--plot=- --plot-retries=0-1000000000", badValue("plot-retries", "0-1000000000", "%q is no list of retries below %d, like 0,1 or 0-8", 1024)},
		{"--plot=- --existing=14348907", "error: --plot: all 14348907 names exist: there is no curve to draw\n"},
		{"--plot=- --from=" + savedAudit, failure("--plot draws one prefix, but %s has %d. Save an audit of one prefix:\n  kubectl genname audit TYPE/PREFIX -o json > audit.json", savedAudit, 2)},
	} {
		stdout, stderr, code := run(t, append([]string{"report"}, strings.Fields(test.args)...)...)
		if stdout != "" || stderr != test.stderr || code != 1 {
			t.Errorf("report %s: code %d, stdout %q, stderr\n%s\nwant\n%s", test.args, code, stdout, stderr, test.stderr)
		}
	}
	stdout, stderr, code := run(t, "report", "--plot="+nonsuch)
	if stdout != "" || stderr != failure("--plot: %w", fmt.Errorf("can't write %s: %w", nonsuch, syscall.ENOENT)) || code != 1 {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}
