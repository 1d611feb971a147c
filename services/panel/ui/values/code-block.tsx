import { Box } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** Preformatted text with a copy button. */
export function CodeBlock({ text, what }: { text: string; what: string }) {
  return (
    <Box pos="relative">
      <pre className="pw-code pw-code-copied">{text}</pre>
      <Box pos="absolute" top={8} right={8}>
        <CopyButton value={text} what={what} />
      </Box>
    </Box>
  )
}
