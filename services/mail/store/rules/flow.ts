/**
 * Names of flows. A flow is the waiting mail of one account for one destination in one lane; deliveries that are ready
 * carry its name in the database, so that an index keeps each flow's deliveries together, oldest first.
 *
 * Direct: `d <slot> <site> <user> <lane>`. Relay: `r <user> <lane>`, because everything has the same next hop. Parts are
 * separated by a space, which occurs in no domain and no account id; a range of names is the flows of a slot or site.
 */

/** Order of delivery: bulk mail gets one turn of five while other mail waits. */
export type Lane = 'system' | 'transactional' | 'bulk'

/** What decides the flow of a delivery. */
export interface FlowParts {
  slot: number
  site: string
  user_id: string
  lane: Lane
}

/** The site of every flow in relay mode. */
export const RELAY_SITE = 'relay'

/** A flow by its parts. `slot` is undefined in relay mode, where a flow spans all slots. */
export interface Flow {
  /** Its name. */
  name: string
  slot: number | undefined
  site: string
  user_id: string
  lane: Lane
}

/** Names from `from` (inclusive) to `to` (exclusive) in the order of MongoDB's binary string comparison. */
export interface FlowRange {
  from: string
  to: string
}

const LANES: readonly Lane[] = ['system', 'transactional', 'bulk']
/** Follows the separator directly, so `prefix + ' '` to `prefix + AFTER` holds what begins with `prefix + ' '`. */
const AFTER = '!'

/** The name of the flow that a delivery belongs to. */
export function flowOf({ slot, site, user_id, lane }: FlowParts, relay: boolean): string {
  return relay ? `r ${user_id} ${lane}` : `d ${slotName(slot)} ${site} ${user_id} ${lane}`
}

/** Reads a name; undefined when it was made for the other delivery mode or is no name of a flow. */
export function parseFlow(name: string, relay: boolean): Flow | undefined {
  const [mode, ...parts] = name.split(' ')
  const lane = LANES.find(one => one === parts.at(-1))
  if (!lane) return undefined
  if (relay && mode === 'r' && parts.length === 2)
    return { name, slot: undefined, site: RELAY_SITE, user_id: parts[0] ?? '', lane }
  if (!relay && mode === 'd' && parts.length === 4)
    return { name, slot: Number(parts[0]), site: parts[1] ?? '', user_id: parts[2] ?? '', lane }
  return undefined
}

/** The flows of these slots, as few ranges as possible, in order. In relay mode one range, whatever the slots. */
export function rangesOfSlots(slots: Iterable<number>, relay: boolean): FlowRange[] {
  if (relay) return [{ from: 'r ', to: `r${AFTER}` }]
  const ranges: FlowRange[] = []
  let last: number | undefined
  for (const slot of [...slots].toSorted((a, b) => a - b)) {
    const range = ranges.at(-1)
    const to = `d ${slotName(slot)}${AFTER}`
    if (range && last === slot - 1) range.to = to
    else ranges.push({ from: `d ${slotName(slot)} `, to })
    last = slot
  }
  return ranges
}

/** The flows of one site in these slots, one range for each. In relay mode the range of everything, whatever the slots. */
export function rangesOfSite(site: string, slots: readonly number[], relay: boolean): FlowRange[] {
  if (relay) return rangesOfSlots(slots, relay)
  return slots.map(slot => {
    const prefix = `d ${slotName(slot)} ${site}`
    return { from: `${prefix} `, to: `${prefix}${AFTER}` }
  })
}

/** The names that were made for the other delivery mode. */
export function rangeOfOtherMode(relay: boolean): FlowRange {
  const mode = relay ? 'd' : 'r'
  return { from: `${mode} `, to: `${mode}${AFTER}` }
}

/** The flows of held deliveries: no worker claims from them. They are `h <hold>`. */
export const HELD_FLOWS: FlowRange = { from: 'h ', to: `h${AFTER}` }

/** The flow of what a hold has. */
export function heldFlow(holdId: string): string {
  return `h ${holdId}`
}

/** The hold of such a flow; the name of any other flow gives no id of a hold. */
export function holdOfFlow(flow: string): string {
  return flow.startsWith('h ') ? flow.slice(2) : ''
}

/** Four digits: there are at most 4,096 slots (process/config.ts). */
function slotName(slot: number): string {
  return String(slot).padStart(4, '0')
}
