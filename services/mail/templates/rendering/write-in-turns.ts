/** Reads HTML with a turn for others after each part. */
import type { Tokenizer } from 'parse5'
import { nextTurn } from '../../../platform/concurrency/event-loop-turns.ts'

/** Characters of one turn: some milliseconds. */
const TURN = 32 * 1024

/** Gives a text to the tokenizer; resolves when it has reported all of it. */
export async function writeInTurns(tokenizer: Tokenizer, html: string): Promise<void> {
  for (let at = 0; at < html.length; at += TURN) {
    tokenizer.write(html.slice(at, at + TURN), false)
    await nextTurn()
  }
  tokenizer.write('', true)
}
