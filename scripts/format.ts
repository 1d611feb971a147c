/** `npm run format [-- PATHS]`: formats, sorts imports and applies safe fixes; exits with 1 while errors remain. */
import { spawnSync } from 'node:child_process'

const paths = process.argv.slice(2)
const { status } = spawnSync(
  process.execPath,
  ['node_modules/@biomejs/biome/bin/biome', 'check', '--write', ...(paths.length > 0 ? paths : ['.'])],
  { stdio: 'inherit' },
)
process.exit(status ?? 1)
