// A sandbox of root's is refused the kernel's settings: they take orders from uid 0 whatever its capabilities, and bubblewrap covers
// /proc/sys only for those it thinks can write there; without that, writing kernel/core_pattern runs a program on the host. Where srt's
// words change, the prelude sees the hole and refuses.
function withoutKernelSettings(line) {
  if (process.platform !== 'linux' || process.geteuid() !== 0 || typeof line !== 'string') return line;
  var mount = ' --proc /proc ', at = line.lastIndexOf(mount + '--unsetenv ');
  if (at < 0) return line;
  return line.slice(0, at + mount.length) + ['sys', 'fs', 'acpi', 'asound', 'driver', 'dynamic_debug', 'mtrr', 'scsi'].map(
    function (name) { return '--ro-bind-try /proc/' + name + ' /proc/' + name + ' '; }).join('') + line.slice(at + mount.length);
}
