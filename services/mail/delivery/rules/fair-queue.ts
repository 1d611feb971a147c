/**
 * Decides whose mail is taken next: deficit round robin with a quantum of one message, over accounts first and over the
 * destinations of an account second. An account with ten messages waits for one turn of the others, however many they
 * have. Destinations without room lose no turn: their flows step aside until there is room again. Pure and in memory;
 * the deliveries themselves stay in the database.
 */
import type { Flow, Lane } from '../../store/rules/flow.ts'

/** How many messages of a flow are to be taken. */
export interface Draw {
  flow: Flow
  count: number
}

/** Whether an account may be given `more` messages when `all` accounts together are given `all`. */
export type Admits = (userId: string, more: number, all: number) => boolean

/** Takes the right to one message of a flow; false: it has none, and the flow is added again when it has. */
export type TakeOne = (flow: Flow) => boolean

/** What one draw asks before a turn. */
interface Limits {
  leftAt(site: string): number
  takeOne: TakeOne
  admits(userId: string): boolean
}

/** Of five turns one is bulk mail's while both kinds wait, so that neither starves. */
const TURNS = 5

interface Account {
  user_id: string
  /** In the order of their turns. */
  flows: Map<string, Flow>
}

/** Accounts with flows that may be taken from, in the order of their turns. */
type Turns = Map<string, Account>

/** The flows that are known to have mail ready. */
export class FairQueue {
  readonly #known = new Map<string, Flow>()
  readonly #urgent: Turns = new Map()
  readonly #bulk: Turns = new Map()
  /** Flows of sites that had no room at their turn. */
  readonly #aside = new Map<string, Map<string, Flow>>()
  #turn = 0

  /** Number of flows. */
  get size(): number {
    return this.#known.size
  }

  has(name: string): boolean {
    return this.#known.has(name)
  }

  /** Adds a flow that has mail ready; one that is known keeps its place. */
  add(flow: Flow): void {
    if (this.#known.has(flow.name)) return
    this.#known.set(flow.name, flow)
    const aside = this.#aside.get(flow.site)
    if (aside) aside.set(flow.name, flow)
    else this.#enter(flow)
  }

  /** Forgets a flow: nothing of it is ready any more. */
  remove(name: string): void {
    const flow = this.#known.get(name)
    if (!flow) return
    this.#known.delete(name)
    const aside = this.#aside.get(flow.site)
    if (aside?.delete(name) && aside.size === 0) this.#aside.delete(flow.site)
    const turns = this.#turnsOf(flow.lane)
    const account = turns.get(flow.user_id)
    if (account?.flows.delete(name) && account.flows.size === 0) turns.delete(flow.user_id)
  }

  /** Forgets the flows that do not pass the test. */
  retain(test: (flow: Flow) => boolean): void {
    for (const flow of [...this.#known.values()]) if (!test(flow)) this.remove(flow.name)
  }

  /** A site has room again: its flows get turns. */
  readmit(site: string): void {
    const flows = this.#aside.get(site)
    if (!flows) return
    this.#aside.delete(site)
    for (const flow of flows.values()) this.#enter(flow)
  }

  /** Sites whose flows stepped aside. */
  sitesAside(): IterableIterator<string> {
    return this.#aside.keys()
  }

  /**
   * Divides `room` messages among the flows; `roomAt` is asked once for each site. An account that `admits` refuses is
   * passed over and keeps its turn; a flow that `takeOne` refuses is forgotten.
   */
  draw(
    room: number,
    roomAt: (site: string) => number,
    admits: Admits = () => true,
    takeOne: TakeOne = () => true,
  ): Draw[] {
    const draws = new Map<string, Draw>()
    const given = new Map<string, number>()
    const left = new Map<string, number>()
    const leftAt = (site: string) => {
      const known = left.get(site) ?? roomAt(site)
      left.set(site, known)
      return known
    }
    for (let all = 1; all <= room; all++) {
      const flow = this.#next({ leftAt, takeOne, admits: user => admits(user, (given.get(user) ?? 0) + 1, all) })
      if (!flow) break
      given.set(flow.user_id, (given.get(flow.user_id) ?? 0) + 1)
      left.set(flow.site, leftAt(flow.site) - 1)
      const draw = draws.get(flow.name)
      if (draw) draw.count++
      else draws.set(flow.name, { flow, count: 1 })
    }
    return [...draws.values()]
  }

  #next(limits: Limits): Flow | undefined {
    const bulkFirst = this.#turn++ % TURNS === TURNS - 1
    const [first, second] = bulkFirst ? [this.#bulk, this.#urgent] : [this.#urgent, this.#bulk]
    return this.#nextOf(first, limits) ?? this.#nextOf(second, limits)
  }

  #nextOf(turns: Turns, limits: Limits): Flow | undefined {
    for (const [user, account] of turns) {
      if (!limits.admits(user)) continue
      turns.delete(user)
      const flow = this.#nextFlow(account, limits)
      if (account.flows.size > 0) turns.set(user, account) // at the end: the others come first
      if (flow) return flow
    }
    return undefined
  }

  /** The account's next flow with room; those without step aside. */
  #nextFlow({ flows }: Account, { leftAt, takeOne }: Limits): Flow | undefined {
    for (const [name, flow] of flows) {
      flows.delete(name)
      if (leftAt(flow.site) > 0) {
        if (takeOne(flow)) {
          flows.set(name, flow)
          return flow
        }
        this.#known.delete(name)
        continue
      }
      const aside = this.#aside.get(flow.site) ?? new Map<string, Flow>()
      this.#aside.set(flow.site, aside.set(name, flow))
    }
    return undefined
  }

  #enter(flow: Flow): void {
    const turns = this.#turnsOf(flow.lane)
    const account = turns.get(flow.user_id)
    if (account) account.flows.set(flow.name, flow)
    else turns.set(flow.user_id, { user_id: flow.user_id, flows: new Map([[flow.name, flow]]) })
  }

  #turnsOf(lane: Lane): Turns {
    return lane === 'bulk' ? this.#bulk : this.#urgent
  }
}
