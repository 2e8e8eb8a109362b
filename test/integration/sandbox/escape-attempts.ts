/** What a session tries to reach, prepared on the host by `escape-program.ts`. */
export interface HostTargets {
  /** Folder of another repository of the user. */
  readonly otherRepository: string;
  readonly sshKey: string;
  /** Hash of a commit that is only in the user's history. */
  readonly historyCommit: string;
  readonly workspacePath: string;
  readonly base: string;
  readonly state: string;
  readonly dependency: string;
  readonly tcpPort: number;
  readonly abstractSocket: string;
  readonly pathSocket: string;
  readonly hostPid: number;
  readonly hostMarker: string;
  readonly secret: string;
  readonly shmFile: string;
}

export interface EscapeAttempt {
  readonly name: string;
  /** What stops it, for the table. */
  readonly stoppedBy: string;
  /** The same for the Docker sandbox, where it is something else. */
  readonly stoppedByDocker?: string;
  /** Python that ends with an error, or sets `escaped` to something true. */
  readonly code: (host: HostTargets) => string;
}

const py = (value: unknown): string => JSON.stringify(value);

export const PRELUDE = `
import ctypes, os, socket, struct, subprocess, sys, signal, time, fcntl
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    r = getattr(libc, name)(*args)
    if r < 0:
        e = ctypes.get_errno(); raise OSError(e, os.strerror(e))
    return r
def sh(command):
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).stdout.decode("utf8", "replace")
def read(path):
    with open(path, "rb") as f: return f.read()
def any_works(*functions):
    worked = []
    for f in functions:
        try: worked.append(f() or True)
        except (OSError, PermissionError): pass
    return worked
escaped = None
`;

