/** Signed queries and updates (RFC 2136, TSIG RFC 8945) over TCP, and what their failures mean to callers. */
import { randomInt } from 'node:crypto'
import { type Sentence, sentence } from '../../../../platform/sentences/sentence.ts'
import {
  CLASS,
  type Decoded,
  decodeMessage,
  encodeMessage,
  RCODES,
  type ResourceRecord,
  TYPE,
  WireError,
} from '../../dns-message.ts'
import { exchangeTcp, type ServerAddress, TransportError } from '../../dns-transport.ts'
import { signMessage, TsigError, type TsigKey, verifyAnswer } from '../../tsig.ts'
import { type CallBudget, DnsProviderError, type Zone } from '../provider.ts'
import type { CredentialsOf } from '../rules/dns-credentials.ts'

/** Dependencies of the adapter. */
export interface UpdateContext {
  budget: CallBudget
  now: () => Date
  /** Counts a finished exchange; outcome is `ok` or the kind of the error. */
  counted: (operation: string, outcome: string) => void
  /** Resolves `host[:port]` to an address that may be contacted; throws {@link DnsProviderError}. */
  serverAddress: (server: string) => Promise<ServerAddress>
  /** Milliseconds for one exchange; default 5 s. */
  timeoutMs?: number
}

/** Response codes (RFC 1035 4.1.1, RFC 2136 2.2). */
export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  YXDOMAIN: 6,
  YXRRSET: 7,
  NXRRSET: 8,
  NOTAUTH: 9,
  NOTZONE: 10,
} as const
const BADKEY = 17

const TIMEOUT_MS = 5_000
const OPCODE_UPDATE = 5 << 11
/** Placeholder for the name of a zone that is not known yet. */
const THE_ZONE = sentence('dns_provider.the_zone')
/** The server cannot answer now. If these counted as "not our zone", records would be left in the zone. */
const FAILURES: ReadonlySet<number> = new Set([RCODE.FORMERR, RCODE.SERVFAIL, RCODE.NOTIMP])

interface Sections {
  flags: number
  questions: { name: string; type: number; class: number }[]
  answers: readonly ResourceRecord[]
  authorities: readonly ResourceRecord[]
}

/** One key at one server. All methods throw {@link DnsProviderError}. */
export class Rfc2136Client {
  readonly #server: string
  readonly #key: TsigKey
  readonly #context: UpdateContext

  constructor({ server, key_name, key_algorithm, key_secret }: CredentialsOf<'rfc2136'>, context: UpdateContext) {
    this.#server = server
    this.#key = { name: key_name, algorithm: key_algorithm, secret: Buffer.from(key_secret, 'base64') }
    this.#context = context
  }

  async query(name: string, type: number): Promise<Decoded> {
    const questions = [{ name, type, class: CLASS.IN }]
    const answer = await this.#exchange('query', { flags: 0, questions, answers: [], authorities: [] })
    if (FAILURES.has(answer.rcode)) throw serverFailure(answer.rcode)
    return answer
  }

