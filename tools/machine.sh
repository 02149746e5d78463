#!/bin/sh
# Run both commands of the README in fresh Debian systems, as a newcomer does.
#   machine.sh test SUITE [root|user]...    for each user (default: both), in a system of its own; keeps logs in build/machines
#   machine.sh make SUITE FOLDER            make a Debian system in FOLDER, with the README's prerequisites and a user
#   machine.sh enter FOLDER USER COMMAND... run a command in that system
# SUITE is a release of Debian: bookworm (12), trixie (13). MIRROR states another mirror than that of this machine.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
kept=$here/build/machines
self=$here/tools/machine.sh

say() { echo "machine: $*" >&2; }

refuse() {
    say "$*"
    exit 3
}

# Commands that need root: sudo is used only for them.
check_machine() {
    [ "$(uname -s)" = Linux ] || refuse "this machine cannot make a Debian system: it is not Linux"
    command -v debootstrap >/dev/null || [ -x /usr/sbin/debootstrap ] ||
        refuse "this machine cannot make a Debian system: debootstrap is missing (Debian: apt-get install debootstrap)"
    as_root=
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || refuse "this machine cannot make a Debian system: that needs root, and there is no sudo"
        as_root=sudo
    fi
    $as_root unshare --mount --pid --fork true 2>/dev/null ||
        refuse "this machine cannot make a Debian system: root may not make a mount namespace (an unprivileged container?)"
}

# The mirror that apt of this machine uses for Debian.
mirror() {
    if [ -n "${MIRROR:-}" ]; then echo "$MIRROR" && return; fi
    found=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/^Debian Debian //p' | head -n 1)
    [ -n "$found" ] || refuse "apt of this machine knows no mirror of Debian (run apt-get update), so state one as MIRROR=URL"
    echo "$found"
}

