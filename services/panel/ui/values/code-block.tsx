/** A block of text to read or copy as it is. */
import { Box } from '@mantine/core'
import { CopyButton } from './copy-button.tsx'

/** The block, with its copy button in the corner. */
export function CodeBlock({ text, what }: { text: string; what: string }) {
  return (
    <Box pos="relative">
      <pre className="pw-code">{text}</pre>
      <Box pos="absolute" top={8} right={8}>
        <CopyButton value={text} what={what} />
      </Box>
    </Box>
  )
}
