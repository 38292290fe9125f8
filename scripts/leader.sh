# Runs a sandbox that a session's broker has wrapped: the leader of its group, so that the sandbox is tied to it and not to a thread of
# the host. Argument: srt's line. 3: the sandbox's control; 4: a socket to the host; from 5: locks to hold.
# The host writes the seconds the command may take (0 = no limit) on 4 when it gives the sandbox its command. When 4 ends, or the time
# is up, the group goes. Notes on 4, as the guard's: "T" = time is up; "X<code>" = the status.
exec {words}>&2 2>/dev/null
{
  IFS= read -r -u 4 seconds || kill -KILL 0
  if [ "$seconds" = 0 ]; then
    IFS= read -r -u 4
  else
    IFS= read -r -t "$seconds" -u 4
    [ $? -gt 128 ] && echo T >&4
  fi
  kill -KILL 0
} </dev/null >/dev/null 3<&- {words}>&- &
eval "$1 2>&$words {words}>&-"
code=$?
echo "X$code" >&4
exit $code
