package sessions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// session is the state that the commands of one script share.
type session struct {
	servers   map[string]func() *controlplane.ControlPlane
	dir       string // recordings have /home/me
	cp        *controlplane.ControlPlane
	config    *rest.Config
	namespace string // recordings have default
	closers   []func() error
}

type sessionKey struct{}

func sessionOf(ts *testscript.TestScript) *session { return ts.Value(sessionKey{}).(*session) }

func (s *session) close(t *testing.T) {
	for _, end := range s.closers {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
}

// environment is an environment of a script: Env before it starts, and TestScript afterwards.
type environment interface{ Setenv(key, value string) }

// serve lets the session use a server as an administrator.
func (s *session) serve(ctx context.Context, env environment, name string) error {
	start, shared := s.servers[name]
	switch {
	case shared:
		s.cp = start()
	case name != "own":
		return fmt.Errorf("there is no server %q", name)
	default:
		cp, err := controlplane.Start(ctx, os.Stderr)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, func() error { return errors.Join(cp.Stop(), cp.Remove()) })
		s.cp = cp
	}
	s.namespace = "default"
	if shared && name != "history" && name != "leaks" {
		if err := s.createNamespace(ctx); err != nil {
			return err
		}
	}
	env.Setenv("NODE", controlplane.Node)
	return s.act(env, s.cp.Admin())
}

// createNamespace creates a namespace for the session, because other tests use the server, too. Its name is as long
// as "default". Commands and recordings have "default" instead of it.
func (s *session) createNamespace(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(s.cp.Admin())
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}}
	for range 5 { // a server without retries has conflicts
		var created *corev1.Namespace
		if created, err = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err == nil {
			s.namespace = created.Name
			return nil
		}
	}
	return err
}

// act makes all later commands use the credentials.
func (s *session) act(env environment, config *rest.Config) error {
	s.config = config
	path := filepath.Join(s.dir, ".kubeconfig")
	env.Setenv("KUBECONFIG", path)
	return controlplane.WriteKubeconfigIn(path, s.namespace, config)
}

// server NAME chooses a server: retrying (the default), single, jobs, history, leaks, or own. A session needs a server of
// its own if it lists all namespaces.
func server(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, len(args) == 1, "server NAME")
	ts.Check(sessionOf(ts).serve(context.Background(), ts, args[0]))
}

// user NAME [GROUP]... lets later commands act as a user. The user has only the permissions of the groups.
func user(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, len(args) > 0, "user NAME [GROUP]...")
	s := sessionOf(ts)
	ts.Check(s.act(ts, s.cp.User(args[0], args[1:]...)))
}

// fault N NAME injects a fault into the next N POSTs. NAME is one of faultproxy.Faults, with _ for spaces. fault lossy
// loses every second response to a POST, but only for commands with KUBECONFIG=$LOSSY_KUBECONFIG.
func fault(ts *testscript.TestScript, _ bool, args []string) {
	s := sessionOf(ts)
	if len(args) == 1 && args[0] == "lossy" {
		path := filepath.Join(s.dir, ".lossy")
		ts.Setenv("LOSSY_KUBECONFIG", path)
		ts.Check(controlplane.WriteKubeconfigIn(path, s.namespace, s.proxy(ts, faultproxy.LoseEverySecond())))
		return
	}
	expect(ts, len(args) == 2, "fault N NAME")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, f := range faultproxy.Faults {
		if f.Name == strings.ReplaceAll(args[1], "_", " ") {
			ts.Check(s.act(ts, s.proxy(ts, harness.First(n, f.Fault)())))
			return
		}
	}
	ts.Fatalf("faultproxy.Faults has no fault %q", args[1])
}

// proxy returns the credentials for the server behind a proxy that injects faults.
func (s *session) proxy(ts *testscript.TestScript, choose func(*http.Request) faultproxy.Fault) *rest.Config {
	proxy, err := faultproxy.Start(faultproxy.HTTP2, s.config, choose)
	ts.Check(err)
	s.closers = append(s.closers, func() error { proxy.Close(); return nil })
	return proxy.Config
}

