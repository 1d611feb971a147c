/** The tools: names, descriptions and inputs for models. What they do are operations of the API. */
import { z } from 'zod'
import type { AnyEndpoint } from '../../../platform/http/endpoint.ts'
import { ProblemError } from '../../../platform/problems.ts'
import { sentence } from '../../../platform/sentences/sentence.ts'
import { getDomainOperation, listDomainsOperation } from '../../domains/http/domains-contract.ts'
import type { Access } from '../../http/shared/access.ts'
import type { OwnAnswer, OwnInput } from '../../http/shared/own-operations.ts'
import { getEmail, listEmailEvents } from '../../log/http/emails-contract.ts'
import { explainEmail } from '../../log/http/explain-contract.ts'
import { listEmails, messageFilters } from '../../log/http/list-contract.ts'
import { getStats } from '../../log/http/stats-contract.ts'
import { sendEmail } from '../../submission/http/send-contract.ts'
import { listSuppressionsOperation } from '../../suppressions/http/suppressions-contract.ts'
import { SUPPRESSION_REASONS } from '../../suppressions/rules/suppression.ts'
import { hasRecipient, newestEvents, ofRecipient } from '../rules/message-history.ts'
import { MAX_ITEMS } from '../rules/tool-result.ts'

/** Runs an operation of the API for the caller of the request. */
export type Own = <E extends AnyEndpoint<Access>>(operation: E, input?: OwnInput) => Promise<OwnAnswer<E>>

/** A tool. */
export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  name: string
  title: string
  description: string
  input: Schema
  /** Sends mail; only tokens with the scope `mcp:send` have it. */
  sends?: true
  run(own: Own, input: z.output<Schema>): Promise<object>
}

const tool = <Schema extends z.ZodObject>(given: Tool<Schema>): Tool => given as unknown as Tool

/** Fewer than in the API: a model reads every one of them. */
const limit = z.number().int().min(1).max(25).default(10).describe('Most items of this page.')
const text = (description: string) => z.string().min(1).max(1_000).optional().describe(description)
const id = z.string().min(1).max(64).describe('Id of a message, as in em_….')
const addresses = (description: string) => z.array(z.string().max(1_000)).max(50).optional().describe(description)

/** All tools. */
export const TOOLS: readonly Tool[] = [
  tool({
    name: 'list_messages',
    title: 'List messages',
    description: 'Lists messages of the account, newest first. Without filters: the latest ones.',
    input: z.strictObject({
      q: text('Words, addresses or ids that the message has, at least 2 characters.'),
      status: messageFilters.shape.status,
      from: text('Address of the sender.'),
      to: text('Address of a recipient.'),
      domain: text('Sending domain.'),
      tag: text('Name of a tag, or name:value.'),
      since: text('Accepted at or after this time, as in 2026-11-24T00:00:00Z.'),
      until: text('Accepted before this time.'),
      after: text('`next` of the page before.'),
      limit,
    }),
    run: (own, query) => own(listEmails, { query }),
  }),
  tool({
    name: 'get_message',
    title: 'Show a message',
    description:
      'One message with the state of every recipient and its newest events, oldest first. Its body is not shown.',
    input: z.strictObject({
      id,
      recipient: text('Only this recipient.'),
      limit: z.number().int().min(1).max(MAX_ITEMS).default(MAX_ITEMS).describe('Most events.'),
    }),
    async run(own, { id, recipient, limit }) {
      const params = { id }
      const message = await own(getEmail, { params })
      const { data } = await own(listEmailEvents, { params })
      if (recipient !== undefined && !hasRecipient(message, recipient))
        throw new ProblemError('not_found', sentence('detail.not_a_recipient', { address: recipient }))
      const { events, leftOut } = newestEvents(data, { recipient, limit })
      return { ...(leftOut && { shortened: true }), message: ofRecipient(message, recipient), events }
    },
  }),
  tool({
    name: 'explain_message',
    title: 'Explain what became of a message',
    description:
      'For each recipient of a message: what happened, why, on whose side the reason is, what to do next, and the evidence.',
    input: z.strictObject({ id }),
    run: (own, params) => own(explainEmail, { params }),
  }),
  tool({
    name: 'list_domains',
    title: 'List sending domains',
    description: 'The sending domains of the account: whether they are verified, and whether they may send.',
    input: z.strictObject({ after: text('Id of the last domain of the page before.'), limit }),
    async run(own, query) {
      const { data, has_more } = await own(listDomainsOperation, { query })
      const shown = data.map(({ id, name, status, may_send, verified_at }) => ({
        id,
        name,
        status,
        may_send,
        verified_at,
      }))
      return { data: shown, has_more }
    },
  }),
  tool({
    name: 'check_domain',
    title: 'Show the DNS records of a domain',
    description:
      'The DNS records that a sending domain needs, with what the last check found, and receivers that refused its mail lately. Changes nothing and starts no check.',
    input: z.strictObject({ domain: z.string().min(1).max(255).describe('Name or id of the domain.') }),
    async run(own, { domain }) {
      const {
        user_id: _user,
        dkim: _dkim,
        managed_by: _managed,
        resource: _resource,
        records,
        ...shown
      } = await own(getDomainOperation, { params: { id: domain } })
      return { ...shown, records: records.map(({ zone: _zone, zone_host: _host, value: _value, ...record }) => record) }
    },
  }),
  tool({
    name: 'list_suppressions',
    title: 'List suppressed addresses',
    description: 'Addresses that the account sends nothing to, newest first, with the reason.',
    input: z.strictObject({
      email: text('Only this address.'),
      reason: z.enum(SUPPRESSION_REASONS).optional(),
      after: text('Id of the last entry of the page before.'),
      limit,
    }),
    run: (own, query) => own(listSuppressionsOperation, { query }),
  }),
  tool({
    name: 'statistics',
    title: 'Show statistics',
    description: 'Messages and the states of their recipients by day (UTC), and the busiest recipient domains.',
    input: z.strictObject({
      since: text('First day, as in 2026-11-01.'),
      until: text('Last day, as in 2026-11-24.'),
    }),
    run: (own, query) => own(getStats, { query }),
  }),
  tool({
    name: 'send_email',
    title: 'Send a message',
    description:
      'Sends a message at once; it cannot be taken back. Ask the user to confirm sender, recipients and text before.',
    input: z.strictObject({
      from: z.string().max(1_000).describe("Sender in a domain of the account, as in 'Ann <ann@example.com>'."),
      to: z.array(z.string().max(1_000)).min(1).max(50).describe('Recipients.'),
      cc: addresses('Recipients of copies.'),
      bcc: addresses('Recipients that the others do not see.'),
      reply_to: text('Address for replies.'),
      subject: z.string().max(1_000),
      text: z.string().max(100_000).optional().describe('Plain text. One of text and html must be given.'),
      html: z.string().max(100_000).optional(),
    }),
    sends: true,
    run: (own, body) => own(sendEmail, { body }),
  }),
]
