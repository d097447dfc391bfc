package gitops

import "strings"

// OwnerOf is the account in the address of a hosted repository, such as
// "ada" in git@host:ada/engine.git and https://host/ada/engine; "" when the
// address has none.
func OwnerOf(url string) string {
	if strings.HasPrefix(url, "/") || strings.HasPrefix(url, ".") {
		return "" // a folder of this machine
	}
	path := url
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, path, _ = strings.Cut(rest, "/")
	} else if _, rest, ok := strings.Cut(url, ":"); ok {
		path = rest
	}
	owner, _, ok := strings.Cut(strings.Trim(path, "/"), "/")
	if !ok {
		return ""
	}
	return owner
}
