/** Puts the snippets of the panel into documents, between `<!-- snippet NAME -->` and `<!-- end of snippet -->`. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EXAMPLE_VALUES, renderSnippet } from '../services/panel/start/render-snippet.ts'

const ROOT = join(import.meta.dirname, '..')
/** Folder of the snippets. */
export const SNIPPETS = join(ROOT, 'services/panel/start/snippets')

const BLOCK = /^( *)<!-- snippet (\S+) -->\n[\s\S]*?^ *<!-- end of snippet -->$/gm

/** How a fenced block names the language where it is not the end of the file's name. */
const FENCES: Record<string, string> = {
  mjs: 'js',
  cs: 'csharp',
  yml: 'yaml',
  env: 'ini',
  cf: 'ini',
  conf: 'ini',
}

/** Documents below `docs/` that have a snippet; paths from the root. */
export function documentsWithSnippets(): string[] {
  return readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`)
    .filter(path => readFileSync(join(ROOT, path), 'utf8').includes('<!-- snippet '))
    .toSorted()
}

/** The document with its snippets as they are now. Throws for a snippet that does not exist. */
export function withSnippets(path: string): string {
  return embedSnippets(readFileSync(join(ROOT, path), 'utf8'), name => readFileSync(join(SNIPPETS, name), 'utf8'))
}

/** Replaces the blocks of a text; `read` gives the text of a snippet. */
export function embedSnippets(text: string, read: (name: string) => string): string {
  return text.replaceAll(BLOCK, (_, indent: string, name: string) => {
    const end = name.slice(name.lastIndexOf('.') + 1)
    const code = renderSnippet(name, read(name), EXAMPLE_VALUES).trimEnd()
    const lines = [`<!-- snippet ${name} -->`, `\`\`\`${FENCES[end] ?? end}`, code, '```', '<!-- end of snippet -->']
    return lines
      .join('\n')
      .split('\n')
      .map(line => (line === '' ? '' : indent + line))
      .join('\n')
  })
}
