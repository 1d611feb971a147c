/** The inbound service of a process: listeners that take reports, and the loop that processes them. */

import type { Foundation } from '../../platform/process/run.ts'
import { createLateReport } from '../delivery/failure-report.ts'
import { readBody } from '../store/bodies.ts'
import { cellsOf } from '../store/cells.ts'
import { wakeOf } from '../store/wake.ts'
import type { Listener } from '../submission/smtp/listener.ts'
import { createEnqueue } from '../submission/store/store-accepted.ts'
import { addSuppressions } from '../suppressions/add-suppressions.ts'
import { startNoting } from './note-refusals.ts'
import { addressContext, type ProcessDeps, processInbound } from './process-inbound.ts'
import { startProcessing } from './process-loop.ts'
import type { Suppress } from './record-report.ts'
import { type InboundAddress, LIMITS, readInboundAddress } from './rules/inbound-address.ts'
import { type ListenerLimits, listenForReports } from './smtp/listener.ts'
import { countFor, insertInbound } from './store/inbound-messages.ts'

/** What an entry point and tests set besides the configuration. */
export interface InboundSetup {
  /** Number of slots of this database. */
  slots: number
  limits?: Partial<ListenerLimits>
}

/** Starts listeners and processing for BOUNCE_DOMAIN. */
export async function startInbound(
  foundation: Foundation,
  bounceDomain: string,
  { slots, limits = {} }: InboundSetup,
): Promise<Listener> {
  const { config, log, metrics, mongo, clock, secrets } = foundation
  const { db } = mongo
  const refusals = startNoting(foundation)
  const deps: ProcessDeps = {
    ...{ mongo, clock, secrets, bounceDomain, logDays: config.RETENTION_LOG_DAYS },
    reportToSender: lateReportOf(foundation, slots),
    suppress: suppressOf(foundation),
    noteRefusal: refusals.note,
  }
  const processing = startProcessing({ db, clock, log, metrics, process: doc => processInbound(deps, doc) })
  const isFull = async ({ kind, key }: InboundAddress) => {
    const { messages, perMs } = LIMITS[kind]
    return (await countFor(db, key, new Date(clock.now().getTime() - perMs), messages)) >= messages
  }
  try {
    const listener = await listenForReports({
      ...{ config, log, metrics, limits, isFull, isUp: mongo.isUp, now: () => clock.now() },
      readAddress: address => readInboundAddress(address, addressContext(deps, clock.now())),
      async store(message) {
        await insertInbound(db, message)
        processing.wake()
      },
    })
    return {
      ports: listener.ports,
      async stop() {
        await listener.stop()
        await processing.stop()
        await refusals.stop()
      },
    }
  } catch (error) {
    await processing.stop()
    await refusals.stop()
    throw error
  }
}

function suppressOf({ mongo: { db }, clock, log }: Foundation): Suppress {
  return async ({ messageId: emailId, ...entry }) => {
    const added = await addSuppressions({ db, clock }, [{ ...entry, emailId, origin: 'report' }])
    if (added > 0) log.info({ m: emailId, reason: entry.reason }, 'an address is suppressed after a report')
  }
}

function lateReportOf({ config, log, metrics, mongo, clock }: Foundation, slots: number) {
  const wake = wakeOf(mongo)
  const enqueue = createEnqueue({
    ...{ mongo, log, metrics, slots, relay: config.DELIVERY_MODE === 'relay' },
    ...{ bodyDays: config.RETENTION_BODY_DAYS, logDays: config.RETENTION_LOG_DAYS },
    wake: (ids, flows) => wake.ring(ids, flows),
  })
  return createLateReport({
    ...{ enqueue, clock, cells: cellsOf(mongo.db), hostname: config.MAIL_HOSTNAME },
    readRaw: (id, parts) => readBody(mongo, id, parts),
    from: config.SYSTEM_MAIL_FROM ?? `postmaster@${config.MAIL_HOSTNAME}`,
  })
}
