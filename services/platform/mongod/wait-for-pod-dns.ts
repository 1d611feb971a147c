/** Waiting until the cluster's DNS says where this pod is. */
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Resolves when `host` leads to `address`. A mongod that starts earlier does not find itself in the configuration of its
 * set, and nothing makes a set of one look again. Rejects after `limitMs`, with what the name led to.
 */
export async function waitForOwnName(
  host: string,
  address: string,
  lookup: (host: string) => Promise<readonly { address: string }[]>,
  limitMs: number,
): Promise<void> {
  const deadline = performance.now() + limitMs
  for (;;) {
    const found = await lookup(host).catch(() => [])
    if (found.some(entry => entry.address === address)) return
    const led = found.map(entry => entry.address).join(', ') || 'nothing'
    if (performance.now() > deadline) throw new Error(`${host} leads to ${led} and not to ${address}, this pod`)
    await sleep(250)
  }
}
