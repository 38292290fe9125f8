// The few lines of JavaScript that node runs before srt: they tie srt's life to the host's, and carry two facts back.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace bailey::srt {

/// Descriptors of srt, by number; the placeholders' follow.
inline constexpr int settings_fd = 3;
inline constexpr int lifeline_fd = 4;

/// Arguments: srt's cli.js, the oldest node it accepts, the milliseconds the run may take (0 = no limit), the paths of the placeholders
/// as JSON, the directory of the sockets, which marks the sandbox's processes; then srt's own. Plain old syntax, so that an old node can
/// read it and refuse.
///
/// When the host dies, however it dies, the lifeline ends and the whole group goes at once: srt alone would leave its sandbox behind
/// (srt-facts, sections 2 and 3). A shell outside the group then ends a sandbox that escaped it (see sweep.hpp), and takes the
/// placeholders away, when nobody else holds their locks. The clock is the host's; the guard keeps to it, a little later, in case the
/// host is busy in a callback.
///
/// A sandbox of root's is refused the kernel's settings: they take orders from uid 0 whatever its capabilities, and bubblewrap covers
/// /proc/sys only for those it thinks can write there; without that, writing kernel/core_pattern runs a program on the host. Where srt's
/// words change, the prelude sees the hole and refuses.
///
/// Notes: "N<version>" = node is too old; "T" = time is up; "X<code>" = srt's exit status, for hosts that let somebody else reap.
inline constexpr std::string_view guard_script = R"js('use strict';
var fs = require('fs'), net = require('net'), processes = require('child_process');
var args = process.argv.splice(1, 5), cli = args[0], floor = args[1], left = +args[2], places = JSON.parse(args[3]), mark = args[4];
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
if (left > 0 && left < 2e9) setTimeout(function () { note('T'); endGroup(); }, left + 500).unref();
process.on('exit', function (code) { if (!note('X' + code)) hostDied(); });  // srt may end before it is seen
if (process.platform === 'linux' && process.geteuid() === 0) {
  var spawn = processes.spawn, mount = ' --proc /proc ',
      covered = ['sys', 'fs', 'acpi', 'asound', 'driver', 'dynamic_debug', 'mtrr', 'scsi'];
  processes.spawn = function (command) {
    var at = typeof command === 'string' ? command.lastIndexOf(mount + '--unsetenv ') : -1;
    if (at >= 0)
      arguments[0] = command.slice(0, at + mount.length) + covered.map(
        function (name) { return '--ro-bind-try /proc/' + name + ' /proc/' + name + ' '; }).join('') + command.slice(at + mount.length);
    return spawn.apply(this, arguments);
  };
  require('module').syncBuiltinESMExports();
}
import(require('url').pathToFileURL(cli).href);
)js";

/// What the guard noted under that letter.
[[nodiscard]] inline std::optional<std::string> guard_note(std::string_view notes, char letter) {
    while (!notes.empty()) {
        const auto end = notes.find('\n');
        if (end == std::string_view::npos) return std::nullopt;
        if (notes.front() == letter) return std::string{notes.substr(1, end - 1)};
        notes.remove_prefix(end + 1);
    }
    return std::nullopt;
}

[[nodiscard]] inline std::optional<int> noted_exit_code(std::string_view notes) {
    const auto note = guard_note(notes, 'X');
    int code = 0;
    if (!note || std::from_chars(note->data(), note->data() + note->size(), code).ec != std::errc{}) return std::nullopt;
    return code;
}

}  // namespace bailey::srt
