# The supervisor of one sandbox: process 1 of its namespace (or container), or the root of a process
# tree where there is no namespace. It needs bash and coreutils, nothing else.
#
#   bash supervisor.sh ns|tree PRIVATE_FOLDER WORKSPACE BASH FILE_KIB PROCESSES|0 [MARK]
#
# stdin: requests. stdout: bytes of the current call. stderr: control lines.
#
#   call ID START END shell|run merge|stdout STDIN_BYTES|- SCRIPT_BYTES\n SCRIPT STDIN
#   kill ID     ends every process; what the call printed is kept       -> killed ID
#   ping ID     is the runner of the call still there?                  -> lost ID (only if not)
#   quiet       what background processes print from now on is drained
#   restart ID  ends every process, forgets directory and exports       -> restarted ID
#   quit        the same as the end of stdin, which Podman does not pass on
#
# A call answers `end ID CODE` on the control stream. The two streams race, so the output of a call
# is what stands between the words START and END on stdout: random words, made by the host for each
# call, which are in no argument and no environment. A word is not a marker of completion: that is
# the control line; it only says how far to read.
#
# The pieces of one call:
#   runner  a fork of this shell at the writing end of a pipe of its own; starts the command in its
#           own process group, waits for it, writes END and the control line.
#   relay   a `cat` from that pipe to stdout. When the next call starts it is replaced by one that
#           throws bytes away: background processes live on, but print into no later call.

p_mode=$1 p_private=$2 p_workspace=$3 p_bash=$4 p_file_kib=$5 p_processes=$6 p_mark=${7-}
if [[ $p_mode == ns && $$ != 1 ]]; then
  echo "fatal the supervisor is not process 1 of a namespace" >&2
  exit 70
fi

exec 3>&2 2>/dev/null
p_score=''
# Descriptors that the host's parent left open by mistake must not reach commands: a folder among
# them would be a way out.
for p_fd in /proc/self/fd/*; do
  p_fd=${p_fd##*/}
  if [[ $p_fd == +([0-9]) ]] && ((p_fd > 3 && p_fd != 255)); then
    # Descriptor 4 may be our memory score, opened when we still could.
    if [[ $p_mode == ns && $p_fd == 4 && /proc/self/fd/4 -ef /proc/self/oom_score_adj ]]; then
      read -r p_score <&4
    else
      exec {p_fd}>&-
    fi
  fi
done
# Bytes, not characters, are counted here; commands get the locale that was asked for.
p_locale=${LC_ALL-C.UTF-8}
LC_ALL=C
# Every job in a group of its own, and no signal ignored in commands (`&` alone ignores SIGINT).
set -m
# Process 1 only receives signals it has handlers for; these do nothing and are reset in children.
trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE

ulimit -c 0