# Let apt and pip in $1 reach their registries as they do on this machine: names, proxies, certificates, indexes.
connect() {
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    cp /etc/hosts "$1/etc/hosts"
    apt-config dump Acquire | grep -E '^Acquire::(https?|ftp|Check-[A-Za-z-]*|Retries|ForceIPv[46])[: ]' >"$1/etc/apt/apt.conf.d/90machine" || true
    mkdir -p "$1/usr/local/share/ca-certificates"
    for certificate in /usr/local/share/ca-certificates/*.crt; do
        if [ -e "$certificate" ]; then cp "$certificate" "$1/usr/local/share/ca-certificates/"; fi
    done
    if [ -e /etc/pip.conf ]; then cp /etc/pip.conf "$1/etc/pip.conf"; fi
}

# A subshell, like all that follows: its variables do not leak into its caller.
make_system() (
    suite=$1 root=$2
    [ ! -e "$root" ] || refuse "$root exists already"
    from=$(mirror)
    say "making Debian $suite in $root"
    mkdir -p "$root"
    # minbase is what CI images hold; the others are the README's prerequisites, git for the clone, and sudo.
    debootstrap --variant=minbase --include=ca-certificates,gcc,git,make,python3,sudo "$suite" "$root" "$from" >"$root.log" 2>&1 ||
        refuse "debootstrap failed: see $root.log"
    connect "$root"
    enter "$root" root sh -c '
        update-ca-certificates >/dev/null
        apt-get update -qq
        useradd --create-home --shell /bin/bash user
        echo "user ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/user
    ' >>"$root.log" 2>&1 || refuse "Debian could not be set up: see $root.log"
)

# Print NAME=VALUE of the variables that say how registries are reached, one a line.
registry_variables() {
    env | grep -E '^([A-Za-z]+_proxy|[A-Z]+_PROXY|(PIP|UV)_[A-Z_]*(INDEX|PROXY|CERT|HOST|TIMEOUT|RETRIES)[A-Z_]*|SSL_CERT_(FILE|DIR)|(REQUESTS|CURL)_CA_BUNDLE)=' || true
}

# Run a command in the system $1 as the user $2. The namespaces end with it: no mount and no process is left behind. The
# root is pivoted, not changed: in a chroot, Linux lets nobody make the user namespaces that bubblewrap needs.
enter() (
    root=$1 user=$2
    shift 2
    home=/home/$user
    if [ "$user" = root ]; then home=/root; fi
    registry_variables | {
        while IFS= read -r line; do set -- "$line" "$@"; done
        # shellcheck disable=SC2016
        exec unshare --mount --pid --uts --ipc --propagation private --fork --kill-child sh -euc '
            root=$1 user=$2 home=$3
            shift 3
            hostname localhost
            mount --bind "$root" "$root"
            cd "$root"
            mount -t proc proc proc
            mount -t sysfs -o ro sys sys
            # Not /dev of this machine: devices get the modes that they have in Debian.
            mount -t tmpfs -o mode=755 dev dev
            for device in null:3 zero:5 full:7 random:8 urandom:9; do
                mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"
            done
            mknod -m 666 dev/tty c 5 0
            mkdir dev/pts dev/shm
            mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 pts dev/pts
            mount -t tmpfs -o mode=1777 shm dev/shm
            ln -s pts/ptmx dev/ptmx
            ln -s /proc/self/fd dev/fd
            for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "dev/${stream#*:}"; done
            mkdir -p .host
            pivot_root . .host
            cd /
            umount -l /.host
            # Not exec: the shell is the first process here, and reaps those that lost their parent.
            setpriv --reuid "$user" --regid "$user" --init-groups --reset-env env HOME="$home" USER="$user" LANG=C.UTF-8 \
                PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
        ' sh "$root" "$user" "$home" "$@"
    }
)

# Commands that print versions.
versions='iverilog -V | head -n 1; yosys -V; ghdl --version | head -n 1; g++ --version | head -n 1; .venv/bin/python -VV
.venv/bin/python -m pip list --format=freeze'

# Clone HEAD into a fresh system, and run both commands there as $2. The system is kept if a command fails.
test_as() (
    suite=$1 user=$2 name=$1-$2
    root=$kept/$name
    log=$kept/$name.log
    home=/home/$user
    if [ "$user" = root ]; then home=/root; fi
    rm -rf --one-file-system "$root" "$root.log"
    make_system "$suite" "$root" || return 1
    git clone --quiet --no-hardlinks "$here" "$root$home/dais-verif" || return 1
    chown -R --reference="$root$home" "$root$home/dais-verif" || return 1
    commit=$(git -C "$here" rev-parse --short HEAD)
    started=$(date +%s)
    result=PASS
    : >"$log"
    for command in "make sim PROGRAM=examples/quantised_mac.bin" "make test"; do
        say "$suite, $user: $command (log: $log)"
        began=$(date +%s)
        code=0
        enter "$root" "$user" sh -c "cd ~/dais-verif && $command" >>"$log" 2>&1 || code=$?
        say "$suite, $user: $command: exit code $code after $(($(date +%s) - began)) s"
        if [ "$code" != 0 ]; then result="FAIL ($command: exit code $code)" && break; fi
    done
    # The last lines of a summary; the versions of all that ran are kept with them.
    counts=$(grep -E -A1 ' CPU minutes$' "$log" | tail -n 2 | paste -s -d ' ')
    enter "$root" "$user" sh -c "cd ~/dais-verif && $versions" >>"$log" 2>&1 || true
    echo "$(date +%F) $commit $suite $user: $result in $(($(date +%s) - started)) s; ${counts:-no test ran}" | tee -a "$kept/results.txt"
    if [ "$result" = PASS ]; then
        rm -rf --one-file-system "$root"
    else
        grep -E '^(FAILED|ERROR) ' "$log" || tail -n 20 "$log"
        say "the system is kept: $self enter $root $user bash"
        return 1
    fi
)

main() {
    action=${1:-}
    case $action in
        test | make | enter) shift ;;
        *) refuse "say test, make or enter" ;;
    esac
    check_machine
    if [ -n "$as_root" ]; then exec sudo --preserve-env "$self" "$action" "$@"; fi
    PATH=$PATH:/usr/sbin:/sbin
    case $action in
        make) make_system "$@" ;;
        enter) enter "$@" ;;
        test)
            suite=$1
            shift
            mkdir -p "$kept"
            [ -z "$(git -C "$here" status --porcelain)" ] || say "changes that are not committed are not tested"
            failed=0
            [ $# != 0 ] || set -- root user
            for user in "$@"; do test_as "$suite" "$user" || failed=1; done
            exit "$failed"
            ;;
    esac
}

# One line, so that the shell has read all of the file before it begins: a run takes long, and the file may change.
main "$@"; exit
