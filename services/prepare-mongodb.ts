/**
 * Entry point of the init container of the chart's trial database: writes mongod's key file and waits for its name in
 * DNS.
 */

import { lookup } from 'node:dns/promises'
import { chmod, copyFile, rm } from 'node:fs/promises'
import { waitForOwnName } from './platform/mongod/wait-for-pod-dns.ts'

const { KEYFILE_FROM = '', KEYFILE_TO = '', MONGODB_MEMBER = '', POD_IP = '' } = process.env
if (!KEYFILE_FROM || !KEYFILE_TO || !MONGODB_MEMBER || !POD_IP) {
  process.stderr.write('KEYFILE_FROM, KEYFILE_TO, MONGODB_MEMBER and POD_IP are needed\n')
  process.exit(78)
}
// mongod wants the file to be its own and private; a mounted Secret is neither.
// An earlier attempt may have left one, which is not writable.
await rm(KEYFILE_TO, { force: true })
await copyFile(KEYFILE_FROM, KEYFILE_TO)
await chmod(KEYFILE_TO, 0o400)
const host = MONGODB_MEMBER.replace(/:\d+$/, '')
await waitForOwnName(host, POD_IP, name => lookup(name, { all: true }), 120_000)
