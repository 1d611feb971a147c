/** The loop detector: repairs that never last mean that another program writes the same records. */

import { DAY_MS } from '../../../platform/durations.ts'

/** Stored state of the loop detector. */
export interface RepairMemory {
  repairs?: readonly Date[]
  repairs_paused_until?: Date
}

/** This many repairs within a day mean that another program reverts them. */
const MAX_REPAIRS = 5

export function mayRepair(memory: RepairMemory, now: Date): { allowed: true } | { allowed: false; until: Date } {
  const until = memory.repairs_paused_until
  return until && until > now ? { allowed: false, until } : { allowed: true }
}

/** The state after a repair; the fifth within a day pauses repairs for a day. */
export function rememberRepair(memory: RepairMemory, now: Date): { repairs: Date[]; repairs_paused_until?: Date } {
  const repairs = [...(memory.repairs ?? []), now].filter(at => now.getTime() - at.getTime() < DAY_MS)
  if (repairs.length < MAX_REPAIRS) return { repairs }
  return { repairs: [], repairs_paused_until: new Date(now.getTime() + DAY_MS) }
}