  /** Applies the updates if all prerequisites hold, else throws `changed`. */
  async update(
    zone: Zone,
    prerequisites: readonly ResourceRecord[],
    updates: readonly ResourceRecord[],
  ): Promise<void> {
    const answer = await this.#exchange('update', {
      flags: OPCODE_UPDATE,
      questions: [{ name: zone.name, type: TYPE.SOA, class: CLASS.IN }],
      answers: prerequisites,
      authorities: updates,
    }).catch(asMissingPermission)
    if (answer.rcode !== RCODE.NOERROR) throw updateRefused(answer.rcode, zone.name)
  }

  async #exchange(operation: 'query' | 'update', sections: Sections): Promise<Decoded> {
    await this.#context.budget.take()
    const isWrite = operation === 'update'
    try {
      const answer = await this.#signedExchange(sections, isWrite)
      this.#context.counted(operation, 'ok')
      return answer
    } catch (error) {
      const known = toProviderError(error, isWrite)
      this.#context.counted(operation, known.kind)
      throw known
    }
  }

  async #signedExchange(sections: Sections, isWrite: boolean): Promise<Decoded> {
    const { serverAddress, now, timeoutMs = TIMEOUT_MS } = this.#context
    const address = await serverAddress(this.#server)
    const { answers, authorities, ...rest } = sections
    const plain = encodeMessage({
      id: randomInt(0x10000),
      ...rest,
      answers: [...answers],
      authorities: [...authorities],
      additionals: [],
    })
    const { bytes, mac } = signMessage(plain, this.#key, now())
    const received = await exchangeTcp(address, bytes, timeoutMs)
    const answer = decodeMessage(received)
    if (answer.id !== plain.readUInt16BE(0)) throw new TransportError(sentence('dns.other_answer_id'))
    if (answer.additionals.at(-1)?.type !== TYPE.TSIG) refuseUnsigned(answer, isWrite)
    verifyAnswer(received, answer, this.#key, mac, now())
    return answer
  }
}

/** Servers send these errors without a signature; any other unsigned answer fails the verification. */
function refuseUnsigned({ rcode }: Decoded, isWrite: boolean): void {
  if (rcode === RCODE.REFUSED || rcode === RCODE.NOTAUTH) throw updateRefused(rcode, THE_ZONE)
  if (FAILURES.has(rcode)) throw isWrite ? updateRefused(rcode, THE_ZONE) : serverFailure(rcode)
}

function toProviderError(error: unknown, isWrite: boolean): DnsProviderError {
  if (error instanceof DnsProviderError) return error
  if (error instanceof TsigError)
    return new DnsProviderError(
      'rfc2136',
      error.code === undefined && isWrite ? 'unknown_outcome' : 'auth',
      sentence('dns_provider.tsig', { reason: error.sentence }),
      error.code === BADKEY ? { code: 'BADKEY' } : {},
    )
  if (error instanceof TransportError || error instanceof WireError) {
    const isCertain = !isWrite || isRefused(error)
    return new DnsProviderError(
      'rfc2136',
      isCertain ? 'unavailable' : 'unknown_outcome',
      sentence('dns_provider.no_answer', {
        reason: error instanceof TransportError ? error.sentence : sentence('dns.answer_unreadable'),
      }),
    )
  }
  throw error
}

/** Knot answers BADKEY for a key that it knows, as earlier queries showed, but that may not update. */
function asMissingPermission(error: unknown): never {
  if (error instanceof DnsProviderError && error.code === 'BADKEY') throw updateRefused(RCODE.REFUSED, THE_ZONE)
  throw error
}

function isRefused(error: TransportError | WireError): boolean {
  return error instanceof TransportError && error.sentence.code === 'dns.connection_refused'
}

function serverFailure(rcode: number): DnsProviderError {
  const code = nameOf(rcode)
  return new DnsProviderError('rfc2136', 'unavailable', sentence('dns_provider.rcode', { code }), { code })
}

/** The error of a response code other than NOERROR. */
export function updateRefused(rcode: number, zone: Sentence | string): DnsProviderError {
  const code = nameOf(rcode)
  switch (rcode) {
    case RCODE.YXDOMAIN:
    case RCODE.YXRRSET:
    case RCODE.NXRRSET:
      return new DnsProviderError('rfc2136', 'changed', sentence('dns_provider.records_changed'), { code })
    case RCODE.REFUSED: {
      const reason = sentence('dns_provider.update_refused', { zone })
      return new DnsProviderError('rfc2136', 'permission', reason, { code, permission: 'update' })
    }
    case RCODE.NOTAUTH:
    case RCODE.NOTZONE: {
      const reason = sentence('dns_provider.not_authoritative', { zone })
      return new DnsProviderError('rfc2136', 'zone_not_found', reason, { code })
    }
    default: {
      const kind = rcode === RCODE.SERVFAIL ? 'unknown_outcome' : 'invalid'
      return new DnsProviderError('rfc2136', kind, sentence('dns_provider.rcode', { code }), { code })
    }
  }
}

function nameOf(rcode: number): string {
  return RCODES[rcode] ?? `RCODE${rcode}`
}
