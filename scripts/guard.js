// What node runs before srt: it ties srt's life to the host's, and carries facts back.
//
// Arguments: srt's cli.js, the oldest node it accepts, the milliseconds the run may take (0 = no limit), the paths of the placeholders
// as JSON, the directory of the sockets, which marks the sandbox's processes, the host; then srt's own. Plain old syntax, so that an old node can
// read it and refuse.
//
// When the host dies, however it dies, the lifeline ends and the whole group goes at once: srt alone would leave its sandbox behind
// (measured with 0.0.83). A shell outside the group then ends a sandbox that escaped it (see sweep.hpp), and takes the
// placeholders away, when nobody else holds their locks. The clock is the host's; the guard keeps to it, a little later, in case the
// host is busy in a callback.
//
// Notes: "N<version>" = node is too old; "T" = time is up; "X<code>" = srt's exit status, for hosts that let somebody else reap;
// "K<number>" = the signal that ended the sandbox itself, for which srt may end with 0.
var fs = require('fs'), net = require('net'), processes = require('child_process');
var args = process.argv.splice(1, 6), cli = args[0], floor = args[1], left = +args[2], places = JSON.parse(args[3]), mark = args[4], host = +args[5];
function note(text) { try { fs.writeSync(4, text + '\n'); return true; } catch (e) { return e.code === 'EAGAIN'; } }
function older(a, b) {
  a = a.split('.'); b = b.split('.');
  for (var i = 0; i < 3; i++) if (+(a[i] || 0) !== +(b[i] || 0)) return +(a[i] || 0) < +(b[i] || 0);
  return false;
}
if (older(process.versions.node, floor)) { note('N' + process.versions.node); process.exit(1); }
function endGroup() { process.kill(-process.pid, 'SIGKILL'); }
function hostDied() {
  // Its standard input ends when this process has: only then, and a moment later, no command can make what is denied.
  var shell = 'mark=$1; shift; read end; for f in $(grep -lFa -- "$mark" /proc/[0-9]*/cmdline 2>/dev/null); do ' +
              'p=${f#/proc/}; p=${p%/cmdline}; [ "$p" = $$ ] || kill -9 "$p" 2>/dev/null; done; sleep 0.1; fd=3; for place; do ' +
              '[ "/proc/self/fd/$fd" -ef "$place" ] && flock -n -x $fd && rm -f -- "$place"; fd=$((fd + 1)); done';
  var locks = places.map(function (_, i) { return 5 + i; });
  processes.spawn('/bin/sh', ['-c', shell, 'sh', mark].concat(places), {detached: true, stdio: ['pipe', 'ignore', 'ignore'].concat(locks)});
  endGroup();
}
var lifeline = new net.Socket({fd: 4, readable: true, writable: false});
lifeline.on('error', hostDied); lifeline.on('close', hostDied); lifeline.resume(); lifeline.unref();
// A child that the host has forked holds the lifeline, too.
setInterval(function () { if (process.ppid !== host) hostDied(); }, 500).unref();
if (left > 0 && left < 2e9) setTimeout(function () { note('T'); endGroup(); }, left + 500).unref();
process.on('exit', function (code) { if (!note('X' + code)) hostDied(); });  // srt may end before it is seen
var spawn = processes.spawn;
processes.spawn = function (command) {
  arguments[0] = withoutKernelSettings(command);
  var child = spawn.apply(this, arguments), options = arguments[1];
  if (options && options.shell) child.once('exit', function (_, signal) { if (signal) note('K' + require('os').constants.signals[signal]); });
  return child;
};
require('module').syncBuiltinESMExports();
import(require('url').pathToFileURL(cli).href);
