// Package krew makes the manifest that krew needs to install the plugin, from the template genname.yaml and the
// archives of a release.
package krew

import (
	"bytes"
	_ "embed"
	"fmt"
	"path"
	"text/template"
)

//go:embed genname.yaml
var manifest string

// Manifest is the manifest of the release with the given tag. sha256 returns
// the checksum of an archive, in hexadecimal, by its file name.
func Manifest(tag string, sha256 func(archive string) (string, error)) ([]byte, error) {
	values := struct{ TagName string }{tag}
	// As in krew-release-bot, the address is a template too, and the result is indented by four
	// spaces.
	addURIAndSha := func(address, _ string) (string, error) {
		uri, err := execute(address, nil, values)
		if err != nil {
			return "", err
		}
		sum, err := sha256(path.Base(string(uri)))
		return fmt.Sprintf("uri: %s\n    sha256: %s", uri, sum), err
	}
	return execute(manifest, template.FuncMap{"addURIAndSha": addURIAndSha}, values)
}

func execute(text string, functions template.FuncMap, values any) ([]byte, error) {
	parsed, err := template.New("").Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, values)
	return out.Bytes(), err
}
