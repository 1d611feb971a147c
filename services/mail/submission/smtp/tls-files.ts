/** The certificate of the listeners: read from files, and again when they change. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { unwatchFile, watchFile } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { Log } from '../../../platform/observability/log.ts'

/** Certificate chain and key, PEM. They belong together. */
export interface TlsPair {
  cert: string
  key: string
}

/** How often the files are checked. Polling, because a mounted Secret changes by a swap of links two folders up. */
const POLL_MS = 2_000

/** Reads both files. Rejects with a sentence for people when one is missing, broken, or they do not belong together. */
export async function readTlsFiles(certPath: string, keyPath: string): Promise<TlsPair> {
  const read = (path: string, setting: string) =>
    readFile(path, 'utf8').catch((error: Error) => {
      throw new Error(`cannot read ${setting}: ${error.message}`)
    })
  const [cert, key] = await Promise.all([read(certPath, 'SUBMISSION_TLS_CERT'), read(keyPath, 'SUBMISSION_TLS_KEY')])
  if (!belongTogether(cert, key))
    throw new Error('SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY are not a PEM certificate and its key')
  return { cert, key }
}

/** End of a certificate in seconds since 1970; of a chain that of its first one. */
export function expiryOf(pem: string): number {
  return Date.parse(new X509Certificate(pem).validTo) / 1_000
}

function belongTogether(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}

/**
 * Calls `changed` with each new pair. Files that do not fit are logged and left alone until they change again: the
 * two are rarely written in the same moment. Returns the way to stop.
 */
export function watchTlsFiles(
  certPath: string,
  keyPath: string,
  log: Log,
  changed: (pair: TlsPair) => void,
  pollMs: number = POLL_MS,
): () => void {
  let last = ''
  const reload = () =>
    readTlsFiles(certPath, keyPath)
      .then(pair => {
        if (pair.cert + pair.key === last) return // both files changed: the second notice brings nothing new
        last = pair.cert + pair.key
        changed(pair)
        log.info({ valid_to: new X509Certificate(pair.cert).validTo }, 'TLS certificate read again')
      })
      .catch((error: unknown) => log.warn({ err: error }, 'changed TLS files cannot be used; the old ones stay'))
  const listener = () => void reload()
  for (const path of [certPath, keyPath]) watchFile(path, { interval: pollMs, persistent: false }, listener)
  return () => {
    for (const path of [certPath, keyPath]) unwatchFile(path, listener)
  }
}
