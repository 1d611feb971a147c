/** Counts open connections, in all and by address. */
import { addTo } from '../../../platform/count-by-key.ts'
import { clientNetwork } from '../../../platform/network/ip-networks.ts'

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
      if (open >= most || (perAddress.get(address) ?? 0) >= mostPerAddress) return undefined
      open++
      addTo(perAddress, address, 1)
      let inside = true
      return () => {
        if (!inside) return
        inside = false
        open--
        addTo(perAddress, address, -1)
      }
    },
    get open() {
      return open
    },
  }
}