// examples enters a copy of the directory examples.
func examples(ts *testscript.TestScript, _ bool, _ []string) {
	dir := filepath.Join(sessionOf(ts).dir, "examples")
	ts.Check(os.CopyFS(dir, os.DirFS(harness.Root+"examples")))
	ts.Check(ts.Chdir(dir))
}

// play FILE plays a recording of the script in one bash, whose output is a pipe.
func play(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, len(args) == 1, "play FILE")
	lines := script(recorded(ts, args[0]))
	_ = ts.Exec("bash", "-c", sessionOf(ts).program(lines)) // the recording has exit codes
	check(ts, args[0], sessionOf(ts).record(ts, lines, ts.ReadFile("stdout")))
}

// pty80 is the command pty FILE [COLUMNSxROWS]. pty80 plays a recording in a terminal, of 80x24 by default. No line may
// be wider than the terminal.
func pty80(ts *testscript.TestScript, _ bool, args []string) {
	size := pty.Winsize{Cols: 80, Rows: 24}
	if len(args) == 2 {
		_, err := fmt.Sscanf(args[1], "%dx%d", &size.Cols, &size.Rows)
		ts.Check(err)
		args = args[:1]
	}
	expect(ts, len(args) == 1, "pty FILE [COLUMNSxROWS]")
	lines := script(recorded(ts, args[0]))
	bash := exec.Command("bash", "-c", sessionOf(ts).program(lines))
	bash.Dir = ts.MkAbs(".")
	ts.Check(ts.Exec("env", "-0"))
	bash.Env = strings.Split(strings.TrimRight(ts.ReadFile("stdout"), "\x00"), "\x00")
	terminal, err := pty.StartWithSize(bash, &size)
	ts.Check(err)
	printed, _ := io.ReadAll(terminal) // always ends with an error
	_ = bash.Wait()
	recording := sessionOf(ts).record(ts, lines, displayed(string(printed)))
	if line := tooWide(recording, int(size.Cols)); line != "" {
		ts.Fatalf("%s has a line of more than %d columns:\n%s", args[0], size.Cols, line)
	}
	check(ts, args[0], recording)
}

var (
	progress = regexp.MustCompile(`\r[^\n]*\r`)
	painted  = regexp.MustCompile(`(?s)\x1b\[\?1049h.*?\x1b\[\?1049l`)
	frame    = regexp.MustCompile(`(?s)\x1b\[\?2026h\x1b\[H(.*?)\x1b\[\?2026l`)
)

// displayed returns what stays on a terminal, and the last frame of a screen. Progress is erased.
func displayed(printed string) string {
	printed = progress.ReplaceAllString(strings.ReplaceAll(printed, "\r\n", "\n"), "")
	printed = painted.ReplaceAllStringFunc(printed, func(screen string) string {
		frames := frame.FindAllStringSubmatch(screen, -1)
		return frames[len(frames)-1][1] + "\n"
	})
	return strings.ReplaceAll(printed, "\x1b[K", "")
}

// unbroken are the lines that can be wider than a terminal, and the reasons.
var unbroken = []struct{ pattern, reason string }{
	{`^ +kubectl `, "a command to copy"},
	{`^\S+$`, "one word, like a name, or the list of formats that kubectl prints"},
}

// tooWide returns the first line of a recording that doesn't fit, or "". With -o wide, a table has all columns.
func tooWide(recording string, columns int) string {
	wide := false
	for line := range strings.SplitSeq(recording, "\n") {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") {
			wide = strings.Contains(line, "-o wide")
			continue
		}
		isUnbroken := func(u struct{ pattern, reason string }) bool { return regexp.MustCompile(u.pattern).MatchString(line) }
		if utf8.RuneCountInString(line) > columns && !wide && !slices.ContainsFunc(unbroken, isUnbroken) {
			return line
		}
	}
	return ""
}

// same stdout|stderr FILE compares the output of the last command with a recording of the script.
func same(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, len(args) == 2, "same stdout|stderr FILE")
	check(ts, args[1], sessionOf(ts).public(ts.ReadFile(args[0])))
}

