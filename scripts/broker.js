// A session's broker: srt's own library in one node process, which wraps the bootstraps of sandboxes and filters their network.
//
// Arguments: srt's index.js; a text that marks the session's sandboxes in their command lines; for how many milliseconds an unlisted
// host is asked about (0 = never: what is not listed is refused).
// Descriptor 3 is a socket to the host. Frames both ways: the length of what follows (32 bits, little endian), a letter, and fields
// separated by NUL.
//   from the host   I settings            begin             to the host   R port token      the proxy listens
//                   P id places           will be held for it             w id line         the shell line that runs the sandbox
//                   W id settings boot    wrap                            e id why          it cannot be wrapped
//                   C id                  it has ended
//                   N allowed denied      the domains, live               n                 done
//                   A number verdict why  an answer                       A number port host    may that be reached?
//                                                                         V id line         something was refused
//                                                                         F why             the session is over
// When the socket ends, by a closed session or a dead host, everything that is left of the session is ended, and the group goes.
var fs = require('fs'), net = require('net'), processes = require('child_process');
var index = process.argv[1], mark = process.argv[2], patience = +process.argv[3];
var library, manager, config, ending = false, placesOf = new Map(), wraps = new Map(), questions = new Map(), asked = 0, seen = 0;

var host = new net.Socket({fd: 3, readable: true, writable: true});
function send(letter, fields) {
  var body = Buffer.from(letter + fields.join('\0')), head = Buffer.alloc(4);
  head.writeUInt32LE(body.length, 0);
  host.write(Buffer.concat([head, body]));
}

function killMarked() {
  for (var name of fs.readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || +name === process.pid) continue;
    try { if (fs.readFileSync('/proc/' + name + '/cmdline').includes(mark)) process.kill(+name, 'SIGKILL'); } catch (e) { /* it has ended */ }
  }
}

async function end() {
  if (ending) return;
  ending = true;
  killMarked();
  if (wraps.size) {  // what was just being started has its name only now; and no command can make any more what is denied
    await new Promise(function (done) { setTimeout(done, 100); });
    killMarked();
  }
  var places = [];
  for (var some of placesOf.values()) for (var place of some) places.push(place[1] + ':' + place[2], place[0]);
  if (places.length) processes.spawnSync('/bin/sh', ['-c', 'while [ $# -gt 1 ]; do exec 3<"$2" && [ "$(stat -Lc %d:%i /proc/self/fd/3)" = "$1" ] && ' +
                                         'flock -n -x 3 && rm -f -- "$2"; shift 2; done', 'sh'].concat(places), {stdio: 'ignore'});
  try { await Promise.race([manager && manager.reset(), new Promise(function (done) { setTimeout(done, 1000); })]); } catch (e) { /* its sockets go with the host's directory */ }
  process.kill(-process.pid, 'SIGKILL');  // srt's socat with us
}
host.on('error', end);
host.on('close', end);

function refuse(why) {
  send('F', [why]);
  host.end(end);
}

function ask(request) {
  return new Promise(function (answer) {
    var number = ++asked;
    var timer = setTimeout(function () { settle({allow: false, reason: 'nobody answered within ' + patience + ' ms'}); }, Math.min(patience, 2147483647));
    function settle(verdict) {
      clearTimeout(timer);
      questions.delete(number);
      answer(verdict);
    }
    questions.set(number, settle);
    send('A', [number, request.port, request.host]);
  });
}

async function begin(settings) {
  library = await import(require('url').pathToFileURL(index).href);
  manager = library.SandboxManager;
  config = library.SandboxRuntimeConfigSchema.parse(JSON.parse(settings));
  await manager.initialize(config, patience > 0 ? ask : undefined);
  var store = manager.getSandboxViolationStore();
  seen = store.getTotalCount();
  store.subscribe(function (all) {
    var fresh = store.getTotalCount() - seen;
    seen += fresh;
    if (fresh > 0) all.slice(-fresh).forEach(function (violation) { send('V', [violation.command || '', violation.line]); });
  });
  send('R', [manager.getProxyPort(), manager.getProxyAuthToken()]);
}

async function wrap(id, settings, boot) {
  try {
    var filesystem = library.SandboxRuntimeConfigSchema.parse(JSON.parse(settings)).filesystem;
    send('w', [id, withoutKernelSettings(await manager.wrapWithSandbox(boot, undefined, {filesystem: filesystem}, undefined, {commandId: id, commandText: id}))]);
    return true;
  } catch (error) {
    send('e', [id, String(error && error.message || error)]);
    return false;
  }
}

// Once for each wrap that succeeded: srt counts.
async function unwrap(id) {
  var wrapped = await wraps.get(id);
  placesOf.delete(id);
  if (wraps.delete(id) && wrapped) manager.cleanupAfterCommand();
}

var begun;
function handle(letter, fields) {
  if (letter === 'I' && !begun && fields.length === 1) {
    begun = begin(fields[0]);
    begun.catch(function (error) { refuse(String(error && error.message || error)); });
    return;
  }
  if (!begun) return refuse('the broker was given "' + letter + '" before it was told to begin');
  if (letter === 'P' && fields.length === 2) return void placesOf.set(fields[0], JSON.parse(fields[1]));
  if (letter === 'W' && fields.length === 3) {
    wraps.set(fields[0], begun.then(function () { return wrap(fields[0], fields[1], fields[2]); }));
    return;
  }
  if (letter === 'C' && fields.length === 1) return void unwrap(fields[0]).catch(end);
  if (letter === 'N' && fields.length === 2) {
    return void begun.then(function () {
      config.network.allowedDomains = JSON.parse(fields[0]);
      config.network.deniedDomains = JSON.parse(fields[1]);
      manager.updateConfig(library.SandboxRuntimeConfigSchema.parse(config));
      send('n', []);
    }).catch(function (error) { refuse(String(error && error.message || error)); });
  }
  if (letter === 'A' && fields.length === 3) {
    var settle = questions.get(+fields[0]);
    if (settle) settle(fields[1] === 'yes' ? true : {allow: false, reason: fields[2]});
    return;
  }
  refuse('the broker does not understand the frame "' + letter + '" with ' + fields.length + ' fields');
}

var pending = Buffer.alloc(0);
host.on('data', function (bytes) {
  pending = pending.length ? Buffer.concat([pending, bytes]) : bytes;
  while (pending.length >= 4) {
    var length = pending.readUInt32LE(0);
    if (length === 0 || length > 16 << 20) return refuse('the broker was given a frame of ' + length + ' bytes');
    if (pending.length < 4 + length) return;
    var body = pending.subarray(4, 4 + length).toString('utf8');
    pending = pending.subarray(4 + length);
    handle(body[0], body.length > 1 ? body.slice(1).split('\0') : []);
  }
});
