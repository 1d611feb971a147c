/** Groups of receiving domains that behave alike, and how their names and loopback addresses follow from a number. */

/** A group of domains with the same behaviour. Each domain has one MX host; several domains may share a host. */
export interface SiteClass {
  /** First part of its domains: lower-case letters and digits. */
  name: string
  domains: number
  /** Number of hosts; default: one for each domain. */
  hosts?: number
  /** Delay of every reply, in milliseconds. */
  replyMs?: number
  /** Messages per second that one host accepts; default: no limit. */
  perSecond?: number
  /** What happens above `perSecond`: the final reply waits (default), or a 421 or 451 with 4.7.x. */
  over?: 'wait' | '421' | '451'
  /** Open connections of one host; a further one gets 421 4.7.0 as its greeting. */
  connections?: number
  /** `refuse`: no process listens. `silent`: connections are accepted without any reply. */
  fault?: 'refuse' | 'silent'
  /** Share of recipients answered with 451 4.2.0. */
  defer?: number
  /** Share of recipients answered with 550 5.1.1. */
  reject?: number
  /** Share of messages whose connection is cut at the final dot: every second one after the message was accepted. */
  cut?: number
}

/** Counters of one class since the start. */
export interface ClassCounts {
  received: number
  /** Recipients that got a message more than once. */
  duplicates: number
  connections: number
  open: number
  openMost: number
  deferred: number
  rejected: number
  /** Commands answered with a rate or connection limit. */
  limited: number
  cutBefore: number
  cutAfter: number
  /** Messages received by second of the epoch. */
  perSecond: Map<number, number>
}

/** The suffix of all domains of the benchmark. */
export const ZONE = 'direct.test'

/** Domain number `n` of a class, as in `fine-12.direct.test`. */
export function domainName(name: string, n: number): string {
  return `${name}-${n}.${ZONE}`
}

/** Address of a host: the class chooses the second octet, the number of the host the last two. */
export function addressOf(classIndex: number, host: number): string {
  return `127.${10 + classIndex}.${(host >> 8) & 255}.${host & 255}`
}

/** Number of hosts of a class. */
export function hostsOf({ domains, hosts }: SiteClass): number {
  return Math.min(hosts ?? domains, 65_536)
}

/** Random numbers from 0 to 1 that repeat from run to run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Draws ranks from 0 to `size` - 1 with probability proportional to 1 / (rank + 1). */
export function createZipf(size: number, random: () => number): () => number {
  const sums: number[] = []
  let sum = 0
  for (let rank = 1; rank <= size; rank++) {
    sum += 1 / rank
    sums.push(sum)
  }
  return () => {
    const wanted = random() * sum
    let [low, high] = [0, size - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}
