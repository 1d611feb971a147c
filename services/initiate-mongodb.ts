/** Main of the side container of the chart's trial database: initiates the set, then waits to be ended. */
import { initiateTrialMongod } from './platform/mongod/initiate-replica-set.ts'

const { MONGODB_MEMBER = '', MONGODB_PASSWORD = '' } = process.env
if (!MONGODB_MEMBER || !MONGODB_PASSWORD) {
  process.stderr.write('MONGODB_MEMBER and MONGODB_PASSWORD are needed\n')
  process.exit(78)
}
await initiateTrialMongod(27_017, MONGODB_MEMBER, MONGODB_PASSWORD, 300_000)
process.stdout.write(`replica set initiated as ${MONGODB_MEMBER}\n`)
// The pod's containers live together; this one has nothing left to do but must not be restarted.
const idle = setInterval(() => undefined, 2 ** 30)
process.once('SIGTERM', () => clearInterval(idle))
