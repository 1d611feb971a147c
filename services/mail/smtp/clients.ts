/** Counts open connections, in all and by address. */
import { clientNetwork } from '../../platform/networks.ts'

/** The connections of one process. */
export interface Clients {
  /** Counts a connection of this address, unless that would be one too many; returns the way to count it out. */
  enter(address: string): (() => void) | undefined
  readonly open: number
}

/** Makes a counter with these limits. */
export function createClients(most: number, mostPerAddress: number): Clients {
  const perAddress = new Map<string, number>()
  let open = 0
  return {
    enter(ip) {
      const address = clientNetwork(ip)
      const there = perAddress.get(address) ?? 0
      if (open >= most || there >= mostPerAddress) return undefined
      open++
      perAddress.set(address, there + 1)
      let inside = true
      return () => {
        if (!inside) return
        inside = false
        open--
        const left = (perAddress.get(address) ?? 1) - 1
        if (left > 0) perAddress.set(address, left)
        else perAddress.delete(address)
      }
    },
    get open() {
      return open
    },
  }
}