/** Each is tried as root of the host and as an ordinary user; `docs/sandbox.md` holds the table. */
export const ESCAPE_ATTEMPTS: readonly EscapeAttempt[] = [
  {
    name: 'remount /usr or / writable',
    stoppedBy: 'no capabilities; the filter refuses mount',
    stoppedByDocker: 'no capabilities; the profile refuses mount',
    code: () => `
escaped = any_works(*[lambda p=p, f=f: call("mount", b"none", p, None, f, None) for p in (b"/usr", b"/", b"/workspace", b"/proc/sys") for f in (32, 32 | 4096)])
escaped = escaped or "rw" in [l.split()[3].split(",")[0] for l in open("/proc/mounts") if l.split()[1] in ("/", "/usr", "/opt/prime", "/run/prime")]`,
  },
  {
    name: 'mount something of its own',
    stoppedBy: 'no capabilities; the filter refuses mount and the new mount calls',
    stoppedByDocker: 'no capabilities; the profile refuses mount and the new mount calls',
    code: () => `
escaped = any_works(lambda: call("mount", b"x", b"/tmp", b"tmpfs", 0, None), lambda: call("mount", b"/dev", b"/tmp", None, 4096, None), lambda: call("umount2", b"/proc", 2), lambda: call("syscall", 428, -100, b"/", 1), lambda: call("syscall", 430, b"proc", 0))`,
  },
  {
    name: 'have or regain capabilities',
    stoppedBy: '--cap-drop ALL, no_new_privs',
    stoppedByDocker: 'all capabilities dropped, no-new-privileges, an ordinary user',
    code: () => `
status = dict(l.split(":", 1) for l in open("/proc/self/status").read().splitlines())
escaped = [k for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[k], 16)]
escaped = escaped or status["NoNewPrivs"].strip() != "1" or any_works(lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0]))`,
  },
  {
    name: 'make a nested user namespace',
    stoppedBy: '--disable-userns and the filter',
    stoppedByDocker: 'the profile refuses it',
    code: () => `
escaped = any_works(lambda: call("unshare", 0x10000000), lambda: call("unshare", 0x10000000 | 0x20000)) or "uid=0" in sh("unshare -Ur id")`,
  },
  {
    name: 'make device nodes, read disks and memory',
    stoppedBy: 'no capabilities; a /dev of its own',
    code: () => `
import stat
escaped = any_works(lambda: os.mknod("/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(254, 0)), lambda: os.mknod("/tmp/mem", stat.S_IFCHR | 0o600, os.makedev(1, 1)), *[lambda p=p: read(p) for p in ("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/kvm", "/dev/fuse", "/proc/kcore", "/proc/kmsg")])`,
  },
  {
    name: 'leave by /proc/1/root, /proc/1/cwd and chroot',
    stoppedBy: 'a root file system of its own; process 1 is not dumpable',
    code: (host) => `
escaped = any_works(lambda: read("/proc/1/root" + ${py(host.sshKey)}), lambda: os.listdir("/proc/1/root/"), lambda: os.listdir("/proc/1/cwd"), lambda: os.chroot("/tmp"), *[lambda d=d: read("/proc/self/root" + "/.." * d + ${py(host.sshKey)}) for d in (0, 3, 20)])`,
  },
  {
    name: 'join namespaces of process 1 or of the host',
    stoppedBy: 'process 1 is not dumpable; the filter refuses setns',
    stoppedByDocker: 'process 1 is not dumpable; the profile refuses setns',
    code: () => `
escaped = any_works(*[lambda p=p, n=n: call("setns", os.open(f"/proc/{p}/ns/{n}", 0), 0) for p in ("1", "self") for n in ("user", "mnt", "pid", "net")])`,
  },
  {
    name: 'write kernel settings in /proc/sys, sysrq',
    stoppedBy: '/proc/sys is read-only',
    stoppedByDocker: '/proc/sys is read-only; an ordinary user',
    code: () => `
null = os.stat("/dev/null").st_rdev
def opens(p):
    f = os.open(p, os.O_WRONLY)
    return os.fstat(f).st_rdev != null and p
writable = [f"{d}/{n}" for d, _, names in os.walk("/proc/sys") for n in names if os.access(f"{d}/{n}", os.W_OK)]
escaped = writable[:3] or any_works(*[lambda p=p: opens(p) or read("/none") for p in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/pid_max", "/proc/sys/vm/drop_caches", "/proc/sys/fs/binfmt_misc/register", "/proc/sysrq-trigger", "/proc/sys/kernel/modprobe", "/sys/kernel/uevent_helper")])`,
  },
  {
    name: 'read /etc/shadow and other files of /etc',
    stoppedBy: 'only named files of /etc are mounted',
    stoppedByDocker: 'only the image’s /etc exists, with users of its own; an ordinary user',
    code: () => `
escaped = any_works(*[lambda p=p: read(p) for p in ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/machine-id", "/etc/ssh/ssh_host_ed25519_key", "/etc/gitconfig", "/etc/fstab", "/etc/environment")]) or [u for u in open("/etc/passwd").read().split() if not u.startswith(("root:", "user:", "nobody:"))]`,
  },
  {
    name: 'read ssh keys and the home folder',
    stoppedBy: 'not mounted; HOME is empty',
    code: (host) => `
escaped = any_works(lambda: read(${py(host.sshKey)}), lambda: read(os.path.expanduser("~/.ssh/id_ed25519")), lambda: os.listdir("/root")) or os.listdir(os.path.expanduser("~"))`,
  },
  {
    name: 'read other repositories',
    stoppedBy: 'not mounted',
    code: (host) => `
escaped = any_works(lambda: os.listdir(${py(host.otherRepository)}), lambda: read(${py(`${host.otherRepository}/file.txt`)}), lambda: read(${py(`${host.workspacePath}/../other/file.txt`)}))`,
  },
  {
    name: "read the user's git history",
    stoppedBy: 'the snapshot is a single commit in a repository of its own',
    code: (host) => `
escaped = sh(${py(`for d in /workspace ${host.workspacePath}; do git -C $d log --all --oneline; git -C $d reflog; git -C $d cat-file -p ${host.historyCommit}; git -C $d fsck --lost-found; git -C $d remote -v; done`)})
escaped = ${py('history')} in escaped or any_works(lambda: read(${py(`${host.workspacePath}/secret-history.txt`)}))`,
  },
  {
    name: 'find secrets of the environment',
    stoppedBy: '--clearenv; only own processes are visible',
    stoppedByDocker: 'the environment is the image’s and ours; only own processes are visible',
    code: (host) => `
secret = ${py([...host.secret].reverse().join(''))}[::-1].encode()
found = []
for p in os.listdir("/proc"):
    if p.isdigit():
        for name in ("environ", "cmdline"):
            try:
                if secret in read(f"/proc/{p}/{name}") : found.append(p)
            except OSError: pass
escaped = found or secret.decode() in sh("env; set; export -p")`,
  },
  {
    name: 'connect to a server of the host over TCP',
    stoppedBy: 'a network namespace with nothing but its own loopback',
    code: (host) => `
escaped = any_works(*[lambda a=a: socket.create_connection((a, ${host.tcpPort}), 0.5) for a in ("127.0.0.1", "localhost", "::1", "10.0.2.2", "172.17.0.1", "192.168.0.1")]) or [l for l in open("/proc/net/dev").read().splitlines()[2:] if not l.strip().startswith("lo:")]`,
  },
  {
    name: 'resolve names and send datagrams',
    stoppedBy: 'a network namespace of its own, no resolver',
    code: () => `
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
escaped = any_works(lambda: socket.getaddrinfo("example.com", 80), lambda: u.sendto(b"x", ("8.8.8.8", 53)), lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1), lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))`,
  },
  {
    name: 'connect to Unix sockets of the host, abstract and in files',
    stoppedBy: 'the network namespace; not mounted',
    code: (host) => `
def connect(address):
    s = socket.socket(socket.AF_UNIX); s.connect(address); return True
escaped = any_works(lambda: connect("\\0" + ${py(host.abstractSocket)}), lambda: connect(${py(host.pathSocket)}), *[lambda p=p: connect(p) for p in ("/var/run/docker.sock", "/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private")])`,
  },
  {
    name: 'see, signal and trace processes of the host',
    stoppedBy: 'a process namespace of its own',
    code: (host) => `
marker = ${py([...host.hostMarker].reverse().join(''))}[::-1].encode()
def cmdline(p):
    try: return read(f"/proc/{p}/cmdline")
    except OSError: return b""
seen = [p for p in os.listdir("/proc") if p.isdigit() and marker in cmdline(p)]
escaped = seen or (${host.hostPid} > 1000 and any_works(lambda: os.kill(${host.hostPid}, 0), lambda: call("ptrace", 16, ${host.hostPid}, 0, 0)))`,
  },
  {
    name: 'trace the supervisor and write to its descriptors',
    stoppedBy: 'its program cannot be read, so its process is not dumpable',
    code: () => `
escaped = any_works(lambda: call("ptrace", 16, 1, 0, 0), lambda: read("/proc/1/environ"), lambda: read("/proc/1/mem"), lambda: read("/run/prime/bash"), *[lambda n=n: os.open(f"/proc/1/fd/{n}", os.O_WRONLY) for n in range(4)])`,
  },
  {
    name: 'write outside the snapshot and the temporary folders',
    stoppedBy: 'everything else is read-only',
    stoppedByDocker: 'the root file system is read-only',
    code: (host) => `
escaped = any_works(*[lambda p=p: open(p + "/prime-escape", "w") for p in ("/", "/usr", "/usr/bin", "/etc", "/opt/prime", "/run", "/run/prime", "/home", "/var", "/proc", ${py(host.base)}, ${py(host.state)})])`,
  },
  {
    name: "change the base or the user's dependencies through the mounts",
    stoppedBy: 'overlays: writes go to the layer',
    stoppedByDocker: 'the workspace is a copy; dependencies are mounted read-only',
    code: (host) => `
for folder in ("/workspace", ${py(host.workspacePath)}):
    for name in ("a.txt", ${py(host.dependency)}):
        try: open(f"{folder}/{name}", "w").write("escaped")
        except OSError: pass
escaped = False`,
  },
  {
    name: 'follow links out of the snapshot',
    stoppedBy: 'links are resolved inside',
    code: (host) => `
os.symlink(${py(host.sshKey)}, "/workspace/link")
os.symlink("/", "/workspace/rootlink")
escaped = any_works(lambda: read("/workspace/link"), lambda: read("/workspace/rootlink" + ${py(host.sshKey)}), lambda: os.link(${py(host.sshKey)}, "/workspace/hard"))
os.remove("/workspace/link"); os.remove("/workspace/rootlink")`,
  },
  {
    name: 'type into the terminal (TIOCSTI)',
    stoppedBy: 'a session without a terminal; the filter refuses the call',
    stoppedByDocker: 'no terminal; the profile refuses the call',
    code: () => `
escaped = any_works(lambda: os.open("/dev/tty", os.O_RDWR), *[lambda f=f: fcntl.ioctl(f, 0x5412, b"x") for f in (0, 1, 2)])
m, s = os.openpty()
escaped = escaped or any_works(lambda: fcntl.ioctl(s, 0x5412, b"x"))`,
  },
  {
    name: 'read the key rings of the kernel',
    stoppedBy: 'the filter refuses keyctl',
    stoppedByDocker: 'the profile refuses keyctl',
    code: () => `
import platform
keyctl, add_key = (250, 248) if platform.machine() == "x86_64" else (219, 217)
escaped = any_works(lambda: call("syscall", keyctl, 0, -3, 0), lambda: call("syscall", keyctl, 0, -4, 0), lambda: call("syscall", add_key, b"user", b"x", b"y", 1, -4))`,
  },
  {
    name: 'use bpf, perf events, io_uring, userfaultfd, kernel modules',
    stoppedBy: 'the filter refuses them',
    stoppedByDocker: 'the profile refuses them',
    code: () => `
import platform
numbers = (321, 298, 425, 323, 175) if platform.machine() == "x86_64" else (280, 241, 425, 282, 105)
escaped = any_works(*[lambda n=n: call("syscall", n, ctypes.create_string_buffer(256), 0, -1, -1, 0) for n in numbers])`,
  },
  {
    name: 'share memory with the host (/dev/shm, System V)',
    stoppedBy: 'a /dev and an ipc namespace of its own',
    code: (host) => `
escaped = any_works(lambda: read(${py(host.shmFile)})) or open("/proc/sysvipc/shm").read().splitlines()[1:]`,
  },
  {
    name: 'use descriptors that were left open',
    stoppedBy: 'the supervisor closes what it inherited',
    code: () => `
escaped = [f for f in os.listdir("/proc/self/fd") if int(f) > 2 and os.path.exists(f"/proc/self/fd/{f}") and not os.readlink(f"/proc/self/fd/{f}").startswith(("/proc/", "/dev/null"))]`,
  },
  {
    name: 'make sockets of odd families (AF_VSOCK, AF_PACKET, AF_ALG …)',
    stoppedBy: 'the filter allows Unix, IPv4, IPv6 and netlink alone',
    stoppedByDocker: 'the profile allows Unix, IPv4, IPv6 and netlink alone',
    code: () => `
def makes(name, *args):
    libc_socket = getattr(libc, name)
    r = libc_socket(*args)
    if r >= 0: return True
    e = ctypes.get_errno()
    if e != 97: return e
    raise OSError(e, os.strerror(e))
pair = (ctypes.c_int * 2)()
escaped = [f for f in range(64) if f not in (1, 2, 10, 16) for t in (1, 2, 3, 5) if any_works(lambda: makes("socket", f, t, 0), lambda: makes("socketpair", f, t, 0, pair))]
for f in (1, 2, 10, 16): socket.socket(f, socket.SOCK_RAW if f == 16 else socket.SOCK_STREAM).close()`,
  },
  {
    name: 'take from the supervisor what it needs (/dev/fd, its program, its limits)',
    stoppedBy: '/dev is read-only; the filter refuses prlimit of process 1',
    stoppedByDocker: '/dev belongs to root; the profile refuses prlimit of process 1',
    code: () => `
import resource
escaped = any_works(lambda: os.remove("/dev/fd"), lambda: os.rename("/dev/fd", "/dev/x"), lambda: open("/dev/x", "w"), lambda: os.remove("/dev/null"), lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3)), lambda: os.rename("/run/prime", "/run/x"))`,
  },
];
