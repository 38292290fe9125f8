# Runs a sandbox that a session's broker has wrapped: the leader of its group, so that the sandbox is tied to it and not to a thread of
# the host. Argument: srt's line. 3: a socket to the host; from 4: locks to hold.
# The host writes the seconds the command may take (0 = no limit) on 3 when it gives the sandbox its command. When 3 ends, or the time
# is up, the group goes. Notes on 3, as the guard's: "T" = time is up; "X<code>" = the status.
exec {words}>&2 2>/dev/null
{
  IFS= read -r -u 3 seconds || kill -KILL 0
  if [ "$seconds" = 0 ]; then
    IFS= read -r -u 3
  else
    IFS= read -r -t "$seconds" -u 3
    [ $? -gt 128 ] && echo T >&3
  fi
  kill -KILL 0
} </dev/null >/dev/null {words}>&- &
eval "$1 2>&$words {words}>&-"
code=$?
echo "X$code" >&3
exit $code
