// check_settings.mjs PACKAGE: srt's own schema as the judge. Reads lines of JSON, {"name", "settings"}; answers each with one line:
// the name, a tab, and what is wrong or, when nothing is, "ok" and the paths of all keys.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const { SandboxRuntimeConfigSchema } = await import(pathToFileURL(process.argv[2] + '/dist/sandbox/sandbox-config.js').href);

function keys(value, path, found) {
    if (Array.isArray(value)) {
        for (const item of value) keys(item, path + '[]', found);
    } else if (typeof value === 'object' && value !== null) {
        for (const [name, inner] of Object.entries(value)) {
            const here = path ? path + '.' + name : name;
            found.add(here);
            keys(inner, here, found);
        }
    }
    return found;
}

function judge(text) {
    const settings = JSON.parse(text);
    const parsed = SandboxRuntimeConfigSchema.safeParse(settings);
    if (!parsed.success) return parsed.error.issues.map(issue => issue.path.join('.') + ': ' + issue.message).join('; ');
    // The schema drops the keys it does not know.
    if (!isDeepStrictEqual(parsed.data, settings)) return 'srt ignores some of it: ' + [...keys(settings, '', new Set())].filter(key => !keys(parsed.data, '', new Set()).has(key));
    // A key that stands twice is lost by JSON.parse.
    const count = [...text.matchAll(/"(?:[^"\\]|\\.)*"\s*:/g)].length;
    let counted = 0;
    JSON.parse(text, function (key, value) { if (!Array.isArray(this) && key !== '') counted++; return value; });
    if (count !== counted) return 'a key stands twice';
    for (const list of Object.values(settings.filesystem)) {
        for (const entry of list) {
            if (typeof entry !== 'string' && !(entry.literal === true && entry.path.startsWith('/'))) return 'no absolute literal path: ' + JSON.stringify(entry);
        }
    }
    return 'ok ' + [...keys(settings, '', new Set())].sort().join(' ');
}

for (const line of readFileSync(0, 'utf8').split('\n')) {
    if (line === '') continue;
    const { name, settings } = JSON.parse(line);
    let verdict;
    try {
        verdict = judge(settings);
    } catch (error) {
        verdict = error.message;
    }
    console.log(name + '\t' + verdict.replaceAll('\n', ' '));
}
