/** New mail over SMTP while other mail waits: when each message was submitted, and when the receiver got it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { PASSWORD } from '../../support/accounts/accounts-and-domains.ts'
import { openSender } from '../../support/mail/load-sender.ts'
import type { Account, Internet } from './testbed.ts'

/** Messages to send. Recipient number n is `<tag>.<n>@<domain>`. */
export interface NewMailPlan {
  port: number
  account: Account
  tag: string
  perSecond: number
  count: number
  domainOf(n: number): string
}

/** Waiting times in milliseconds, from the first command to the receiver; without those that did not arrive. */
export interface NewMailReport {
  sent: number
  arrived: number
  p50: number | undefined
  p99: number | undefined
  most: number | undefined
}

/** Sends at the rate, and returns when each was submitted. Rejects if one is rejected. */
export async function sendNewMail(plan: NewMailPlan): Promise<number[]> {
  const sender = await openSender(plan.port, plan.account.name, PASSWORD)
  const started = Date.now()
  const times: number[] = []
  for (let n = 0; n < plan.count; n++) {
    await sleep(Math.max(0, started + (n * 1000) / plan.perSecond - Date.now()))
    times.push(Date.now())
    const from = `a@${plan.account.domain}`
    const to = `${plan.tag}.${n}@${plan.domainOf(n)}`
    const reply = await sender.send(
      `MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`,
      `From: ${from}\r\nTo: ${to}\r\nSubject: fresh ${n}\r\n\r\nfresh mail\r\n.\r\n`,
    )
    if (!reply.startsWith('250')) throw new Error(`fresh mail was refused: ${reply}`)
  }
  sender.close()
  return times
}

/** Waits until all have arrived, or for `patienceMs`, and returns how long each took. */
export async function awaitNewMail(
  internet: Internet,
  tag: string,
  times: readonly number[],
  patienceMs: number,
): Promise<NewMailReport> {
  const until = Date.now() + patienceMs
  let ledger = await internet.ledger(tag)
  while (ledger.size < times.length && Date.now() < until) {
    await sleep(200)
    ledger = await internet.ledger(tag)
  }
  const waits = times
    .flatMap((sent, n) => {
      const arrival = ledger.get(n)
      return arrival ? [arrival.at - sent] : [Number.POSITIVE_INFINITY]
    })
    .toSorted((x, y) => x - y)
  const at = (share: number) => {
    const wait = waits[Math.min(waits.length - 1, Math.floor(waits.length * share))]
    return wait === undefined || wait === Number.POSITIVE_INFINITY ? undefined : wait
  }
  return { sent: times.length, arrived: ledger.size, p50: at(0.5), p99: at(0.99), most: at(1) }
}

/** A waiting time for a table: in milliseconds, or a note on one that never ended. */
export function waited(ms: number | undefined): string {
  if (ms === undefined) return 'not all arrived'
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
}