# The programs used here are the system's, named in full: PATH begins with folders of tool chains,
# which may lie in the workspace, where a command can write. Better still are copies beside this
# script that cannot be read: their processes, which hold the streams of the host, cannot be opened.
p_system=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
p_find() {
  [[ ! -x ${0%/*}/$1 ]] || { printf %s "${0%/*}/$1"; return; }
  PATH=$p_system builtin type -P "$1" || builtin type -P "$1"
}
p_cat=$(p_find cat) p_head=$(p_find head) p_timeout=$(p_find timeout) p_rm=$(p_find rm)
# When memory is short, commands go first: they are started with the highest score, and the
# supervisor keeps the one it came with. (Only a process of ours can set it for itself, and not even
# a fork of this one can, so it is raised for the moment of the fork.)
p_score() { :; }
if [[ -n $p_score ]]; then p_score() { printf %s "$1" >&4; }; fi

# The state's file is writable for commands: it is read only as far as a state can reach, and
# opened for both so that a pipe in its place blocks nothing.
p_state_bytes=3000000
# Makes sure that a name in the private folder is a file of ours to be written.
p_plain() {
  [[ -e $1 || -L $1 ]] || return 0
  [[ ! -L $1 && -f $1 && -w $1 ]] || "$p_rm" -rf -- "$1" 3>&- 4>&-
}

p_state='' p_id='' p_end='' p_runner='' p_relay='' p_pipe=''

# What the shell of a call does around the command. `__prime_leave` writes the state: exports, and
# what of the initial environment is gone, so that `unset` lasts too.
p_wrapper='. /dev/fd/8; exec 8<&-; eval "$__prime_command"; { __prime_leave $?; } 2>/dev/null'

p_prologue() {
  local name names=''
  while IFS= read -r name; do names+=" $name"; done < <(compgen -e)
  p_functions="__prime_leave() {
  set +xvefu +o pipefail
  trap - DEBUG ERR RETURN
  trap - EXIT
  [[ \$PWD -ef . ]] || PWD=\$(builtin pwd -P || builtin printf %s \"\$PWD\")
  {
    for __prime_name in$names; do [[ -v \$__prime_name ]] || builtin printf 'builtin unset -v %s\n' \$__prime_name; done
    builtin declare -px
    builtin printf '__prime_directory=%q\n#complete\n' \"\$PWD\"
  } >|${p_private@Q}/state
  exit \$1
}
trap '{ __prime_leave \$?; } 2>/dev/null' EXIT
builtin cd -- ${p_workspace@Q}
"
  p_return='if [[ -n ${__prime_directory-} ]]; then
  __prime_name=${OLDPWD-}
  if builtin cd -- "$__prime_directory" 2>/dev/null; then
    OLDPWD=$__prime_name
  else
    builtin printf "(the working directory %s no longer exists; back in %s)\n" "$__prime_directory" '${p_workspace@Q}'
    builtin cd -- '${p_workspace@Q}'
  fi
  builtin unset -v __prime_directory __prime_name
fi
'
}
p_prologue

# Runs as a process substitution: its stdout is the pipe of the call.
p_run() {
  local code
  exec </dev/null 4>&-
  set -m
  # Only commands are limited: the supervisor must be able to start processes when they cannot.
  ulimit -f "$p_file_kib"
  ((p_processes == 0)) || ulimit -u "$p_processes"
  [[ $p_capture == stdout ]] || exec 2>&1
  if [[ $p_kind == shell ]]; then
    LC_ALL=$p_locale "$p_bash" --noprofile --norc -c "$p_wrapper" bash 3>&- 8<<<"$p_functions{ :
$p_state
} 2>/dev/null
$p_return$p_script"
  else
    (
      exec 3>&-
      if [[ $p_stdin == lost ]]; then
        printf '%s\n' "$p_lost" >&2
        exit 1
      fi
      [[ $p_stdin == - ]] || exec <"$p_private/stdin"
      set +m
      trap - HUP INT QUIT TERM USR1 USR2 ALRM PIPE
      LC_ALL=$p_locale
      builtin cd -- "$p_workspace"
      eval "$p_script"
    )
  fi
  code=$?
  exec 2>/dev/null
  printf %s "$p_end"
  printf 'end %s %s\n' "$p_id" "$code" >&3
}

# The relay of the last call may still forward what background processes print. After this it does
# not: it is dead before the next START is written.
p_quiet() {
  [[ -n $p_pipe ]] || return 0
  if kill -0 "$p_relay"; then
    kill -9 "$p_relay"
    wait "$p_relay"
    "$p_cat" <&"$p_pipe" >/dev/null 3>&- 4>&- &
    disown $!
  fi
  exec {p_pipe}<&-
  p_pipe=''
}

# Without a process namespace: everything that descends from here or carries the mark in its
# environment, until nothing is found. (A process that left the tree and cleared its environment is
# not found: that is what a namespace is for.)
p_end_tree() {
  local round pid parent line found
  local -A parents
  for round in {1..40}; do
    found='' parents=()
    if [[ -r /proc/self/stat ]]; then
      for pid in /proc/[0-9]*; do
        # Kernel threads and processes of others cannot be ours.
        [[ -O $pid && $pid != "/proc/$$" ]] || continue
        IFS= read -r line <"$pid/stat" || continue
        line=${line##*) }
        [[ $line != [ZX]* ]] || continue
        line=${line#* }
        parents[${pid#/proc/}]=${line%% *}
        IFS= read -r -N 1000000 line <"$pid/environ"
        [[ $line != *"PRIME_SANDBOX=$p_mark"* ]] || found+=" ${pid#/proc/} "
      done
    else
      while read -r pid parent line; do
        [[ $pid == "$$" || $line == Z* ]] || parents[$pid]=$parent
      done < <(ps -axo pid=,ppid=,stat=)
    fi
    for pid in "${!parents[@]}"; do
      parent=$pid
      while [[ -n ${parents[$parent]-} ]]; do
        parent=${parents[$parent]}
        if [[ $parent == "$$" || $found == *" $parent "* ]]; then
          [[ $found == *" $pid "* ]] || found+=" $pid "
          break
        fi
      done
    done
    [[ -n $found ]] || return 0
    kill -9 $found
  done
}

p_end_all() {
  if [[ $p_mode == ns ]]; then kill -9 -1; else p_end_tree; fi
  if [[ -n $p_pipe ]]; then
    # Every writer is dead, so this ends; the limit is for one that hangs in the kernel.
    "$p_timeout" -s KILL 1 "$p_cat" <&"$p_pipe" 3>&- 4>&-
    exec {p_pipe}<&-
    p_pipe=''
  fi
  printf %s "$p_end"
  wait
}

# Input goes through a file, since a command may read it whenever it likes. Whatever becomes of the
# file (no space, no permission), exactly those bytes are taken: the rest are requests.
p_take_input() {
  p_plain "$p_private/stdin"
  p_lost=$({ "$p_head" -c "$p_stdin" 3>&- 4>&-; } | {
    exec 3>&- 4>&- 2>&1
    "$p_cat" >|"$p_private/stdin" || "$p_cat" >/dev/null
  })
  [[ -z $p_lost ]] || p_stdin=lost
}

printf 'ready\n' >&3
while IFS=' ' read -r p_verb p_a p_b p_c p_d p_e p_f p_g; do
  case $p_verb in
    call)
      p_id=$p_a p_kind=$p_d p_capture=$p_e p_stdin=$p_f
      IFS= read -r -N "$p_g" p_script
      if [[ $p_stdin != - ]]; then p_take_input; fi
      p_quiet
      if [[ $p_kind == shell ]]; then
        # Taken only when complete: a command that was killed or replaced itself leaves it as it was.
        p_new=''
        p_plain "$p_private/state"
        IFS= read -r -t 1 -d '' -n "$p_state_bytes" p_new <>"$p_private/state" && p_new=''
        if [[ $p_new == *$'\n#complete\n' ]]; then p_state=$p_new; fi
        : >|"$p_private/state"
      fi
      printf %s "$p_b"
      p_end=$p_c
      p_score 1000
      exec {p_pipe}< <(p_run)
      p_runner=$!
      p_score "$p_score"
      "$p_cat" <&"$p_pipe" 3>&- 4>&- &
      p_relay=$!
      ;;
    ping)
      if [[ $p_a == "$p_id" && -n $p_pipe ]]; then
        if ! kill -0 "$p_runner"; then
          # Gone: after its `end` (the host has that line first), or with everything else.
          printf 'lost %s\n' "$p_id" >&3
        elif ! kill -0 "$p_relay"; then
          "$p_cat" <&"$p_pipe" 3>&- 4>&- &
          p_relay=$!
        fi
      fi
      ;;
    kill)
      p_end_all
      printf 'killed %s\n' "$p_a" >&3
      ;;
    quiet) p_quiet ;;
    restart)
      p_end_all
      p_state='' p_end=''
      p_plain "$p_private/state"
      : >|"$p_private/state"
      printf 'restarted %s\n' "$p_a" >&3
      ;;
    quit) break ;;
  esac
done

# The host closed the stream or is gone.
p_end_all
