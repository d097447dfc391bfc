package sandbox

import (
	"os"
	"strings"
)

// facts are the machine's settings that decide about user namespaces.
type facts struct {
	appArmor  string // kernel.apparmor_restrict_unprivileged_userns
	clone     string // kernel.unprivileged_userns_clone (Debian, Arch)
	most      string // user.max_user_namespaces
	container bool
}

func machine() facts {
	read := func(name string) string {
		data, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(data))
	}
	there := func(path string) bool { _, err := os.Stat(path); return err == nil }
	return facts{
		appArmor:  read("kernel/apparmor_restrict_unprivileged_userns"),
		clone:     read("kernel/unprivileged_userns_clone"),
		most:      read("user/max_user_namespaces"),
		container: there("/.dockerenv") || there("/run/.containerenv"),
	}
}

// advice maps what a sandbox complained of to what its user can do.
func advice(said string) []string { return adviceFor(said, machine()) }

func adviceFor(said string, m facts) []string {
	denied := containsAny(said, "namespace", "uid map", "Operation not permitted", "Permission denied", "RTM_NEWADDR", "No space left")
	switch {
	case strings.Contains(said, errNoBwrap.Error()):
		return []string{"install bubblewrap: apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap or apk add bubblewrap"}
	case strings.Contains(said, "Unknown option"):
		return []string{"this bubblewrap is too old: install version 0.4 or later"}
	case denied && m.most == "0":
		return []string{"user namespaces are switched off: sysctl user.max_user_namespaces=15000"}
	case denied && m.clone == "0":
		return []string{"user namespaces are switched off for ordinary users: sysctl kernel.unprivileged_userns_clone=1"}
	case denied && m.appArmor == "1":
		return []string{"AppArmor refuses user namespaces to bwrap: install a profile that allows them (Ubuntu: apt install apparmor-profiles, then copy /usr/share/apparmor/extra-profiles/bwrap-userns-restrict to /etc/apparmor.d and reload), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"}
	case containsAny(said, "mount proc", "/newroot/proc"):
		return []string{"this container covers parts of /proc: start it with --security-opt systempaths=unconfined"}
	case denied && m.container:
		return []string{"this container may not make namespaces: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined"}
	case denied:
		return []string{"this machine refuses user namespaces (a security module or seccomp filter): ask its administrator to allow them for bwrap"}
	case strings.Contains(said, "no Landlock"):
		return []string{"Landlock needs Linux 5.13 and \"landlock\" among the security modules of the kernel's lsm= parameter"}
	}
	return nil
}

func containsAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}
