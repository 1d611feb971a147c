/** The hosts that take mail for BOUNCE_DOMAIN: an MX record of a return path may name any of them. */
import type { Lookup } from './lookup.ts'
import { parseMx } from './record.ts'

/** `complete` is false while DNS does not answer: other hosts may be ours then. */
export interface InboundHosts {
  hosts: string[]
  complete: boolean
}

/** BOUNCE_DOMAIN, which has an address record of its own, and the hosts of its MX records. Never rejects. */
export async function inboundHosts(bounceDomain: string, lookup: Lookup): Promise<InboundHosts> {
  const answer = await lookup(bounceDomain, 'MX')
  const named = answer.kind === 'found' ? answer.values.map(value => parseMx(value).host).filter(Boolean) : []
  return { hosts: [...new Set([bounceDomain, ...named])], complete: answer.kind !== 'temporary' }
}
