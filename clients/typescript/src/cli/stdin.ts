/** Reading from stdin. */
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** Everything on stdin. */
export function readStdin(): Promise<string> {
  return text(process.stdin)
}

/** One line of stdin; on a terminal after a question, without showing what is typed. */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) return (await readStdin()).trim()
  process.stderr.write(question)
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: hidden, terminal: true })
  try {
    return (await lines.question('')).trim()
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** One line, after a question on a terminal. */
export async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question)).trim()
  } finally {
    lines.close()
  }
}
