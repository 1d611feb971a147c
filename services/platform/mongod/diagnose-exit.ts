/** Explains in one sentence why a mongod did not start or stopped, from its exit and the end of its log. */

/** Exit codes of mongod that mean something (src/mongo/util/exit_code.h). */
const EXIT_UPGRADE = 62
const EXIT_ABRUPT = 14

/** How a mongod ended. */
export interface MongodEnd {
  code: number | null
  signal: string | null
  /** The last lines that it printed: JSON objects, or plain text of the loader. */
  tail: readonly string[]
}

const CAUSES: readonly [RegExp, (dataFolder: string) => string][] = [
  [/error while loading shared libraries: (\S+)/, () => 'a shared library is missing'],
  [
    /No space left on device|ENOSPC|disk is full/i,
    folder => `the disk that holds ${folder} is full; free some space and start again`,
  ],
  [
    /DBPathInUse|Unable to lock the lock file|another mongod instance is already running/i,
    folder => `another mongod is using ${folder}; stop it, or set DATA_DIR to another folder`,
  ],
  [
    /UPGRADE PROBLEM|Invalid featureCompatibilityVersion|unsupported WiredTiger file version|WiredTigerVersion|requires newer/i,
    folder =>
      `${folder} was written by another version of MongoDB than this mongod; start the version that wrote it (MONGOD_BINARY), or set DATA_DIR to a new folder`,
  ],
  [
    /Permission denied|not writable|Attempted to create a lock file on a read-only directory/i,
    folder => `this user may not write to ${folder}`,
  ],
  [/Address already in use|SocketException.*bind/i, () => 'its port was taken in this moment; start again'],
]

/** The reason of an exit, as a sentence with the remedy. */
export function whyMongodEnded({ code, signal, tail }: MongodEnd, dataFolder: string): string {
  const text = tail.join('\n')
  const library = /error while loading shared libraries: ([^:\s]+)/.exec(text)?.[1]
  if (library) return missingLibrary(library)
  for (const [pattern, explain] of CAUSES) if (pattern.test(text)) return explain(dataFolder)
  if (code === EXIT_UPGRADE)
    return `${dataFolder} was written by another version of MongoDB; start that version (MONGOD_BINARY), or set DATA_DIR to a new folder`
  if (code === EXIT_ABRUPT) return `it aborted; its log is ${dataFolder}/mongod.log`
  const last = tail.map(messageOf).filter(Boolean).at(-1)
  return `it ended with ${signal ? `signal ${signal}` : `code ${code}`}${last ? `: ${last}` : ''}`
}

/** Why `mongod --version` could not even run. */
export function whyNotRunnable(error: Error & { code?: unknown; stderr?: unknown }): string {
  const text = `${error.message}\n${typeof error.stderr === 'string' ? error.stderr : ''}`
  const library = /error while loading shared libraries: ([^:\s]+)/.exec(text)?.[1]
  if (library) return missingLibrary(library)
  if (/GLIBC_[\d.]+' not found/.test(text)) return 'this system has an older C library than it needs'
  if (error.code === 'ENOENT') return 'there is no such file'
  if (error.code === 'EACCES') return 'it is not executable'
  if (/Exec format error|ENOEXEC/.test(text)) return 'it is made for another kind of processor'
  return text.trim().split('\n').at(-1) ?? 'it does not run'
}

function missingLibrary(library: string): string {
  const hint = /lib(ssl|crypto)\.so/.test(library)
    ? ' (package libssl3 or openssl)'
    : /libcurl/.test(library)
      ? ' (package libcurl4)'
      : ''
  return `the shared library ${library} is missing${hint}; install it or use another mongod by MONGOD_BINARY`
}

/** The message of a JSON log line of mongod; the line itself when it is plain text. */
function messageOf(line: string): string {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry !== 'object' || entry === null || !('msg' in entry)) return ''
    const severity = 's' in entry ? entry.s : ''
    if (severity !== 'F' && severity !== 'E') return ''
    const detail =
      'attr' in entry && typeof entry.attr === 'object' && entry.attr !== null && 'error' in entry.attr
        ? `: ${JSON.stringify(entry.attr.error)}`
        : ''
    return `${String(entry.msg)}${detail}`
  } catch {
    return line.trim()
  }
}