// recorded returns a recording of the script, even if the script has changed the directory.
func recorded(ts *testscript.TestScript, name string) string {
	return ts.ReadFile(filepath.Join(sessionOf(ts).dir, name))
}

// script returns the commands and comments of a recording. Commands begin with "$ ". Comments begin with "# " and can
// have an empty line before them.
func script(recording string) []string {
	var script []string
	lines := strings.Split(recording, "\n")
	for i, line := range lines {
		beforeComment := line == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "# ")
		if beforeComment || strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "# ") {
			script = append(script, line)
		}
	}
	return script
}

// end separates the output of a program's commands: after each output come end, the exit code, and another end.
const end = "\x1e"

var theDefault = regexp.MustCompile(`\bdefault\b`)

// program returns the bash program that runs the commands of a script.
func (s *session) program(script []string) string {
	var program strings.Builder
	for _, line := range script {
		if command, is := strings.CutPrefix(line, "$ "); is {
			command = theDefault.ReplaceAllLiteralString(command, s.namespace)
			fmt.Fprintf(&program, "{ %s\n} 2>&1; code=$?; printf '\\036%%s\\036' $code; (exit $code)\n", command)
		}
	}
	return program.String()
}

// record returns the script with the output of its commands. A command that fails must be followed by "$ echo $?".
func (s *session) record(ts *testscript.TestScript, script []string, printed string) string {
	var recording strings.Builder
	outputs := strings.Split(s.public(printed), end)
	for i, line := range script {
		fmt.Fprintln(&recording, line)
		if !strings.HasPrefix(line, "$ ") {
			continue
		}
		expect(ts, len(outputs) > 2, "a shell that reaches "+line)
		output := outputs[0]
		if output != "" && !strings.HasSuffix(output, "\n") {
			output += "\n" // a command must begin a line
		}
		recording.WriteString(output)
		if code := outputs[1]; code != "0" && (i+1 == len(script) || script[i+1] != "$ echo $?") {
			ts.Fatalf("this command exits with %s. If it should, put the line \"$ echo $?\" after it:\n%s\n%s", code, line, output)
		}
		outputs = outputs[2:]
	}
	return recording.String()
}

// public returns a text without the namespace and the directory of the session.
func (s *session) public(text string) string {
	return strings.NewReplacer(s.namespace, "default", s.dir, "/home/me").Replace(text)
}

// check compares a recording with what is printed now. With -update it writes the recording into the script.
func check(ts *testscript.TestScript, name, now string) {
	diff := cmp.Diff(harness.Placeholders(recorded(ts, name)), harness.Placeholders(now))
	switch {
	case diff == "":
	case *update:
		ts.Check(rewrite(ts.Name()+".txt", name, kept(recorded(ts, name), now)))
	default:
		ts.Fatalf("%s differs (-recorded +printed); go test ./test/sessions -run TestSessions/%s -update records it:\n%s", name, ts.Name(), diff)
	}
}

// kept returns the new output. If a new line differs from the recorded line only in names, ages and times, kept returns
// the recorded line. So few pages change.
func kept(recorded, now string) string {
	old := map[string][]string{}
	for line := range strings.Lines(recorded) {
		key := harness.Placeholders(line)
		old[key] = append(old[key], line)
	}
	var lines strings.Builder
	for line := range strings.Lines(now) {
		if same := old[harness.Placeholders(line)]; len(same) > 0 {
			line, old[harness.Placeholders(line)] = same[0], same[1:]
		}
		lines.WriteString(line)
	}
	return lines.String()
}

// rewrite replaces a file of a script.
func rewrite(path, name, content string) error {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		return err
	}
	for i := range archive.Files {
		if archive.Files[i].Name == name {
			archive.Files[i].Data = []byte(content)
			return os.WriteFile(path, txtar.Format(archive), 0o644)
		}
	}
	return fmt.Errorf("%s has no file %s", path, name)
}

func expect(ts *testscript.TestScript, is bool, what string) {
	if !is {
		ts.Fatalf("expected: %s", what)
	}
}
