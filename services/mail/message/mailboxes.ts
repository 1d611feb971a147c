/** The authors of a message: the mailboxes of a From field, by the strict grammar of RFC 5322 3.4. */
import { normaliseEmail } from './address.ts'

/** Tokens of a mailbox list: quoted string, run of atom characters and dots, or one special character. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s"(),:;<>@[\]\\]+|[^\s]/gu
const SPECIAL = /^["(),:;<>@[\]\\]$/
/** What comments are found among: a quoted pair, a quoted string, plain text, or a delimiter. */
const PIECE = /\\.|"(?:[^"\\]|\\.)*"|[^\\"()]+|[\\"()]/gsu
/** RFC 2047 5 forbids encoded words in an address; some readers decode and show them nevertheless. */
const ENCODED_WORD = /=\?.*\?=/
/** A quoted local part that could be taken for an address, a list or a comment, as in `"boss@evil.example"@example.org`. */
const MISLEADING = /^".*[@,:;()[\]\\].*"$/s
/** Letters of a domain that look the same to every reader: compatibility forms and invisible characters are out. */
const DOMAIN_LETTERS = /^[\p{L}\p{M}\p{N}.-]+$/u

/**
 * Most mailboxes of a From field. Each costs a look-up of its domain before the message is accepted, and messages of
 * people have one or two.
 */
export const MAX_FROM_MAILBOXES = 10

/**
 * The addresses of an unfolded From value, domains as lower-case A-labels; undefined when it is not a list of
 * mailboxes, `too_many` when it has more than {@link MAX_FROM_MAILBOXES} (no address is parsed in that case). Groups,
 * routes, encoded words, address literals and quoted local parts with delimiters in them are refused, so that no other
 * reader finds another author in the same text.
 */
export function readMailboxes(value: string): string[] | 'too_many' | undefined {
  const text = withoutComments(value)
  if (text === undefined) return undefined
  const lists: string[][] = [[]]
  for (const [token] of text.matchAll(TOKEN)) {
    // An unterminated quote: searching its end after each further quote would take minutes.
    if (token === '"') return undefined
    if (token === ',' && lists.length === MAX_FROM_MAILBOXES) return 'too_many'
    if (token === ',') lists.push([])
    else lists.at(-1)?.push(token)
  }
  const found: string[] = []
  for (const tokens of lists) {
    const email = readMailbox(tokens)
    if (email === undefined) return undefined
    found.push(email)
  }
  return found
}

/** Comments (RFC 5322 3.2.2) nest and may occur between any two tokens; each becomes a space. */
function withoutComments(value: string): string | undefined {
  let depth = 0
  let text = ''
  for (const [piece] of value.matchAll(PIECE)) {
    if (piece === '(') depth++
    else if (piece === ')') depth--
    else if (depth === 0) text += piece
    if (depth < 0) return undefined
    if (piece === ')') text += ' '
  }
  return depth === 0 ? text : undefined
}

function readMailbox(tokens: readonly string[]): string | undefined {
  const open = tokens.indexOf('<')
  if (open < 0) return readAddrSpec(tokens)
  if (tokens.at(-1) !== '>' || tokens.slice(0, open).some(token => SPECIAL.test(token))) return undefined
  return readAddrSpec(tokens.slice(open + 1, -1))
}

function readAddrSpec(tokens: readonly string[]): string | undefined {
  const [local, at, domain, ...rest] = tokens
  if (local === undefined || at !== '@' || domain === undefined || rest.length > 0) return undefined
  if (ENCODED_WORD.test(local) || MISLEADING.test(local)) return undefined
  const plain = /^[ -~]*$/.test(domain)
  if (!plain && (!DOMAIN_LETTERS.test(domain) || domain.normalize('NFKC') !== domain)) return undefined
  return normaliseEmail(`${local}@${domain}`)
}
