/** Waits until the cluster's DNS resolves the name of this pod. */
import { poll } from '../concurrency/retry.ts'

/**
 * Resolves when `host` resolves to `address`. A mongod that starts earlier does not find itself in the configuration of
 * its set, and a set of one does not look again. Rejects after `limitMs`, with the addresses of the name.
 */
export async function waitForOwnName(
  host: string,
  address: string,
  lookup: (host: string) => Promise<readonly { address: string }[]>,
  limitMs: number,
): Promise<void> {
  let led = ''
  const leadsHere = async () => {
    const found = await lookup(host).catch(() => [])
    led = found.map(entry => entry.address).join(', ') || 'nothing'
    return found.some(entry => entry.address === address)
  }
  if (!(await poll(leadsHere, { pauseMs: 250, timeoutMs: limitMs })))
    throw new Error(`${host} leads to ${led} and not to ${address}, this pod`)
}
