/** Code examples that send a message. */

export interface SnippetValues {
  /** Public URL of the service, without a trailing slash. */
  baseUrl: string
  from: string
  to: string
  /** Value of the token, or a placeholder. */
  token: string
  smtp: { host: string; port: number; username: string; password: string }
}

export const SNIPPETS = ['curl', 'node', 'python', 'smtp'] as const

export type Snippet = (typeof SNIPPETS)[number]

const SUBJECT = 'Hello from Postwright'
const TEXT = 'It works.'

/** Values are quoted for the language of the example. */
export function snippet(kind: Snippet, facts: SnippetValues): string {
  return GENERATORS[kind](facts)
}

const GENERATORS: Record<Snippet, (facts: SnippetValues) => string> = {
  curl: ({ baseUrl, from, to, token }) =>
    [
      `curl ${shell(`${baseUrl}/api/send`)} \\`,
      `  -H ${shell(`Authorization: Bearer ${token}`)} \\`,
      `  -H 'Content-Type: application/json' \\`,
      `  -d ${shell(JSON.stringify({ from, to, subject: SUBJECT, text: TEXT }))}`,
    ].join('\n'),
  node: ({ baseUrl, from, to, token }) =>
    [
      `const response = await fetch(${quote(`${baseUrl}/api/send`)}, {`,
      `  method: 'POST',`,
      `  headers: {`,
      `    authorization: ${quote(`Bearer ${token}`)},`,
      `    'content-type': 'application/json',`,
      `  },`,
      `  body: JSON.stringify({`,
      `    from: ${quote(from)},`,
      `    to: ${quote(to)},`,
      `    subject: ${quote(SUBJECT)},`,
      `    text: ${quote(TEXT)},`,
      `  }),`,
      `})`,
      `console.log(response.status, await response.json())`,
    ].join('\n'),
  python: ({ baseUrl, from, to, token }) =>
    [
      `import json, urllib.request`,
      ``,
      `request = urllib.request.Request(`,
      `    ${quote(`${baseUrl}/api/send`)},`,
      `    data=json.dumps({`,
      `        "from": ${quote(from)},`,
      `        "to": ${quote(to)},`,
      `        "subject": ${quote(SUBJECT)},`,
      `        "text": ${quote(TEXT)},`,
      `    }).encode(),`,
      `    headers={`,
      `        "Authorization": ${quote(`Bearer ${token}`)},`,
      `        "Content-Type": "application/json",`,
      `    },`,
      `)`,
      `print(urllib.request.urlopen(request).read().decode())`,
    ].join('\n'),
  smtp: ({ from, to, smtp }) =>
    [
      `swaks --server ${shell(`${smtp.host}:${smtp.port}`)} --tls \\`,
      `  --auth-user ${shell(smtp.username)} --auth-password ${shell(smtp.password)} \\`,
      `  --from ${shell(from)} --to ${shell(to)} \\`,
      `  --header ${shell(`Subject: ${SUBJECT}`)} --body ${shell(TEXT)}`,
    ].join('\n'),
}

/** Quotes for a POSIX shell: in single quotes, each quote inside as `'\''`. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** JSON strings are valid literals in JavaScript and Python. */
function quote(text: string): string {
  return JSON.stringify(text)
}
